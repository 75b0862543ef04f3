package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

const approvalUUID = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"

// taskScript answers each message and ends, or waits first when the message says so.
func taskScript() *script {
	s := newScript()
	s.exists = false
	s.onMessage = func(m contract.MessageSignal) {
		s.begin(m)
		if strings.HasPrefix(m.Text.Inline, "drop") {
			s.wait(m, approvalUUID)
			return
		}
		s.end(m.RequestID, "answer to "+m.Text.Inline, contract.OutcomeDone)
	}
	s.onDecide = func(_ string, in contract.DecideSignal) {
		if in.Approved {
			s.end(in.RequestID, "dropped", contract.OutcomeDone)
		} else {
			s.end(in.RequestID, "Operation cancelled by user.", contract.OutcomeRejected)
		}
	}
	return s
}

func (a *api) rpc(method string, params any, headers ...string) reply {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.do("POST", "/a2a", string(body), append(headers, "Content-Type: application/json")...)
}

type object = map[string]any

func said(id, text string, more object) object {
	m := object{"messageId": id, "role": "ROLE_USER", "parts": []any{object{"text": text}}}
	for k, v := range more {
		m[k] = v
	}
	return object{"message": m}
}

func state(r reply) string {
	if s := r.text("result", "task", "status", "state"); s != "" {
		return s
	}
	return r.text("result", "status", "state")
}

func code(r reply) any { return r.at("error", "code") }

func TestAMessageIsATask(t *testing.T) {
	s := taskScript()
	a := newAPI(t, s.backend())
	r := a.rpc("SendMessage", said("m-1", "hello", object{"contextId": "ctx"}), "X-Session-ID: s-1")
	artifact := r.at("result", "task", "artifacts").([]any)[0].(object)["parts"].([]any)[0].(object)["text"]
	if state(r) != "TASK_STATE_COMPLETED" || artifact != "answer to hello" || r.text("result", "task", "contextId") != "ctx" {
		t.Fatal(r.raw)
	}
	in := s.started
	if in.ContextID != "ctx" || !in.Task || in.SessionID != "s-1" || in.First.Name != "m-1" || in.First.Text.Inline != "hello" {
		t.Errorf("started with %+v", in)
	}
	id := r.text("result", "task", "id")
	again := a.rpc("SendMessage", said("m-1", "hello", object{"contextId": "ctx"}))
	if again.text("result", "task", "id") != id || len(s.sent) != 1 {
		t.Errorf("sent twice: %d messages, %s", len(s.sent), again.raw)
	}
	if got := a.rpc("GetTask", object{"id": id, "history_length": 1}); len(got.at("result", "history").([]any)) != 1 {
		t.Error(got.raw)
	}
	if got := a.rpc("SendMessage", said("m-2", "more", object{"taskId": id})); code(got) != -32004.0 {
		t.Errorf("a task that is over took a message: %s", got.raw)
	}
	if got := a.rpc("CancelTask", object{"id": id}); code(got) != -32002.0 {
		t.Errorf("a task that is over was cancelled: %s", got.raw)
	}
	if got := a.rpc("SubscribeToTask", object{"id": id}); code(got) != -32004.0 {
		t.Errorf("a task that is over was subscribed to: %s", got.raw)
	}
}

func TestWhatMakesAMessageTheSame(t *testing.T) {
	begun := func(method string, params object, headers ...string) string {
		s := taskScript()
		newAPI(t, s.backend()).rpc(method, params, headers...)
		return s.started.ID
	}
	configured := func(m object, c object) object { m["configuration"] = c; return m }
	hello := func() object { return said("m-1", "hello", nil) }
	first := begun("SendMessage", hello())
	for name, c := range map[string]struct {
		id   string
		same bool
	}{
		"again":               {begun("SendMessage", hello()), true},
		"as a stream":         {begun("SendStreamingMessage", hello()), true},
		"with less history":   {begun("SendMessage", configured(hello(), object{"historyLength": 1})), true},
		"to wait, expressly":  {begun("SendMessage", configured(hello(), object{"returnImmediately": false})), true},
		"not to wait":         {begun("SendMessage", configured(hello(), object{"returnImmediately": true})), true},
		"under another name":  {begun("SendMessage", said("m-2", "hello", nil)), false},
		"another text":        {begun("SendMessage", said("m-1", "hello?", nil)), false},
		"in another context":  {begun("SendMessage", said("m-1", "hello", object{"contextId": "c"})), false},
		"from another caller": {begun("SendMessage", hello(), "Authorization: Bearer other"), false},
	} {
		if (c.id == first) != c.same {
			t.Errorf("%s: got task %s, the first is %s", name, c.id, first)
		}
	}
}

