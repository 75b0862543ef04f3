package intake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/deploy/standalone/intake"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/transfer"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// server is a Temporal server with an agent.
type server struct {
	started map[string]service.StartInput
	exists  map[string]bool
	closed  []contract.CloseSignal
	deleted string
}

func (s *server) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	id := in.Conversation.ID
	_, there := s.started[id]
	if !there {
		s.started[id] = in
	}
	return service.StartResult{Existed: there}, nil
}

func (s *server) Signal(_ context.Context, _, _ string, payload any) error {
	s.closed = append(s.closed, payload.(contract.CloseSignal))
	return nil
}

func (s *server) Exists(_ context.Context, id string) (bool, error) {
	conversation, _ := contract.ConversationIDOf(id)
	_, there := s.started[conversation]
	return there || s.exists[id], nil
}

func (s *server) Tombstone(_ context.Context, id string) (*deletion.Tombstone, error) {
	if id == s.deleted {
		return &deletion.Tombstone{ConversationID: id}, nil
	}
	return nil, nil
}

type world struct {
	*intake.Importer
	*server
	t     *testing.T
	blobs *blobstore.Store
}

func newWorld(t *testing.T) world {
	t.Helper()
	blobs, err := blobstore.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s := &server{started: map[string]service.StartInput{}, exists: map[string]bool{}}
	return world{t: t, blobs: blobs, server: s, Importer: &intake.Importer{
		Agent: contract.Agent{Name: "helper", Peers: []contract.Peer{{Name: "agent-b"}, {Name: "agent-c"}}},
		Tools: contract.Catalogue{Tools: []contract.Tool{{Name: "resources_add", Server: "resources"}, {Name: "resources_list", Server: "resources"}}},
		Start: s, Find: s, Graves: s, Store: blobs, Now: func() time.Time { return time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC) },
	}}
}

func former(name string) string { return filepath.Join("testdata", "former", name+".json") }

// changed returns a copy of a file with texts replaced.
func changed(t *testing.T, name string, oldnew ...string) string {
	t.Helper()
	data, err := os.ReadFile(former(name))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(oldnew...).Replace(string(data))
	if text == string(data) {
		t.Fatalf("%s has none of %q", name, oldnew)
	}
	return written(t, text)
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conversation_x.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// imported imports a file and returns the carried state, the calls that wait and the messages.
func (w world) imported(path string) (*contract.Carried, transfer.Reply, []contract.Message) {
	w.t.Helper()
	out := w.Import(w.t.Context(), path)
	if out.State != intake.Imported {
		w.t.Fatalf("%+v", out)
	}
	c := w.started[out.ID].Conversation.Carried
	messages, err := transcript.Load(w.t.Context(), w.blobs, c.Transcript)
	if err != nil {
		w.t.Fatal(err)
	}
	var reply transfer.Reply
	raw, err := transcript.ReadJSON(w.t.Context(), w.blobs, c.Transferred)
	if err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, &reply)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return c, reply, messages
}

func lines(messages []contract.Message) (out []string) {
	for _, m := range messages {
		text := m.Content.Inline
		if m.Notice {
			text = "notice"
		}
		if c := m.ToolCall; c != nil {
			text = c.Name + " " + string(c.Arguments.Raw) + c.Result.Inline
		}
		text, _, _ = strings.Cut(text, "\n")
		out = append(out, string(m.Role)+": "+text)
	}
	return out
}

const waitingApproval = "00000001-aaaa-4aaa-8aaa-000000000002"

