package gateway_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestUUIDsInAnyCase(t *testing.T) {
	var seen []string
	a := newAPI(t, &fakeBackend{
		ConversationFn: func(id, request string) (contract.ConversationView, error) {
			seen = append(seen, id+request)
			view := viewOf(id)
			view.Request = &contract.Request{ID: request, Settled: true}
			return view, nil
		},
	})
	a.want(200, a.do("GET", "/conversations/"+strings.ToUpper(someID), ""))
	a.want(200, a.do("GET", "/conversations/"+strings.ToUpper(someID)+"/requests/"+strings.ToUpper(otherID)+"/", ""))
	if len(seen) != 2 || seen[0] != someID || seen[1] != someID+otherID {
		t.Error(seen)
	}
	var d desk
	b := newAPI(t, d.backend())
	b.want(200, b.do("POST", "/approvals/"+strings.ToUpper(someUUID), `{"approved":true}`))
}

// A repeated request is recognized however its path is written.
func TestASlashAtTheEndChangesNothing(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("ok")})
	for _, path := range []string{messages, messages + "/", strings.Replace(messages, someID, strings.ToUpper(someID), 1) + "/"} {
		a.want(200, a.do("POST", path, `{"message":"x"}`, "Idempotency-Key: k"))
	}
	first := m.sent[0].payload.(contract.MessageSignal)
	for _, s := range m.sent[1:] {
		if again := s.payload.(contract.MessageSignal); again.RequestID != first.RequestID || again.Fingerprint != first.Fingerprint {
			t.Errorf("%+v\n%+v", again, first)
		}
	}
}

// Some clients escape what need not be escaped in a path.
func TestEscapesInAPathChangeNothing(t *testing.T) {
	c := chatting(t, newMany(t), func(d *gateway.Deps) {
		d.Agent.Tree = &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{{Name: "look", Type: contract.NodeLLM, Model: "m"}}}
	})
	for _, path := range []string{"/v1/models/helper%3Alook", "/v1/models/helper%3alook/", "/v1/%6Dodels/helper:look"} {
		if r := c.want(200, c.do("GET", path, "")); r.text("id") != "helper:look" {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
	c.want(404, c.do("GET", "/v1%2Fmodels", ""))
	c.want(404, c.do("GET", "/v1/models/..%2Fmodels", ""))
}

func TestEveryRouteTakesASlashAtTheEnd(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, r := range a.Routes() {
		path := parameter.ReplaceAllString(r.Path, "x")
		with, without := httptest.NewRecorder(), httptest.NewRecorder()
		a.ServeHTTP(with, newRequest(r.Method, path+"/", ""))
		a.ServeHTTP(without, newRequest(r.Method, path, ""))
		if with.Code != without.Code || strings.Contains(with.Body.String(), "no such route") {
			t.Errorf("%s %s: %d, with a slash %d %s", r.Method, path, without.Code, with.Code, with.Body)
		}
	}
	a.wantError(404, "no such route", a.do("GET", "/tools//", ""))
}

func TestUnknownMembersAreRefused(t *testing.T) {
	a := newAPI(t, &fakeBackend{SubjectFn: func(string) (service.Subject, error) { return service.Subject{}, nil }})
	conversation := "/conversations/" + someID
	for _, test := range []struct{ path, body, text string }{
		{"/conversations", `{"mesage":"hello"}`, `unknown member "mesage": did you mean "message"?`},
		{"/conversations", `{"message":"hello","other":1}`, `unknown member "other"; known here: "message"`},
		{"/conversations", `{"messages":"hello","z":1}`, `unknown member "messages": did you mean "message"?`},
		{messages, `{"MESAGE":"hello"}`, `unknown member "MESAGE": did you mean "message"?`},
		{conversation + "/cancel", `{"raeson":"x"}`, `unknown member "raeson": did you mean "reason"?`},
		{conversation + "/close", `{"":"x"}`, `unknown member ""; known here: "reason", "by"`},
		{conversation + "/close", `{"b\u0000\n":"x"}`, `unknown member "b??"`},
		{approvalPath, `{"aproved":true}`, `unknown member "aproved": did you mean "approved"?`},
		{approvalPath, `{"approved":true,"resaon":"x"}`, `unknown member "resaon": did you mean "reason"?`},
		{approvalPath, `{"approved":true,"request_id":"x"}`, `unknown member "request_id"`},
	} {
		a.wantError(400, test.text, a.do("POST", test.path, test.body))
	}
	a.wantError(400, strings.Repeat("x", 80)+"…", a.do("POST", "/conversations", `{"`+strings.Repeat("x", 5000)+`":1}`))
}

func TestMembersInAnyCaseAreKnown(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, AwaitFn: answering("ok")})
	a.ServeHTTP(httptest.NewRecorder(), newRequest("POST", "/conversations", `{"Message":"hi"}`))
	if len(r.started) != 1 || r.started[0].Conversation.First.Text.Inline != "hi" {
		t.Errorf("%+v", r.started)
	}
}

func TestBlankMessages(t *testing.T) {
	a := newAPI(t, closedBackend(t))
	for _, body := range []string{`{"message":"  "}`, `{"message":"\t\n"}`, `{"message":"\u00a0"}`} {
		a.wantError(400, "message is blank", a.do("POST", "/conversations", body))
		a.wantError(400, "message is required", a.do("POST", messages, body))
	}
}