func TestATaskThatNobodyWaitsForIsSubmitted(t *testing.T) {
	a := newAPI(t, taskScript().backend())
	hello := said("m-1", "hello", nil)
	done := a.rpc("SendMessage", hello)
	hello["configuration"] = object{"returnImmediately": true}
	again := a.rpc("SendMessage", hello)
	task := again.at("result", "task").(object)
	if state(again) != "TASK_STATE_SUBMITTED" || task["id"] != done.text("result", "task", "id") || task["artifacts"] != nil {
		t.Error(again.raw)
	}
	history := task["history"].([]any)
	if m := history[0].(object); len(history) != 1 || m["messageId"] != "m-1" || m["contextId"] != task["contextId"] {
		t.Error(again.raw)
	}
	if r := a.rpc("GetTask", object{"id": task["id"]}); state(r) != "TASK_STATE_COMPLETED" {
		t.Error(r.raw)
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	hops := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for name, c := range map[string]struct {
		params object
		code   float64
	}{
		"no such task":       {said("m", "x", object{"taskId": someID}), -32001},
		"no ID of a task":    {said("m", "x", object{"taskId": "../../etc"}), -32001},
		"nothing":            {said("m", " ", nil), -32602},
		"an unknown file":    {object{"message": object{"messageId": "m", "role": "ROLE_USER", "parts": []any{object{"raw": "dGNr", "mediaType": "application/x-other"}}}}, -32005},
		"too many hops":      {said("m", "x", object{"metadata": object{contract.MetaChain: hops}}), -32602},
		"a torn chain":       {said("m", "x", object{"metadata": object{contract.MetaChain: "a"}}), -32602},
		"a strange context":  {said("m", "x", object{"contextId": "a\nb"}), -32602},
		"a very long ID":     {said(strings.Repeat("m", 300), "x", nil), -32602},
		"an unknown context": {said("m", "x", object{"taskId": someID, "contextId": "other"}), -32001},
	} {
		t.Run(name, func(t *testing.T) {
			s := taskScript()
			if r := newAPI(t, s.backend()).rpc("SendMessage", c.params); code(r) != c.code {
				t.Error(r.raw)
			}
			if len(s.sent) > 0 {
				t.Error("a message arrived")
			}
		})
	}
}

// Test suites of both versions look for words in the texts of errors.
func TestTextsOfErrorsThatClientsLookInto(t *testing.T) {
	file := object{"kind": "file", "file": object{"bytes": "dGNr", "mimeType": "application/x-other"}}
	hello := object{"kind": "text", "text": "hello"}
	for name, c := range map[string]struct {
		method string
		params object
		code   float64
		words  string
	}{
		"a file of another type": {"message/send", object{"message": object{"messageId": "m", "role": "user", "parts": []any{hello, file}}},
			-32005, "incompatible content type not supported"},
		"no such task":                 {"tasks/get", object{"id": "nonexistent"}, -32001, "task not found"},
		"a task that cannot be there":  {"tasks/cancel", object{"id": someID}, -32001, "task not found"},
		"a webhook of no task":         {"tasks/pushNotificationConfig/get", object{"id": "nonexistent"}, -32001, "task not found"},
		"a card that is not announced": {"agent/getAuthenticatedExtendedCard", object{}, -32007, "extended card not configured"},
		"the same in 1.0":              {"GetExtendedAgentCard", object{}, -32004, "not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newAPI(t, taskScript().backend()).rpc(c.method, c.params)
			text := strings.ToLower(r.text("error", "message"))
			if r.status != 200 || code(r) != c.code {
				t.Errorf("%d %s", r.status, r.raw)
			}
			for word := range strings.FieldsSeq(c.words) {
				if !strings.Contains(text, word) {
					t.Errorf("%q does not say %q", text, word)
				}
			}
		})
	}
}