func TestAFormerConversationWaitsWithItsCall(t *testing.T) {
	w := newWorld(t)
	c, reply, messages := w.imported(former("waiting"))
	want := []string{
		"system: You manage a list of resources.", "user: add a resource named server-1 with value 100",
		`assistant: resources_add {"name":"server-1","value":"100"}`, "assistant: notice", "user: notice", "tool: resources_add {", "assistant: Added server-1 with the value 100.",
		"user: and server-2 with value 200", `assistant: resources_list {"pattern":"server"}`, "tool: resources_list {",
	}
	if diff := cmp.Diff(want, lines(messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(reply.Calls) != 1 || reply.Calls[0].Name != "resources_add" || reply.Calls[0].Approval != waitingApproval || !strings.Contains(string(reply.Calls[0].Arguments), "server-2") {
		t.Errorf("%+v", reply)
	}
	if c.Turn != 1 || len(c.Queue) != 1 || c.Queue[0].Text.Inline != "and server-2 with value 200" || c.Queue[0].RequestID != c.Requests[0].ID || c.Seq < len(messages) {
		t.Errorf("%+v", c)
	}
	if m := messages[9]; m.ResultOf != messages[8].ID || m.Reply != messages[8].Reply {
		t.Errorf("the result belongs to no call: %+v", m)
	}
	if a := messages[4].Approval; a == nil || a.Decision != contract.Approved || a.Identity.Channel != "import" || a.Identity.Authenticated() {
		t.Errorf("the decision is recorded as %+v", a)
	}
	if i := messages[1].Identity; i == nil || i.Channel != "import" || i.Authenticated() {
		t.Errorf("the author is %+v", i)
	}
	if got := messages[1].CreatedAt.Format(time.RFC3339Nano); got != "2026-02-22T09:01:21.12345681Z" || messages[1].ID != "00000001-0000-4000-8000-000000000003" {
		t.Errorf("%s at %s", messages[1].ID, got)
	}
	if in := w.started["00000001-0000-4000-8000-000000000001"]; in.Conversation.SessionID != "1f2e3d4c" || in.Title != "add a resource named server-1 with value 100" {
		t.Errorf("%+v", in)
	}
}

func TestWhatWaitsForAnotherAgent(t *testing.T) {
	w := newWorld(t)
	_, reply, _ := w.imported(former("proxy"))
	if c := reply.Calls[0]; c.Task != "00000009-0000-4000-8000-000000000001" || c.Name != "a2a_agent-b" {
		t.Errorf("%+v", c)
	}
	_, reply, _ = w.imported(former("delegation"))
	if c := reply.Calls[0]; c.Task != "" || string(c.Arguments) != `{"message":"clean the workspace"}` {
		t.Errorf("%+v", c)
	}
}

func TestConversationsThatWaitForNothing(t *testing.T) {
	w := newWorld(t)
	c, reply, messages := w.imported(former("rejected"))
	if len(reply.Calls) != 0 || len(c.Queue) != 0 || c.Last.Outcome != contract.OutcomeRejected || c.Turn != 1 || !c.ExportOwing {
		t.Errorf("%+v", c)
	}
	if len(messages) != 6 {
		t.Errorf("a rejected call has no result, and its turn has ended: %q", lines(messages))
	}
	if !messages[3].Notice || messages[3].ApprovalID != "00000002-aaaa-4aaa-8aaa-000000000001" || messages[4].Approval.Decision != contract.Rejected {
		t.Errorf("%+v", messages[3:5])
	}
	if c, _, _ := w.imported(former("empty")); c.Turn != 0 || c.Last != nil {
		t.Errorf("%+v", c)
	}
	if c, _, _ := w.imported(former("failed")); c.Turn != 2 || c.Last.Response.Inline != "The list cannot be read now." {
		t.Errorf("%+v", c)
	}
}

func TestARepeatedImportJoins(t *testing.T) {
	w := newWorld(t)
	w.imported(former("waiting"))
	again := intake.Importer{Agent: w.Agent, Tools: w.Tools, Start: w.server, Find: w.server, Graves: w.server, Store: w.blobs, Now: time.Now}
	if out := again.Import(t.Context(), former("waiting")); out.State != intake.There || out.ID != "00000001-0000-4000-8000-000000000001" {
		t.Errorf("%+v", out)
	}
	if out := w.Import(t.Context(), former("waiting")); out.State != intake.Refused || !strings.Contains(out.Problem, "same conversation as in") {
		t.Errorf("%+v", out)
	}
}

func TestACompletedConversationIsClosedUnlessItHasChanged(t *testing.T) {
	w := newWorld(t)
	w.imported(changed(t, "failed", `"active"`, `"completed"`))
	if len(w.closed) != 1 || w.closed[0].UnchangedSince.IsZero() || w.closed[0].RequestID == "" {
		t.Errorf("%+v", w.closed)
	}
}

func TestADryRunStartsNothing(t *testing.T) {
	w := newWorld(t)
	w.DryRun = true
	out := w.Import(t.Context(), former("waiting"))
	if out.State != intake.Imported || len(w.started) != 0 || len(out.Waits) != 1 || out.Waits[0].Approval != waitingApproval {
		t.Errorf("%+v", out)
	}
}

// What a file says that is not so is refused with the place, and nothing is started.
func TestFilesThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		path  func(*testing.T) string
		place string
		part  string
	}{
		"no JSON":       {func(t *testing.T) string { return written(t, "{\n  \"id\": x}") }, "line 2, column", "not JSON"},
		"cut off":       {func(t *testing.T) string { return written(t, `{"id": "a", "messages": [`) }, "line 1, column", "cut off"},
		"empty":         {func(t *testing.T) string { return written(t, " \n") }, "", "empty"},
		"two":           {func(t *testing.T) string { return written(t, `{"status":"active","id":"a"} {}`) }, "line 1", "follows"},
		"another shape": {func(t *testing.T) string { return written(t, `{"conversations": []}`) }, "conversations", "no such key"},
		"a wrong type": {func(t *testing.T) string {
			return changed(t, "waiting", `"content": "You manage a list of resources."`, `"content": 7`)
		}, "messages.content", "number"},
		"no time":        {func(t *testing.T) string { return changed(t, "empty", "2026-02-22T10:06:07", "yesterday") }, "", "no time"},
		"no status":      {func(t *testing.T) string { return changed(t, "waiting", "waiting_approval", "done") }, "status", "done"},
		"no approval":    {func(t *testing.T) string { return changed(t, "rejected", `"active"`, `"waiting_approval"`) }, "pending_approval", "missing"},
		"no role":        {func(t *testing.T) string { return changed(t, "rejected", `"role": "user"`, `"role": "root"`) }, "messages[1].role", "root"},
		"a tool":         {func(t *testing.T) string { return changed(t, "waiting", "resources_add", "resources_burn") }, "pending_approval.tool_name", "no tool resources_burn"},
		"an agent":       {func(t *testing.T) string { return changed(t, "proxy", "agent-b", "agent-x") }, "pending_approval.tool_name", "other agent of a2a_agent-x"},
		"inside a tree":  {func(t *testing.T) string { return former("pipeline") }, "pending_approval", "inside a tree"},
		"an incomplete":  {func(t *testing.T) string { return changed(t, "empty", `"status"`, `"messages_before": 3, "status"`) }, "messages_before", "missing"},
		"no such file":   {func(*testing.T) string { return "testdata/none.json" }, "", "no such file"},
		"other argument": {otherArguments, "pending_approval.tool_args", "not those of the call"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			out := w.Import(t.Context(), tt.path(t))
			if out.State == intake.Imported || !strings.HasPrefix(out.Place, tt.place) || !strings.Contains(out.Problem, tt.part) || out.Advice == "" || len(w.started) > 0 {
				t.Errorf("%+v", out)
			}
		})
	}
}

