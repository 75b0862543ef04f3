package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const approvalUUID = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"

// taskScript answers each message and ends, or waits first if the message says so.
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

func TestRepeatedMessagesAreRecognized(t *testing.T) {
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

func TestATaskWithoutWaitingIsSubmitted(t *testing.T) {
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

func TestAMessageIDIsForOneMessage(t *testing.T) {
	s := taskScript()
	s.onMessage = func(m contract.MessageSignal) { // works on it for a long time
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

func TestARefusedMessageSaysWhatToDo(t *testing.T) {
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

// Another message is queued behind the one that is sent.
func TestAMessageIsAnsweredWhenTheTaskIsIdle(t *testing.T) {
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		synctest.Test(t, func(t *testing.T) {
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
			a := newAPI(t, s.backend(), soon)
			defer a.Close()
			if r := a.rpc(method, said("m-1", "hello", nil)); !strings.Contains(r.raw, "TASK_STATE_COMPLETED") {
				t.Errorf("%s: %s", method, r.raw)
			}
		})
	}
}

func TestATaskIsCancelled(t *testing.T) {
	_, a, id := waiting(t)
	if r := a.rpc("CancelTask", object{"id": id}); r.text("result", "status", "state") != "TASK_STATE_CANCELED" {
		t.Error(r.raw)
	}
}

// Messages queued behind a cancelled turn are answered.
func TestACancellationDoesNotWaitForQueuedMessages(t *testing.T) {
	s := newScript()
	s.view.Running = true
	b := s.backend()
	signal := b.SignalFn
	b.SignalFn = func(id, name string, payload any) error {
		err := signal(id, name, payload)
		s.write(func(v *contract.ConversationView) { v.Queued = 1 })
		return err
	}
	if r := newAPI(t, b).rpc("CancelTask", object{"id": someID}); state(r) != "TASK_STATE_WORKING" {
		t.Error(r.raw)
	}
}

func TestATaskOfTheOldDialectContinues(t *testing.T) {
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

func TestTasksAreListed(t *testing.T) {
	s := taskScript()
	b := s.backend()
	a := newAPI(t, b)
	id := a.rpc("SendMessage", said("m-1", "hello", nil)).text("result", "task", "id")
	var asked service.TaskQuery
	b.TasksFn = func(q service.TaskQuery) (service.TaskPage, error) {
		asked = q
		return service.TaskPage{IDs: []string{id, someID}, Next: []byte("next"), Total: 5}, nil
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

func TestAListOfTasksSurvivesOneThatCannotBeRead(t *testing.T) {
	s := taskScript()
	b := s.backend()
	a := newAPI(t, b)
	id := a.rpc("SendMessage", said("m-1", "hello", nil)).text("result", "task", "id")
	read := b.ConversationFn
	b.ConversationFn = func(asked, requestID string) (contract.ConversationView, error) {
		switch asked {
		case someID:
			return contract.ConversationView{}, service.Errorf(service.KindUnavailable, "its workflow does not answer")
		case otherID:
			view, err := read(id, requestID)
			view.ID = otherID
			view.Transcript.Tail = []contract.Message{{Role: contract.RoleUser, Content: contract.Text{Blob: &contract.Blob{SHA256: strings.Repeat("a", 64), Size: 70_000}}}}
			return view, err
		}
		return read(asked, requestID)
	}
	b.TasksFn = func(service.TaskQuery) (service.TaskPage, error) {
		return service.TaskPage{IDs: []string{id, someID, otherID}, Total: 3}, nil
	}
	for _, filter := range []object{{}, {"status": "TASK_STATE_COMPLETED"}} {
		r := a.rpc("ListTasks", filter)
		list, _ := r.at("result", "tasks").([]any)
		if len(list) != 3 || !strings.Contains(r.raw, "does not answer") || !strings.Contains(r.raw, "log has the details") || strings.Count(r.raw, `"TASK_STATE_COMPLETED"`) != 2 {
			t.Errorf("%v: %s", filter, r.raw)
		}
	}
}
