package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// recorder records what was started.
type recorder struct{ started []service.StartInput }

func (r *recorder) start(in service.StartInput) (service.StartResult, error) {
	r.started = append(r.started, in)
	return service.StartResult{}, nil
}

func showing(id, _ string) (contract.ConversationView, error) { return viewOf(id), nil }

func TestCreateWithoutMessage(t *testing.T) {
	for _, body := range []string{"", "  ", "null", "{}", `{"message":""}`, `{"message":null}`} {
		var r recorder
		a := newAPI(t, &fakeBackend{StartFn: r.start, ConversationFn: showing})
		reply := a.want(201, a.send(newRequest("POST", "/conversations", body, "Content-Type: application/json"), "{}"))
		if len(r.started) != 1 || r.started[0].Conversation.First != nil {
			t.Fatalf("%q: started %+v; expected one without a message", body, r.started)
		}
		if reply.at("result") != nil || reply.text("conversation", "status") != "active" {
			t.Errorf("%q: %s", body, reply.raw)
		}
		if reply.text("conversation", "id") != r.started[0].Conversation.ID {
			t.Errorf("%q: another conversation than was started: %s", body, reply.raw)
		}
	}
}

func TestCreateWithMessageWaitsForTheAnswer(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, AwaitFn: answering("hello <you>")})
	reply := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, "X-Session-ID: my-session"))
	in := r.started[0].Conversation
	if in.First.Text.Inline != "hi" || in.First.RequestID == "" || in.SessionID != "my-session" || in.Agent.Name != "helper" {
		t.Errorf("started with %+v", in)
	}
	want := map[string]any{"response": "hello <you>", "waiting_approval": false, "auth_required": false}
	if diff := cmp.Diff(want, reply.at("result")); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(reply.raw, "<you>") {
		t.Errorf("texts must stay readable: %s", reply.raw)
	}
	if got := reply.header.Get("Location"); got != "/conversations/"+in.ID {
		t.Errorf("Location %q", got)
	}
}

func TestCreateStartsAndWaitsInOneRequest(t *testing.T) {
	a := newAPI(t, &fakeBackend{}) // neither Start nor Await is expected
	a.backend.StartAndAwaitFn = func(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
		return answering("hello")(ctx, in.Conversation.ID, []string{in.Conversation.First.RequestID})
	}
	reply := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, "Idempotency-Key: k"))
	if reply.text("result", "response") != "hello" || reply.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("%v %s", reply.header, reply.raw)
	}
	if got := reply.header.Get("Location"); got != "/conversations/"+reply.text("conversation", "id") {
		t.Errorf("Location %q", got)
	}
}

// A 202 says that the message is durable, which a request that has not been answered does not.
func TestAStartWithoutAnAnswerIsMadeCertain(t *testing.T) {
	var certain service.StartInput
	attempts := make(chan service.StartInput, 1) // one that nobody waits for any more
	a := newAPI(t, &fakeBackend{AwaitFn: never}, impatient)
	a.backend.StartAndAwaitFn = func(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
		attempts <- in
		return never(ctx, "", nil)
	}
	a.backend.StartFn = func(in service.StartInput) (service.StartResult, error) {
		certain = in
		return service.StartResult{Existed: true, CreatedAt: in.CreatedAt}, nil
	}
	reply := a.want(202, a.do("POST", "/conversations", `{"message":"hi"}`))
	tried := <-attempts
	if certain.Conversation.ID == "" || certain.Conversation.First.RequestID != tried.Conversation.First.RequestID {
		t.Errorf("started %+v, then %+v", tried, certain)
	}
	if reply.header.Get("Idempotency-Replayed") != "" {
		t.Error("it is its own start")
	}
}

func TestCreateRefusesInvalidBodies(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, body := range []string{`{`, `{"message":5}`, `[]`, `"hi"`, `{} {}`, `{"message":"hi"}x`, "\x00", `{"message":"a`} {
		a.wantError(400, "invalid request body: ", a.do("POST", "/conversations", body))
	}
}