// otherArguments is a file whose approval is for something else than its call.
func otherArguments(t *testing.T) string {
	data, err := os.ReadFile(former("waiting"))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), `"pending_approval"`)
	return written(t, string(data[:at])+strings.Replace(string(data[at:]), `"value": "200"`, `"value": "201"`, 1))
}

func TestAnIDOfAnotherApprovalOrOfADeletedConversationIsRefused(t *testing.T) {
	w := newWorld(t)
	w.exists["approval-"+waitingApproval] = true
	if out := w.Import(t.Context(), former("waiting")); out.State != intake.Refused || out.Place != "pending_approval.uuid" {
		t.Errorf("%+v", out)
	}
	w.deleted = "00000002-0000-4000-8000-000000000001"
	if out := w.Import(t.Context(), former("rejected")); out.State != intake.Refused || !strings.Contains(out.Problem, "deleted") {
		t.Errorf("%+v", out)
	}
}

func TestAnApprovalThatCannotWaitIsLeftBehind(t *testing.T) {
	w := newWorld(t)
	w.DropApprovals = true
	c, reply, messages := w.imported(former("pipeline"))
	last := messages[len(messages)-1]
	if len(reply.Calls) != 0 || len(c.Queue) != 0 || !last.Notice || !strings.Contains(last.Content.Inline, "The call has not run here") {
		t.Errorf("%+v, %+v", c, last)
	}
	if _, reply, _ := w.imported(former("waiting")); len(reply.Calls) != 1 {
		t.Error("one that can wait was left behind, too")
	}
}

func TestATreeTakesOverNoApproval(t *testing.T) {
	w := newWorld(t)
	w.Agent.Tree = &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{{Name: "a", Type: contract.NodeLLM}}}
	if out := w.Import(t.Context(), former("waiting")); out.State != intake.Refused || !strings.Contains(out.Problem, "tree of nodes") {
		t.Errorf("%+v", out)
	}
}