// inState is a task in a state that lasts.
func inState(t *testing.T, want contract.TaskState) (*script, *api, string) {
	t.Helper()
	ends := map[contract.TaskState]contract.Outcome{
		contract.TaskAuthRequired: contract.OutcomeDone, contract.TaskCompleted: contract.OutcomeDone,
		contract.TaskFailed: contract.OutcomeFailed, contract.TaskRejected: contract.OutcomeRejected,
		contract.TaskCanceled: contract.OutcomeCancelled,
	}
	s := taskScript()
	s.onMessage = func(m contract.MessageSignal) {
		if want == contract.TaskSubmitted {
			return
		}
		s.begin(m)
		if outcome, ok := ends[want]; ok {
			s.end(m.RequestID, "Because.", outcome)
		}
		switch want {
		case contract.TaskInputRequired:
			s.wait(m, approvalUUID)
		case contract.TaskAuthRequired:
			s.change(func(v *contract.ConversationView) { v.Status, v.Last.AuthRequired = contract.StatusActive, "writer" })
		}
	}
	a := newAPI(t, s.backend())
	hello := said("m-1", "hello", nil)
	hello["configuration"] = object{"returnImmediately": true}
	r := a.rpc("SendMessage", hello)
	if code(r) != nil {
		t.Fatal(r.raw)
	}
	return s, a, r.text("result", "task", "id")
}

func TestEveryStateIsToldInEveryVersion(t *testing.T) {
	for want, names := range map[contract.TaskState]struct{ v10, v03 string }{
		contract.TaskSubmitted:     {"TASK_STATE_SUBMITTED", "submitted"},
		contract.TaskWorking:       {"TASK_STATE_WORKING", "working"},
		contract.TaskInputRequired: {"TASK_STATE_INPUT_REQUIRED", "input-required"},
		contract.TaskAuthRequired:  {"TASK_STATE_AUTH_REQUIRED", "auth-required"},
		contract.TaskCompleted:     {"TASK_STATE_COMPLETED", "completed"},
		contract.TaskFailed:        {"TASK_STATE_FAILED", "failed"},
		contract.TaskCanceled:      {"TASK_STATE_CANCELED", "canceled"},
		contract.TaskRejected:      {"TASK_STATE_REJECTED", "rejected"},
	} {
		t.Run(string(want), func(t *testing.T) {
			_, a, id := inState(t, want)
			if r := a.rpc("GetTask", object{"id": id}); state(r) != names.v10 {
				t.Errorf("1.0: %s", r.raw)
			}
			if r := a.rpc("tasks/get", object{"id": id}); state(r) != names.v03 {
				t.Errorf("0.3: %s", r.raw)
			}
		})
	}
}

func TestATaskThatIsOverTakesNothingMore(t *testing.T) {
	for _, end := range []contract.TaskState{
		contract.TaskCompleted, contract.TaskFailed, contract.TaskCanceled, contract.TaskRejected,
	} {
		t.Run(string(end), func(t *testing.T) {
			s, a, id := inState(t, end)
			before := len(s.sent)
			of03 := object{"message": object{"messageId": "m-2", "role": "user", "taskId": id, "parts": []any{object{"kind": "text", "text": "more"}}}}
			for _, c := range []struct {
				method string
				params object
				code   float64
			}{
				{"SendMessage", said("m-2", "more", object{"taskId": id}), -32004},
				{"SendStreamingMessage", said("m-2", "more", object{"taskId": id}), -32004},
				{"SubscribeToTask", object{"id": id}, -32004},
				{"CancelTask", object{"id": id}, -32002},
				{"message/send", of03, -32004},
				{"tasks/cancel", object{"id": id}, -32002},
			} {
				if r := a.rpc(c.method, c.params); code(r) != c.code || r.status != 200 {
					t.Errorf("%s: %d %s", c.method, r.status, r.raw)
				}
			}
			if len(s.sent) != before {
				t.Error("a message arrived")
			}
		})
	}
}

