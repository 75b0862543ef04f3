package gateway_test

import (
	"fmt"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
)

const loginPage = "https://shop.example.com"

// loginTask is a task whose call waits for a login, and the same in a version of A2A: how it is
// asked and how it answers.
type loginTask struct {
	*api
	script  *script
	version string
	id      string
}

// newLoginTask sends a message whose call waits. Sent again unchanged, it joins the turn, as in a
// conversation.
func newLoginTask(t *testing.T, version string, way login.Way) (*loginTask, reply) {
	s := newScript()
	s.exists = false
	s.onMessage = func(m contract.MessageSignal) {
		s.begin(m)
		s.ask(m, contract.PendingApproval{
			UUID: approvalUUID, ToolName: "drop", ToolArgs: contract.JSON{Raw: []byte(`{}`)}, Description: "**LOGIN NEEDED**", Reason: contract.ReasonLogin,
			Login: login.Need{Server: "crm", Way: way, URL: loginPage, Why: "not shown to programs"}.For(approvalUUID),
		})
	}
	s.onDecide = func(_ string, in contract.DecideSignal) { s.end(in.RequestID, "dropped", contract.OutcomeDone) }
	b := s.backend()
	b.SignalFn = func(id, signal string, payload any) error {
		m, ok := payload.(contract.MessageSignal)
		if !ok || len(s.view.Pending) == 0 || m.Text.Inline != s.sent[0].Text.Inline {
			return s.signal(id, signal, payload)
		}
		s.do(func() {
			s.sent = append(s.sent, m)
			s.end(m.RequestID, "dropped", contract.OutcomeDone)
		})
		return nil
	}
	b.AdmitFn = func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
		v, err := s.read(id, q.RequestID)
		if v.Request == nil && q.Signal == contract.SignalMessage && q.Text.Inline != s.sent[0].Text.Inline {
			v.Request = &contract.Request{ID: q.RequestID, Settled: true, Refused: contract.KindWaiting}
		}
		return v, err
	}
	x := &loginTask{api: newAPI(t, b), script: s, version: version}
	r := x.send("m-1", "drop all", "Authorization: Bearer old")
	x.id = r.text("result", "id") + r.text("result", "task", "id")
	return x, r
}

// send sends a message to the task, or the first one.
func (x *loginTask) send(messageID, text string, headers ...string) reply {
	x.t.Helper()
	m := object{"messageId": messageID}
	if x.id != "" {
		m["taskId"] = x.id
	}
	if x.version == "0.3" {
		m["kind"], m["role"], m["parts"] = "message", "user", []any{object{"kind": "text", "text": text}}
		return x.rpc("message/send", object{"message": m}, headers...)
	}
	m["role"], m["parts"] = "ROLE_USER", []any{object{"text": text}}
	return x.rpc("SendMessage", object{"message": m}, append(headers, "A2A-Version: 1.0")...)
}

// read asks for the task.
func (x *loginTask) read() reply {
	x.t.Helper()
	if x.version == "0.3" {
		return x.rpc("tasks/get", object{"id": x.id})
	}
	return x.rpc("GetTask", object{"id": x.id}, "A2A-Version: 1.0")
}

var (
	loginIn = map[string]string{"1.0": "TASK_STATE_AUTH_REQUIRED", "0.3": "auth-required"}
	doneIn  = map[string]string{"1.0": "TASK_STATE_COMPLETED", "0.3": "completed"}
)

// requestIn returns the data part with the approval in a task's status.
func requestIn(r reply) object {
	message, _ := r.at("result", "task", "status", "message").(object)
	if message == nil {
		message, _ = r.at("result", "status", "message").(object)
	}
	parts, _ := message["parts"].([]any)
	for _, p := range parts {
		part, _ := p.(object)
		if data, _ := part["data"].(object); data["type"] == contract.TypeApprovalRequest {
			return data
		}
	}
	return nil
}

func eachVersion(t *testing.T, f func(t *testing.T, version string)) {
	for _, version := range []string{"1.0", "0.3"} {
		t.Run(version, func(t *testing.T) { f(t, version) })
	}
}

func TestATaskThatNeedsALoginSaysWhere(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		for _, way := range []login.Way{login.AtServer, login.AtAgent} {
			x, sent := newLoginTask(t, version, way)
			for name, r := range map[string]reply{"sent": sent, "read": x.read()} {
				if state(r) != loginIn[version] {
					t.Fatalf("%s: %s", name, r.raw)
				}
				want := object{"server": "crm", "way": string(way), "url": loginPage + login.Path(approvalUUID)}
				if got := requestIn(r); fmt.Sprint(got["login"]) != fmt.Sprint(want) || got["reason"] != "login" || got["uuid"] != approvalUUID {
					t.Errorf("%s, %s: %v", name, way, got)
				}
			}
		}
	})
}

func TestAMessageSentAgainWithANewTokenJoinsTheTaskThatNeedsALogin(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		x, _ := newLoginTask(t, version, login.AtAgent)
		if r := x.send("m-2", "something else", "Authorization: Bearer new"); state(r) != loginIn[version] || len(requestIn(r)) == 0 || len(x.script.sent) != 1 {
			t.Fatalf("another message: %s", r.raw)
		}
		r := x.send("m-3", "drop all", "Authorization: Bearer new")
		if state(r) != doneIn[version] {
			t.Fatal(r.raw)
		}
		joined := x.script.sent[len(x.script.sent)-1]
		if token, err := x.keys.Open(x.id, joined.Credential, epoch); err != nil || token.Bearer != "new" {
			t.Errorf("the token of the message is %q, %v", token.Bearer, err)
		}
		if len(x.script.decided) > 0 {
			t.Errorf("decided %+v", x.script.decided)
		}
	})
}

func TestAYesWithANewTokenIsTheLoginOfATask(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		for header, want := range map[string]string{"Authorization: Bearer new": login.Via, "X-Other: 1": "a2a"} {
			x, _ := newLoginTask(t, version, login.AtAgent)
			x.send("m-2", "approved", header)
			if d := x.script.decided[approvalUUID]; !d.Approved || d.Via != want {
				t.Errorf("%s: decided %+v, want via %s", header, d, want)
			}
		}
	})
}

// Nothing that a client sends replaces a login to a server. Its address is for a browser.
func TestATaskThatNeedsALoginToAServerWaitsForIt(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		x, _ := newLoginTask(t, version, login.AtServer)
		for _, messageID := range []string{"m-1", "m-2"} {
			r := x.send(messageID, "drop all", "Authorization: Bearer new")
			if state(r) != loginIn[version] || len(requestIn(r)) == 0 || len(x.script.sent) != 1 {
				t.Errorf("%s: %d messages, %s", messageID, len(x.script.sent), r.raw)
			}
		}
		x.send("m-3", "approved", "Authorization: Bearer new")
		if d := x.script.decided[approvalUUID]; d.Via != "a2a" {
			t.Errorf("decided %+v", d)
		}
	})
}