// own is a conversation that an agent has exported: two calls of a reply wait, of which the first
// is approved.
func own() document.Conversation {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	alice := contract.Identity{Subject: "alice", Issuer: "https://login.example.com", Scopes: []string{contract.ScopeOperate}}
	id := "00000008-0000-4000-8000-000000000001"
	message := func(n int, role contract.Role, text string) document.Message {
		return document.Message{ID: contract.MessageID(id, n), Role: role, Content: text, CreatedAt: at}
	}
	call := func(n int, name string) document.Message {
		m := message(n, contract.RoleAssistant, "")
		m.ToolCall = &document.ToolCall{ID: fmt.Sprint("call-", n), Name: "resources_add", Arguments: json.RawMessage(`{"name":"` + name + `"}`)}
		return m
	}
	asked, said, decided := message(1, contract.RoleUser, "add a and b"), message(3, contract.RoleAssistant, "I will."), message(7, contract.RoleUser, "[APPROVAL]: Approved")
	asked.Identity, said.DraftID = &alice, "draft"
	decided.Approval = &contract.ApprovalResult{UUID: "u1", Decision: contract.Approved, Identity: alice, Credential: "sealed"}
	request := "This action requires approval:\n\nx\n\nPlease approve or reject using the approval UUID: 00000008-aaaa-4aaa-8aaa-00000000000"
	p := contract.PendingApproval{UUID: "00000008-aaaa-4aaa-8aaa-000000000002", ToolName: "resources_add", Reason: contract.ReasonDestructive, Call: contract.MessageID(id, 5),
		ToolArgs: contract.JSON{Raw: json.RawMessage(`{"name":"b"}`)}, CreatedAt: at}
	return document.Conversation{
		ID: id, Status: contract.StatusWaitingApproval, Agent: "helper", Version: 7, CreatedAt: at, UpdatedAt: at, Title: "Letters", Owner: alice,
		Usage: document.Usage{InputTokens: -5, Cost: "0.25"},
		Messages: []document.Message{
			asked, said, call(4, "a"), call(5, "b"), message(6, contract.RoleAssistant, request+"1"), decided, message(8, contract.RoleAssistant, request+"2"),
		},
		PendingApproval: &p, PendingApprovals: []contract.PendingApproval{p},
	}
}

func exported(t *testing.T, d document.Conversation) string {
	t.Helper()
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return written(t, string(data))
}