// waiting is a task that waits for an approval.
func waiting(t *testing.T, change ...func(*gateway.Deps)) (*script, *api, string) {
	t.Helper()
	s := taskScript()
	a := newAPI(t, s.backend(), change...)
	r := a.rpc("SendMessage", said("m-1", "drop all", nil))
	if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, `"uuid":"`+approvalUUID+`"`) {
		t.Fatal(r.raw)
	}
	return s, a, r.text("result", "task", "id")
}

func TestWordsDecideAndNothingElse(t *testing.T) {
	s, a, id := waiting(t)
	r := a.rpc("SendMessage", said("m-2", "What does it do?", object{"taskId": id}))
	if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, "is no answer") || len(s.decided) > 0 {
		t.Errorf("a question: %s", r.raw)
	}
	if r := a.rpc("SendMessage", said("m-2", "approved", object{"taskId": id, "contextId": "other"})); code(r) != -32602.0 {
		t.Errorf("another context: %s", r.raw)
	}
	r = a.rpc("SendMessage", said("m-3", "approved", object{"taskId": id}), "X-User: ann")
	if state(r) != "TASK_STATE_COMPLETED" {
		t.Fatal(r.raw)
	}
	if d := s.decided[approvalUUID]; !d.Approved || d.Via != "a2a" || d.By != "ann" {
		t.Errorf("decided by %+v", d)
	}
	if again := a.rpc("SendMessage", said("m-3", "approved", object{"taskId": id})); state(again) != "TASK_STATE_COMPLETED" {
		t.Errorf("sent again: %s", again.raw)
	}
}

func TestARejectedTaskIsRejected(t *testing.T) {
	s, a, id := waiting(t)
	answer := object{"type": contract.TypeApprovalAnswer, "uuid": approvalUUID, "approved": false, "reason": "no"}
	r := a.rpc("SendMessage", object{"message": object{"messageId": "m-2", "role": "ROLE_USER", "taskId": id, "parts": []any{object{"data": answer}}}})
	if state(r) != "TASK_STATE_REJECTED" || s.decided[approvalUUID].Reason != "no" {
		t.Error(r.raw)
	}
}

func TestADecisionThatCameTooLateSaysSo(t *testing.T) {
	s, a, id := waiting(t)
	before := s.view
	s.decided[approvalUUID] = contract.DecideSignal{Approved: true, By: "bob", RequestID: "other"}
	s.view = before
	r := a.rpc("SendMessage", said("m-2", "rejected", object{"taskId": id}))
	if code(r) != -32004.0 || !strings.Contains(r.raw, "already approved") {
		t.Error(r.raw)
	}
}

// soon has those who follow a task, without anybody to tell news, look at it often.
func soon(d *gateway.Deps) { d.Pace.Running = 10 * time.Millisecond }

// TestADecisionThatCameTooLateMayAgree has somebody else decide the same. The task goes
// on for a while then, and nothing is known of the message there.
func TestADecisionThatCameTooLateMayAgree(t *testing.T) {
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		s, a, id := waiting(t, soon)
		s.decided[approvalUUID] = contract.DecideSignal{Approved: true, By: "bob", RequestID: "other"}
		time.AfterFunc(20*time.Millisecond, func() {
			s.write(func(v *contract.ConversationView) {
				v.Pending, v.Status, v.Running = nil, contract.StatusActive, true
			})
			time.AfterFunc(20*time.Millisecond, func() {
				s.do(func() { s.end("other", "dropped", contract.OutcomeDone) })
			})
		})
		r := a.rpc(method, said("m-2", "approved", object{"taskId": id}))
		if code(r) != nil || !strings.Contains(r.raw, "TASK_STATE_COMPLETED") || !strings.Contains(r.raw, "dropped") {
			t.Errorf("%s: %s", method, r.raw)
		}
	}
}