func TestBodyOverTheLimit(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	body := `{"message":"` + strings.Repeat("x", 2<<20) + `"}`
	for _, path := range []string{"/conversations", "/conversations/" + someID + "/messages", "/approvals/" + someUUID} {
		a.wantError(413, "too large", a.do("POST", path, body))
	}
}

func TestLargeMessageTravelsAsAnAddress(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, AwaitFn: answering("ok")})
	long := strings.Repeat("long ", 2000)
	a.want(201, a.do("POST", "/conversations", `{"message":"`+long+`"}`))
	b := r.started[0].Conversation.First.Text.Blob
	if b == nil || string(a.blobs.data[b.SHA256]) != long {
		t.Errorf("message %+v", r.started[0].Conversation.First.Text)
	}
}

func TestCreateAgainUnderTheSameKey(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{AwaitFn: answering("first")})
	a.backend.StartFn = func(in service.StartInput) (service.StartResult, error) {
		r.started = append(r.started, in)
		return service.StartResult{Existed: len(r.started) > 1, Fingerprint: r.started[0].Fingerprint}, nil
	}
	a.backend.ConversationFn = func(id, requestID string) (contract.ConversationView, error) {
		view := viewOf(id)
		view.Request = &contract.Request{ID: requestID, Settled: true, Result: &contract.Result{Response: contract.Inline("first")}}
		return view, nil
	}
	const key = "Idempotency-Key: k-1"
	first := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, key))
	second := a.want(201, a.do("POST", "/conversations", "{\n\"message\" : \"hi\"}", key))
	if first.raw != second.raw {
		t.Errorf("%s\nthen %s", first.raw, second.raw)
	}
	if first.header.Get("Idempotency-Replayed") != "" || second.header.Get("Idempotency-Replayed") != "true" {
		t.Error("only the second is a replay")
	}
	if r.started[0].Conversation.First.RequestID != r.started[1].Conversation.First.RequestID {
		t.Error("the request id must be the same")
	}
	a.wantError(422, "different request", a.do("POST", "/conversations", `{"message":"ho"}`, key))
	a.wantError(422, "different request", a.do("POST", "/conversations", `{}`, key))
}