func TestAnExportedConversationWaitsWithTheWholeReply(t *testing.T) {
	w := newWorld(t)
	c, reply, messages := w.imported(exported(t, own()))
	if reply.Text != "I will." || len(reply.Calls) != 2 || reply.Calls[0].Approval == "" || reply.Calls[1].Approval != "" {
		t.Errorf("%+v", reply)
	}
	if diff := cmp.Diff([]string{"user: add a and b", "assistant: notice", "user: notice"}, lines(messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if c.Seq != 7 || c.Version != 7 || c.Title.Text != "Letters" || c.Usage != (contract.Usage{Cost: 250_000_000}) {
		t.Errorf("%+v", c)
	}
	author := messages[0].Identity
	if author.Issuer != "import" || author.Subject != "https://login.example.com alice" || len(author.Scopes) > 0 {
		t.Errorf("the author is %+v", author)
	}
	if d := messages[2].Approval; d.Credential != "" || d.Identity.Issuer != "import" {
		t.Errorf("the decision is %+v", d)
	}
	if in := w.started[own().ID]; in.Conversation.Owner.Authenticated() || in.Title != "Letters" {
		t.Errorf("the file names its owner: %+v", in)
	}
}

// What may have run does not run again.
func TestExportedCallsThatMayHaveRunAreRefused(t *testing.T) {
	for _, reason := range []contract.Reason{contract.ReasonUnknownOutcome, contract.ReasonQuestion, contract.ReasonClientTool, contract.ReasonLimit} {
		d := own()
		d.PendingApprovals[0].Reason = reason
		if out := newWorld(t).Import(t.Context(), exported(t, d)); out.State != intake.Refused || !strings.Contains(out.Advice, "--drop-approvals") {
			t.Errorf("%s: %+v", reason, out)
		}
	}
	d := own()
	d.Status, d.PendingApproval, d.PendingApprovals = contract.StatusActive, nil, nil
	out := newWorld(t).Import(t.Context(), exported(t, d))
	if out.State != intake.Imported || !strings.Contains(fmt.Sprint(out.Notes), "2 calls may have run") {
		t.Errorf("%+v", out)
	}
}

func TestArgumentsAreNeverAnAddress(t *testing.T) {
	d := own()
	address := `{"sha256":"` + strings.Repeat("a", 64) + `","size":3}`
	d.Messages = d.Messages[:1]
	d.PendingApprovals[0].ToolArgs, d.PendingApprovals[0].Call = contract.JSON{}, ""
	d.PendingApproval = nil
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	_, reply, _ := w.imported(written(t, strings.ReplaceAll(string(data), `"tool_args":null`, `"tool_args":`+address)))
	if string(reply.Calls[0].Arguments) != address {
		t.Errorf("%s", reply.Calls[0].Arguments)
	}
}

// at is a message of the conversation that own returns.
func at(n int, role contract.Role, text string) document.Message {
	return document.Message{ID: contract.MessageID(own().ID, n), Role: role, Content: text, CreatedAt: own().CreatedAt}
}

// answered is a conversation with one turn that has ended.
func answered() document.Conversation {
	d := own()
	d.Status, d.PendingApproval, d.PendingApprovals = contract.StatusActive, nil, nil
	d.Messages = []document.Message{at(1, contract.RoleUser, "hello"), at(2, contract.RoleAssistant, "Good morning.")}
	return d
}

// Messages that the former system had accepted are in no file: they are not lost silently.
func TestQueuedMessagesAreRefusedOrLeftBehindWithANotice(t *testing.T) {
	d := own()
	d.Queued = 2
	w := newWorld(t)
	if out := w.Import(t.Context(), exported(t, d)); out.State != intake.Refused || out.Place != "queued" || !strings.Contains(out.Advice, "--drop-queued") {
		t.Errorf("%+v", out)
	}
	w = newWorld(t)
	w.DropQueued = true
	out := w.Import(t.Context(), exported(t, d))
	if out.State != intake.Imported || !strings.Contains(fmt.Sprint(out.Notes), "2 queued messages are left behind") {
		t.Fatalf("%+v", out)
	}
	d.ID = "00000008-0000-4000-8000-000000000002"
	d.PendingApprovals[0].UUID, d.PendingApproval = "00000008-aaaa-4aaa-8aaa-000000000003", nil
	_, reply, messages := w.imported(exported(t, d))
	if last := messages[len(messages)-1]; len(reply.Calls) != 2 || !last.Notice || !strings.Contains(last.Content.Inline, "2 messages") {
		t.Errorf("%+v %+v", reply, last)
	}
}

// A message without an answer does not get that of the turn before.
func TestATurnThatWasNotFinishedHasNoAnswer(t *testing.T) {
	unanswered := answered()
	unanswered.Messages = append(unanswered.Messages, at(3, contract.RoleUser, "and now?"))
	calls := answered()
	calls.Messages = append(calls.Messages, at(3, contract.RoleAssistant, "I will look."))
	calls.Running = true
	for name, d := range map[string]document.Conversation{"a message": unanswered, "a turn that works": calls} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c, _, messages := w.imported(exported(t, d))
			last := messages[len(messages)-1]
			if !last.Notice || !strings.Contains(last.Content.Inline, "in the middle of a turn") {
				t.Errorf("the end is %+v", last)
			}
			if c.Last.Outcome != contract.OutcomeCancelled || c.Last.Response.Inline != last.Content.Inline || c.Last.EndedAt.IsZero() {
				t.Errorf("%+v", c.Last)
			}
		})
	}
	if c, _, messages := newWorld(t).imported(exported(t, answered())); len(messages) != 2 || c.Last.Response.Inline != "Good morning." || c.Last.Outcome != contract.OutcomeDone {
		t.Errorf("%+v", c.Last)
	}
}

// delegating is a reply with two delegations of which one is known to have been sent.
func delegating(reason contract.Reason, task string) document.Conversation {
	d := own()
	d.Messages = []document.Message{at(1, contract.RoleUser, "ask both"), at(2, contract.RoleAssistant, ""), at(3, contract.RoleAssistant, "")}
	for i, name := range []string{"a2a_agent-b", "a2a_agent-c"} {
		d.Messages[1+i].ToolCall = &document.ToolCall{ID: name, Name: name, Arguments: json.RawMessage(`{"message":"go"}`)}
	}
	d.PendingApprovals[0].Reason, d.PendingApprovals[0].RemoteTaskID = reason, task
	d.PendingApprovals[0].ToolName, d.PendingApprovals[0].Call, d.PendingApprovals[0].ToolArgs = "a2a_agent-b", d.Messages[1].ID, contract.JSON{Raw: json.RawMessage(`{"message":"go"}`)}
	d.PendingApproval = nil
	return d
}

