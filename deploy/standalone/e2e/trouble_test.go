package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/workflows/contract"
)

func TestBadInputIsAClearErrorAndChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	id := api.ask("hello").Conversation.ID
	closed := api.ask("bye").Conversation.ID
	api.want(200, "POST", "/conversations/"+closed+"/close", "")
	const unknown = "00000000-0000-4000-8000-000000000000"
	big := messageJSON(strings.Repeat("x", 2<<20))
	cases := []struct {
		name, method, path, content string
		status                      int
		says                        string
	}{
		{"malformed JSON starts nothing", "POST", "/conversations", `{"message":`, 400, "invalid request body"},
		{"a wrong type starts nothing", "POST", "/conversations", `{"message":5}`, 400, "invalid request body"},
		{"a body of 2 MiB", "POST", "/conversations", big, 413, ""},
		{"malformed message", "POST", "/conversations/" + id + "/messages", `nope`, 400, "invalid request body"},
		{"empty message", "POST", "/conversations/" + id + "/messages", `{"message":""}`, 400, "message is required"},
		{"no body", "POST", "/conversations/" + id + "/messages", ``, 400, "message is required"},
		{"message of 2 MiB", "POST", "/conversations/" + id + "/messages", big, 413, ""},
		{"unknown conversation", "GET", "/conversations/" + unknown, ``, 404, "conversation not found: " + unknown},
		{"message to an unknown conversation", "POST", "/conversations/" + unknown + "/messages", messageJSON("x"), 404, "conversation not found"},
		{"id with dots and slashes", "GET", "/conversations/..%2F..%2Fetc%2Fpasswd", ``, 404, ""},
		{"id with a null byte", "GET", "/conversations/abc%00def", ``, 404, ""},
		{"message to a completed conversation", "POST", "/conversations/" + closed + "/messages", messageJSON("x"), 409, ""},
		{"cancel of a completed conversation", "POST", "/conversations/" + closed + "/cancel", ``, 409, ""},
		{"unknown approval", "POST", "/approvals/" + unknown, `{"approved":true}`, 404, "no conversation found with approval UUID"},
		{"malformed decision", "POST", "/approvals/" + unknown, `{`, 400, "invalid request body"},
		{"unknown route", "GET", "/nope", ``, 404, ""},
		{"wrong verb", "DELETE", "/conversations", ``, 405, ""},
		{"bad limit", "GET", "/conversations?limit=-1", ``, 400, ""},
		{"bad cursor", "GET", "/conversations?cursor=%21", ``, 400, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := api.do(c.method, c.path, c.content)
			if r.Status != c.status || !strings.Contains(r.Body.Error, c.says) || r.Body.Error == "" {
				t.Errorf("status %d, want %d: %.300s", r.Status, c.status, r.Raw)
			}
		})
	}
	if got := api.conversation(id); got.Version != 1 || len(got.Messages) != 3 {
		t.Errorf("the conversation changed: %+v", got)
	}
	eventually(t, "no other conversation was started", func() bool {
		return api.want(200, "GET", "/conversations", "").Summary.Total == 2
	})
}