func TestAMessageIDIsForOneMessage(t *testing.T) {
	s := taskScript()
	s.onMessage = func(m contract.MessageSignal) { // who works on it for long
		s.begin(m)
		s.settled[m.RequestID] = contract.Request{ID: m.RequestID, Fingerprint: m.Fingerprint}
	}
	a := newAPI(t, s.backend())
	send := func(id, text string, more object) reply {
		m := said(id, text, more)
		m["configuration"] = object{"returnImmediately": true}
		return a.rpc("SendMessage", m)
	}
	task := object{"taskId": send("m-1", "list", nil).text("result", "task", "id")}
	for range 2 {
		if r := send("m-2", "one more", task); state(r) != "TASK_STATE_WORKING" || len(s.sent) != 2 {
			t.Fatalf("%d messages: %s", len(s.sent), r.raw)
		}
	}
	for _, id := range []string{"m-1", "m-2"} {
		if r := send(id, "another", task); code(r) != -32602.0 || !strings.Contains(r.raw, "messageId") || len(s.sent) != 2 {
			t.Errorf("another message of the ID %s: %s", id, r.raw)
		}
	}
}

func TestAnAnswerThatWasSentBeforeDecidesNothing(t *testing.T) {
	s, a, id := waiting(t)
	s.onDecide = func(_ string, in contract.DecideSignal) { // the next call waits
		s.view.Pending = nil
		s.wait(contract.MessageSignal{RequestID: in.RequestID}, otherID)
	}
	for n, want := range []string{"Approval required", "was sent before"} {
		r := a.rpc("SendMessage", said("m-2", "approved", object{"taskId": id}))
		if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, want) || len(s.decided) != 1 {
			t.Errorf("%d: %d decisions, %s", n, len(s.decided), r.raw)
		}
	}
}

func TestAMessageThatCannotBeTakenSaysWhatToDo(t *testing.T) {
	s := taskScript()
	b := s.backend()
	b.SignalFn = func(_, _ string, payload any) error {
		m := payload.(contract.MessageSignal)
		s.do(func() {
			s.settled[m.RequestID] = contract.Request{ID: m.RequestID, Settled: true, Refused: contract.KindWaiting}
		})
		return nil
	}
	s.onMessage = s.begin
	a := newAPI(t, b)
	first := said("m-1", "list", nil)
	first["configuration"] = object{"returnImmediately": true}
	id := a.rpc("SendMessage", first).text("result", "task", "id")
	r := a.rpc("SendMessage", said("m-2", "more", object{"taskId": id}))
	if code(r) != -32004.0 || !strings.Contains(r.raw, "approval waits") || !strings.Contains(r.raw, "messageId") {
		t.Error(r.raw)
	}
}

// TestAMessageIsAnsweredWhenTheTaskRests sends a message behind which another one is in
// the queue.
func TestAMessageIsAnsweredWhenTheTaskRests(t *testing.T) {
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		s := taskScript()
		s.onMessage = func(m contract.MessageSignal) {
			s.begin(m)
			s.end(m.RequestID, "one", contract.OutcomeDone)
			s.change(func(v *contract.ConversationView) { v.Status, v.Queued = contract.StatusActive, 1 })
			time.AfterFunc(20*time.Millisecond, func() {
				s.do(func() {
					s.end("next", "two", contract.OutcomeDone)
					s.change(func(v *contract.ConversationView) { v.Queued = 0 })
				})
			})
		}
		r := newAPI(t, s.backend(), soon).rpc(method, said("m-1", "hello", nil))
		if !strings.Contains(r.raw, "TASK_STATE_COMPLETED") {
			t.Errorf("%s: %s", method, r.raw)
		}
	}
}

func TestATaskIsCancelled(t *testing.T) {
	_, a, id := waiting(t)
	if r := a.rpc("CancelTask", object{"id": id}); r.text("result", "status", "state") != "TASK_STATE_CANCELED" {
		t.Error(r.raw)
	}
}