func TestADelegationThatMayHaveBeenSentIsNotSentAgain(t *testing.T) {
	for reason, task := range map[contract.Reason]string{contract.ReasonRemote: "t-1", "": "t-1", contract.ReasonNotReached: "", contract.ReasonPaused: ""} {
		out := newWorld(t).Import(t.Context(), exported(t, delegating(reason, task)))
		if out.State != intake.Refused || out.Place != "messages[2].tool_call" || !strings.Contains(out.Problem, "a2a_agent-c") || !strings.Contains(out.Problem, "may have been sent") {
			t.Errorf("%q: %+v", reason, out)
		}
	}
	_, reply, _ := newWorld(t).imported(exported(t, delegating(contract.ReasonDestructive, "")))
	if len(reply.Calls) != 2 {
		t.Errorf("nothing of a reply runs before its first decision: %+v", reply)
	}
	w := newWorld(t)
	w.DropApprovals = true
	if _, reply, messages := w.imported(exported(t, delegating(contract.ReasonRemote, "t-1"))); len(reply.Calls) != 0 || !strings.Contains(messages[len(messages)-1].Content.Inline, "may have been sent") {
		t.Errorf("%+v %+v", reply, messages)
	}
}

func TestTwoApprovalsHaveTwoUUIDs(t *testing.T) {
	d := own()
	second := d.PendingApprovals[0]
	second.UUID, second.Call, second.ToolArgs = strings.ToUpper(second.UUID), contract.MessageID(d.ID, 4), contract.JSON{Raw: json.RawMessage(`{"name":"a"}`)}
	d.PendingApprovals = append(d.PendingApprovals, second)
	if out := newWorld(t).Import(t.Context(), exported(t, d)); out.State != intake.Refused || out.Place != "pending_approvals[1].uuid" {
		t.Errorf("%+v", out)
	}
	for _, dry := range []bool{true, false} {
		w := newWorld(t)
		w.DryRun = dry
		first := exported(t, own())
		if out := w.Import(t.Context(), first); out.State != intake.Imported {
			t.Fatalf("%+v", out)
		}
		other := own()
		other.ID = "00000008-0000-4000-8000-000000000002"
		out := w.Import(t.Context(), exported(t, other))
		if out.State != intake.Refused || out.Place != "pending_approval.uuid" || !strings.Contains(out.Problem, first) {
			t.Errorf("dry %t: %+v", dry, out)
		}
	}
}

// More calls than one reply may have would be refused when the turn begins.
func TestMoreCallsThanAReplyMayHaveAreRefused(t *testing.T) {
	d := own()
	for n := range contract.MaxCalls {
		m := at(10+n, contract.RoleAssistant, "")
		m.ToolCall = &document.ToolCall{ID: fmt.Sprint(n), Name: "resources_list", Arguments: json.RawMessage(`{}`)}
		d.Messages = append(d.Messages, m)
	}
	out := newWorld(t).Import(t.Context(), exported(t, d))
	if out.State != intake.Refused || !strings.Contains(out.Problem, "the limit is 128") || !strings.Contains(out.Advice, "--drop-approvals") {
		t.Errorf("%+v", out)
	}
}

func TestALongConversationIsInTheStore(t *testing.T) {
	d := own()
	d.Status, d.PendingApproval, d.PendingApprovals = contract.StatusActive, nil, nil
	d.Messages = nil
	for n := range 2000 {
		d.Messages = append(d.Messages, document.Message{ID: contract.MessageID(d.ID, n+1), Role: contract.RoleUser, Content: strings.Repeat("x", 3000+n), CreatedAt: d.CreatedAt})
	}
	c, _, messages := newWorld(t).imported(exported(t, d))
	size, err := json.Marshal(c)
	if err != nil || len(size) > 8<<10 || len(messages) != 2001 || len(c.Transcript.Tail) != 1 || c.Turn != 2000 {
		t.Errorf("%d bytes, %d messages, %v", len(size), len(messages), err)
	}
}

func TestExpandFindsConversationsInFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := intake.Expand([]string{dir}); err == nil {
		t.Error("an empty folder is no error")
	}
	for _, name := range []string{"conversation_1.json", "other.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := intake.Expand([]string{dir, "x.json"})
	if diff := cmp.Diff([]string{filepath.Join(dir, "conversation_1.json"), "x.json"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/former/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := newWorld(t)
		if out := w.Import(t.Context(), written(t, text)); out.State == intake.Failed {
			t.Errorf("%+v", out)
		}
	})
}