func TestAnUnclearAnswerLeavesTheApprovalPending(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	operator := h.dial()
	asked := api.ask(`call note_add {"name":"x"}`)
	uuid, id := asked.Result.Approval.UUID, asked.Conversation.ID
	for _, content := range []string{`{}`, ``, `{"answer":"maybe"}`, `{"approved":null}`, `[]`, `{"answer":"what does it do?"}`} {
		if r := api.do("POST", "/approvals/"+uuid, content); r.Status != http.StatusBadRequest || !strings.Contains(r.Body.Error, "approve") {
			t.Errorf("%s: status %d: %s", content, r.Status, r.Raw)
		}
	}
	refused := api.do("POST", "/conversations/"+id+"/messages", messageJSON("hello?"))
	if refused.Status != http.StatusConflict || !refused.Body.Result.WaitingApproval || refused.Body.Conversation.ID != id {
		t.Errorf("a message while it waits: status %d: %s", refused.Status, refused.Raw)
	}
	workflow := contract.ApprovalWorkflowID(uuid)
	for _, typed := range []any{map[string]any{}, "perhaps", 7, nil, map[string]any{"answer": "maybe"}} {
		if err := operator.SignalWorkflow(context.Background(), workflow, "", "decide", typed); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the approval says that it did not understand", func() bool {
		v, err := operator.QueryWorkflow(context.Background(), workflow, "", "approval")
		if err != nil {
			t.Fatal(err)
		}
		var view contract.ApprovalView
		if err := v.Get(&view); err != nil {
			t.Fatal(err)
		}
		return view.Result == nil && view.Problem != ""
	})
	if err := operator.SignalWorkflow(context.Background(), workflow, "", "decide", "Yes "); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a typed yes decides", func() bool {
		m := api.conversation(id).Messages
		return m[len(m)-1].Content == "The tool said: added x"
	})
	late := api.do("POST", "/approvals/"+uuid, `{"approved":false}`)
	if late.Status != http.StatusConflict || late.Body.Decision.Decision != "approved" || late.Body.Decision.Via != "signal" {
		t.Errorf("a late decision: status %d: %s", late.Status, late.Raw)
	}
}

func TestModelTroubleIsReportedAndTheConversationStaysUsable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answers []llmtest.Answer
		says    string
	}{
		"401":                     {[]llmtest.Answer{llmtest.Fail(401, "bad key")}, "LLM error: openai API error (401)"},
		"429 with Retry-After":    {[]llmtest.Answer{llmtest.RateLimit("1")}, "You said: hello"},
		"500 once":                {[]llmtest.Answer{llmtest.Fail(500, "oops")}, "You said: hello"},
		"500 for good":            {repeat(3, llmtest.Fail(500, "oops")), "LLM error: openai API error (500)"},
		"garbage for good":        {repeat(3, llmtest.Garbage()), "LLM error: "},
		"the connection is reset": {[]llmtest.Answer{llmtest.Reset()}, "You said: hello"},
		"empty choices for good":  {repeat(3, llmtest.EmptyChoices()), "LLM error: "},
	}
	h := newHome(t)
	api, _ := h.inside()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h.model.Reply(c.answers...)
			asked := api.ask("hello")
			if !strings.HasPrefix(asked.Result.Response, c.says) || asked.Conversation.Status != "active" {
				t.Errorf("answered %+v, want %q", asked.Result, c.says)
			}
			if said := api.say(asked.Conversation.ID, "and now?"); said.Result.Response != "You said: and now?" {
				t.Errorf("afterwards: %+v", said.Result)
			}
		})
	}
}

func repeat(n int, a llmtest.Answer) []llmtest.Answer {
	out := make([]llmtest.Answer, n)
	for i := range out {
		out[i] = a
	}
	return out
}

// A client that stops waiting before the model answers gets the URL of the answer.
func TestASlowAnswerIs202AndReadLater(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "request_timeout: 5s\n" // enough for a request to begin, also on a busy machine
	api, _ := h.inside()
	go_ := make(chan struct{})
	h.model.Reply(llmtest.When(go_, llmtest.Say("at last")))
	r := api.do("POST", "/conversations", messageJSON("hello"))
	if r.Status != http.StatusAccepted || r.Header.Get("Location") == "" || r.Body.RequestID == "" {
		t.Fatalf("status %d, location %q: %s", r.Status, r.Header.Get("Location"), r.Raw)
	}
	if early := api.do("GET", r.Header.Get("Location"), ""); early.Body.Result.Response != "" || !strings.Contains(early.Raw, `"status":"running"`) {
		t.Errorf("before the answer: status %d: %s", early.Status, early.Raw)
	}
	close(go_)
	eventually(t, "the answer can be read", func() bool {
		later := api.do("GET", r.Header.Get("Location"), "")
		return later.Body.Result.Response == "at last"
	})
	async := api.do("POST", "/conversations", messageJSON("hi"), "Prefer: respond-async")
	if async.Status != http.StatusAccepted || async.Header.Get("Preference-Applied") != "respond-async" {
		t.Errorf("respond-async: status %d: %s", async.Status, async.Raw)
	}
	eventually(t, "the asynchronous answer can be read", func() bool {
		later := api.do("GET", async.Header.Get("Location"), "")
		return later.Body.Result.Response == "You said: hi"
	})
}