func TestTheOldDialectGoesOn(t *testing.T) {
	s := taskScript()
	a := newAPI(t, s.backend())
	old := func(text, task string) reply {
		p := object{"message": object{"role": "user", "parts": []any{object{"type": "text", "text": text}}}}
		if task != "" {
			p["taskId"] = task
		}
		return a.rpc("message/send", p)
	}
	first := old("drop all", "")
	id := first.text("result", "id")
	if s.started.Task || first.text("result", "status", "message") != "Approval required (id: "+approvalUUID+"): Drop?" {
		t.Fatal(first.raw)
	}
	if r := old("why?", id); state(r) != "input-required" || len(s.decided) > 0 {
		t.Errorf("a question: %s", r.raw)
	}
	if r := old("yes", id); state(r) != "completed" || r.at("result", "artifact") == nil {
		t.Errorf("a yes: %s", r.raw)
	}
	if r := old("and now?", id); state(r) != "completed" || !strings.Contains(r.raw, "answer to and now?") {
		t.Errorf("one more message: %s", r.raw)
	}
	if r := a.rpc("tasks/get", object{"id": id}); r.at("result", "artifact") == nil {
		t.Errorf("read as 0.3: %s", r.raw)
	}
}

// frames reads a stream.
func frames(t *testing.T, r reply) (ids, states []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(r.raw))
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids = append(ids, id)
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Result a2a.StreamResponse
			Error  any
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil || m.Error != nil {
			t.Fatalf("%v: %s", err, data)
		}
		switch e := m.Result.Event.(type) {
		case *a2a.Task:
			states = append(states, "task "+string(e.Status.State))
		case *a2a.TaskStatusUpdateEvent:
			states = append(states, string(e.Status.State))
		case *a2a.TaskArtifactUpdateEvent:
			states = append(states, "artifact "+e.Artifact.Parts[0].Text())
		}
	}
	return ids, states
}

func TestAStreamTellsATaskToItsEnd(t *testing.T) {
	_, a, id := waiting(t)
	r := a.rpc("SendStreamingMessage", said("m-2", "approved", object{"taskId": id}))
	if _, got := frames(t, r); len(got) == 0 || !strings.HasSuffix(got[len(got)-1], "TASK_STATE_COMPLETED") {
		t.Errorf("%v: %s\n%s", got, r.raw, a.logs)
	}
	b := newAPI(t, taskScript().backend())
	if r := b.rpc("SendStreamingMessage", said("m-9", "hello", nil)); !strings.Contains(r.raw, "answer to hello") {
		t.Error(r.raw)
	}
}