func TestInvalidKeys(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, headers := range [][]string{
		{"Idempotency-Key: "}, {"Idempotency-Key: a b"}, {"Idempotency-Key: é"},
		{"Idempotency-Key: " + strings.Repeat("k", 256)}, {"Idempotency-Key: a", "Idempotency-Key: b"},
	} {
		a.wantError(400, "Idempotency-Key", a.do("POST", "/conversations", `{}`, headers...))
		a.wantError(400, "Idempotency-Key", a.do("POST", "/conversations/"+someID+"/close", `{}`, headers...))
		r := a.want(400, a.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}]}`, headers...))
		if !strings.Contains(r.raw, "Idempotency-Key") {
			t.Errorf("%v: %s", headers, r.raw)
		}
	}
}

func TestRespondAsyncDoesNotWait(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start})
	reply := a.want(202, a.do("POST", "/conversations", `{"message":"hi"}`, `Prefer: wait=5, Respond-Async; x=1`))
	in := r.started[0].Conversation
	want := map[string]string{
		"Location":           "/conversations/" + in.ID + "/requests/" + in.First.RequestID,
		"Retry-After":        "1",
		"Preference-Applied": "respond-async",
	}
	for name, value := range want {
		if got := reply.header.Get(name); got != value {
			t.Errorf("%s: %q, expected %q", name, got, value)
		}
	}
	if reply.text("request_id") != in.First.RequestID || reply.text("conversation_id") != in.ID || reply.text("status") != "running" {
		t.Error(reply.raw)
	}
}

func TestAnAnswerThatTakesTooLong(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, AwaitFn: never}, impatient)
	reply := a.want(202, a.do("POST", "/conversations", `{"message":"hi"}`))
	if reply.header.Get("Preference-Applied") != "" || reply.text("request_id") == "" {
		t.Error(reply.raw)
	}
}

func TestClosingTheGatewayAnswersWaitersWithALocation(t *testing.T) {
	var r recorder
	waiting := make(chan struct{})
	a := newAPI(t, &fakeBackend{StartFn: r.start})
	a.backend.AwaitFn = func(ctx context.Context, id string, ids []string) (contract.AwaitResult, error) {
		close(waiting)
		return never(ctx, id, ids)
	}
	replies := make(chan reply)
	go func() { replies <- a.do("POST", "/conversations", `{"message":"hi"}`) }()
	<-waiting
	a.Close()
	a.want(202, <-replies)
	a.want(202, a.do("POST", "/conversations", `{"message":"hi"}`))
}

func TestANewConversationWithoutAWorker(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start})
	a.backend.ConversationFn = func(string, string) (contract.ConversationView, error) {
		return contract.ConversationView{}, service.Errorf(service.KindUnavailable, "no worker is answering")
	}
	reply := a.want(202, a.do("POST", "/conversations", ``))
	if got := reply.header.Get("Location"); got != "/conversations/"+r.started[0].Conversation.ID {
		t.Errorf("Location %q", got)
	}
}

func TestTheTokenTravelsSealedForItsConversation(t *testing.T) {
	const canary = "canary-token-1"
	for header, sealed := range map[string]bool{
		"Bearer " + canary: true, "bearer  " + canary: true, "Basic " + canary: false, canary: false, "Bearer ": false,
	} {
		var r recorder
		a := newAPI(t, &fakeBackend{StartFn: r.start, AwaitFn: answering("ok")})
		reply := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, "Authorization: "+header))
		in := r.started[0].Conversation
		if (in.First.Credential != "") != sealed {
			t.Errorf("%q: credential %q", header, in.First.Credential)
		}
		if sealed {
			token, err := a.keys.Open(in.ID, in.First.Credential, time.Now())
			if err != nil || token.Bearer != canary {
				t.Errorf("%q: %v, %v", header, token.Bearer, err)
			}
		}
		if strings.Contains(reply.raw+a.logs.String(), canary) {
			t.Errorf("%q: the token is in the reply or the log", header)
		}
	}
}

func TestInternalErrorsAreHidden(t *testing.T) {
	a := newAPI(t, &fakeBackend{StartFn: func(service.StartInput) (service.StartResult, error) {
		return service.StartResult{}, http.ErrBodyNotAllowed
	}})
	a.wantError(500, "internal error", a.do("POST", "/conversations", `{"message":"hi"}`))
	if !strings.Contains(a.logs.String(), http.ErrBodyNotAllowed.Error()) {
		t.Errorf("the log must have the cause: %s", a.logs)
	}
	a.backend.StartFn = func(service.StartInput) (service.StartResult, error) { panic("boom") }
	a.wantError(500, "internal error", a.do("POST", "/conversations", `{"message":"hi"}`))
	if !strings.Contains(a.logs.String(), "boom") {
		t.Errorf("the log must have the panic: %s", a.logs)
	}
}

func TestTwoCallersMayUseOneKey(t *testing.T) {
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, AwaitFn: answering("ok")})
	seen := map[string]string{}
	for _, who := range []string{"", "Authorization: Bearer alice", "Authorization: Bearer bob", "X-Session-ID: 0123abcd", "X-Session-ID: 4567abcd"} {
		headers := []string{"Idempotency-Key: 1"}
		if who != "" {
			headers = append(headers, who)
		}
		first := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, headers...)).header.Get("Location")
		again := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, headers...)).header.Get("Location")
		if other, taken := seen[first]; taken || first != again {
			t.Errorf("%q: %s, again %s, which is that of %q", who, first, again, other)
		}
		seen[first] = who
	}
}