func TestToolTrouble(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.tools.breakDown(true) // unavailable at the start
	api, _ := h.inside()
	states := api.do("GET", "/tools", "")
	if states.Status != http.StatusOK || !strings.Contains(states.Raw, `"ready":false`) {
		t.Errorf("/tools with a missing server: status %d: %s", states.Status, states.Raw)
	}
	id := api.ask("hello").Conversation.ID
	h.tools.breakDown(false)
	eventually(t, "the tools are found without a restart", func() bool {
		return strings.HasPrefix(api.say(id, "call note_list").Result.Response, "The tool said: no notes")
	})
	cases := map[string]string{
		"call fail":                "The tool said: Error: this tool always fails",
		"call no_such_tool":        "The tool said: Error: Tool not found: no_such_tool",
		`call note_list {"n":"x"}`: "The tool said: Error: ",
	}
	for task, want := range cases {
		if got := api.say(id, task).Result.Response; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", task, got, want)
		}
	}
	h.tools.breakDown(true)
	if got := api.say(id, "call note_list").Result.Response; !strings.HasPrefix(got, "The tool said: Error: ") {
		t.Errorf("with a broken server: %q", got)
	}
	h.tools.breakDown(false)
	if got := api.say(id, "call note_list").Result.Response; got != "The tool said: no notes" {
		t.Errorf("the next call after the server came back: %q", got)
	}
}

func TestSeveralCallsOfOneReplyWaitForEachOther(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	asked := api.ask("both note_list,note_add,note_add")
	if len(h.tools.called("note_list")) != 0 {
		t.Error("a call ran although another of the same reply waits")
	}
	second := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	if !second.Result.WaitingApproval || len(h.tools.called("note_add")) != 0 {
		t.Fatalf("after the first of two approvals: %+v", second.Result)
	}
	done := api.decide(second.Result.Approval.UUID, `{"approved":true}`)
	if done.Result.WaitingApproval || len(h.tools.called("note_add")) != 2 || len(h.tools.called("note_list")) != 1 {
		t.Errorf("after both: %+v", done.Result)
	}
	if refused := h.model.Refused(); len(refused) > 0 {
		t.Errorf("the model's API refused: %v", refused)
	}
}

func TestAFileThatCannotBeWrittenHoldsNothingUp(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	path := filepath.Join(h.dir, "data", "conversation_"+id+".json")
	// A folder in place of the file cannot be replaced, not even by root.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := api.say(id, "hello"); said.Result.Response != "You said: hello" {
		t.Errorf("with an unwritable file: %+v", said.Result)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	api.say(id, "again")
	sameAsFile(t, h, api, id)
}

// The calls in the model's history have the provider's wire format, which is checked strictly.
func TestTheModelSeesResultsInTheProvidersForm(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	h.model.Reply(llmtest.CallTools("Let me look.",
		llm.Call{ID: "a", Name: "note_list", Arguments: json.RawMessage(`{}`)},
		llm.Call{ID: "b", Name: "note_list", Arguments: json.RawMessage(`{}`)}))
	asked := api.ask("look twice")
	if asked.Result.Response != "The tool said: no notes" {
		t.Errorf("answer: %+v", asked.Result)
	}
	requests := h.model.Requests()
	last := string(requests[len(requests)-1].Body)
	for _, want := range []string{`"tool_call_id":"a"`, `"tool_call_id":"b"`, `Let me look.`, `You test things.`} {
		if !strings.Contains(last, want) {
			t.Errorf("the model was not sent %s: %s", want, last)
		}
	}
	if refused := h.model.Refused(); len(refused) > 0 {
		t.Errorf("the API refused: %v", refused)
	}
}