func TestASubscriberGoesOnWhereItWas(t *testing.T) {
	s, a, id := waiting(t)
	server := httptest.NewServer(a)
	defer server.Close()
	stream := a.rpc("SendStreamingMessage", said("m-2", "why?", object{"taskId": id}))
	ids, states := frames(t, stream)
	if diff := cmp.Diff([]string{"task TASK_STATE_INPUT_REQUIRED"}, states); diff != "" {
		t.Fatal(diff)
	}
	s.decide(approvalUUID, contract.DecideSignal{Approved: true, RequestID: "r"})
	_, got := frames(t, a.rpc("SubscribeToTask", object{"id": id}, "Last-Event-ID: "+ids[0]))
	if diff := cmp.Diff([]string{"TASK_STATE_WORKING", "artifact dropped", "TASK_STATE_COMPLETED"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestASubscriberWhoComesBackIsHeardAtOnce has nothing to be told for now.
func TestASubscriberWhoComesBackIsHeardAtOnce(t *testing.T) {
	_, a, id := waiting(t)
	ids, _ := frames(t, a.rpc("SendStreamingMessage", said("m-2", "why?", object{"taskId": id})))
	server := httptest.NewServer(a)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	body := `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"` + id + `"}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/a2a", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Last-Event-ID", ids[0])
	response, err := server.Client().Do(r) // returns with the headers
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("%d %s", response.StatusCode, got)
	}
}

func TestTasksAreListed(t *testing.T) {
	s := taskScript()
	b := s.backend()
	a := newAPI(t, b)
	id := a.rpc("SendMessage", said("m-1", "hello", nil)).text("result", "task", "id")
	var asked gateway.TaskQuery
	b.TasksFn = func(q gateway.TaskQuery) (gateway.TaskPage, error) {
		asked = q
		return gateway.TaskPage{IDs: []string{id, someID}, Next: []byte("next"), Total: 5}, nil
	}
	r := a.rpc("ListTasks", object{"context_id": "ctx", "status": "TASK_STATE_COMPLETED", "page_size": 2})
	if list := r.at("result", "tasks").([]any); len(list) != 1 || r.at("result", "totalSize") != 5.0 || r.at("result", "pageSize") != 2.0 {
		t.Error(r.raw)
	}
	if asked.ContextID != "ctx" || asked.State != contract.TaskCompleted || asked.Limit != 2 {
		t.Errorf("asked for %+v", asked)
	}
	if strings.Contains(r.raw, "artifacts") {
		t.Errorf("artifacts that nobody asked for: %s", r.raw)
	}
	if more := a.rpc("ListTasks", object{"page_token": r.text("result", "nextPageToken")}); code(more) != nil || string(asked.Token) != "next" {
		t.Error(more.raw)
	}
	if bad := a.rpc("ListTasks", object{"page_token": "x"}); code(bad) != -32602.0 {
		t.Error(bad.raw)
	}
}

func TestTheCardTellsWhereTheAgentIs(t *testing.T) {
	b := taskScript().backend()
	a := newAPI(t, b, func(d *gateway.Deps) { d.PublicURL = "https://agents.example.com/x" })
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/a2a"} {
		r := a.do("GET", path, "")
		if r.text("url") != "https://agents.example.com/x/a2a" || r.text("name") != "helper" || r.header.Get("ETag") == "" {
			t.Errorf("%s: %s", path, r.raw)
		}
		if same := a.do("GET", path, "", "If-None-Match: "+r.header.Get("ETag")); same.status != 304 {
			t.Errorf("%s again: %d", path, same.status)
		}
	}
}

func TestAMessageBringsItsWebhook(t *testing.T) {
	s := taskScript()
	b := s.backend()
	var begun *gateway.PushConfig
	start := b.StartFn
	b.StartFn = func(in gateway.StartInput) (gateway.Started, error) {
		begun = in.Push
		return start(in)
	}
	var set []gateway.PushConfig
	b.SetPushFn = func(_ string, c gateway.PushConfig) (gateway.PushConfig, error) {
		set = append(set, c)
		if c.URL == "https://wrong.example/" {
			return c, gateway.Errorf(contract.KindInvalid, "no such host")
		}
		return c, nil
	}
	a := newAPI(t, b)
	hook := object{"url": "https://example.com/hook", "authentication": object{"scheme": "Bearer", "credentials": "c"}}
	message := func(id string, more object) object {
		m := said(id, "drop it", more)
		m["configuration"] = object{"taskPushNotificationConfig": hook}
		return m
	}
	first := a.rpc("SendMessage", message("m-1", nil))
	id := first.text("result", "task", "id")
	if begun == nil || begun.URL != "https://example.com/hook" || begun.Credentials != "c" || !contract.IsUUID(begun.ID) {
		t.Fatalf("%+v: %s", begun, first.raw)
	}
	a.rpc("SendMessage", message("m-2", object{"taskId": id}))
	if len(set) != 1 || !contract.IsUUID(set[0].ID) || set[0].ID == begun.ID {
		t.Errorf("set %v", set)
	}
	hook["url"] = "https://wrong.example/"
	approve := message("m-3", object{"taskId": id, "parts": []any{object{"text": "approved"}}})
	if r := a.rpc("SendMessage", approve); code(r) != -32602.0 || state(a.rpc("GetTask", object{"id": id})) != "TASK_STATE_INPUT_REQUIRED" {
		t.Error("the approval was given although the webhook is wrong: " + r.raw)
	}
}

func TestAWebhookOf03ComesWithAMessage(t *testing.T) {
	s := taskScript()
	b := s.backend()
	var begun *gateway.PushConfig
	start := b.StartFn
	b.StartFn = func(in gateway.StartInput) (gateway.Started, error) {
		begun = in.Push
		return start(in)
	}
	r := newAPI(t, b).rpc("message/send", object{
		"message":       object{"messageId": "m-1", "role": "user", "parts": []any{object{"kind": "text", "text": "hello"}}},
		"configuration": object{"pushNotificationConfig": object{"url": "https://example.com/hook", "token": "t"}},
	})
	if begun == nil || begun.Protocol != contract.PushProtocol03 || begun.Token != "t" || state(r) != "completed" {
		t.Fatalf("%+v: %s", begun, r.raw)
	}
}
