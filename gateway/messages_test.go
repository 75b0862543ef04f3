package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

type sent struct {
	id, signal string
	payload    any
}

// mailbox records the signals that were sent.
type mailbox struct{ sent []sent }

func (m *mailbox) signal(id, signal string, payload any) error {
	m.sent = append(m.sent, sent{id, signal, payload})
	return nil
}

const messages = "/conversations/" + someID + "/messages"

func TestMessageIsSentAndAnswered(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("done")})
	reply := a.want(200, a.do("POST", messages, `{"message":"go"}`))
	in, _ := m.sent[0].payload.(contract.MessageSignal)
	if m.sent[0].id != someID || m.sent[0].signal != "message" || in.Text.Inline != "go" ||
		!contract.IsUUID(in.RequestID) || len(in.Fingerprint) != 16 {
		t.Errorf("sent %+v", m.sent)
	}
	if reply.text("result", "response") != "done" || reply.text("conversation", "id") != someID {
		t.Error(reply.raw)
	}
}

func TestMessageChecksInOrder(t *testing.T) {
	a := newAPI(t, &fakeBackend{SignalFn: func(id, _ string, _ any) error {
		return service.Errorf(contract.KindNotFound, "conversation not found: %s", id)
	}})
	for _, c := range []struct {
		path, body, text string
		status           int
	}{
		{"/conversations/nope/messages", `{`, "invalid request body: ", 400},
		{"/conversations/nope/messages", `{"message":7}`, "invalid request body: ", 400},
		{"/conversations/nope/messages", ``, "message is required", 400},
		{"/conversations/nope/messages", `{"message":" "}`, "message is required", 400},
		{"/conversations/nope/messages", `{"message":"x"}`, "conversation not found: nope", 404},
		{messages, `{"message":"x"}`, "conversation not found: " + someID, 404},
	} {
		a.wantError(c.status, c.text, a.do("POST", c.path, c.body))
	}
}

func TestInvalidIDs(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, id := range []string{
		"..%2F..%2Fetc%2Fpasswd", "%2e%2e", "a%00b", "x%0Ay", someID + "x", strings.Repeat("9", 500), "%F0%9F%92%A5",
	} {
		for _, route := range [][3]string{
			{"GET", "/conversations/" + id},
			{"GET", "/conversations/" + id + "/requests/" + otherID},
			{"GET", "/conversations/" + someID + "/requests/" + id},
			{"POST", "/conversations/" + id + "/messages", `{"message":"x"}`},
			{"POST", "/conversations/" + id + "/cancel", `{"reason":"x"}`},
			{"POST", "/conversations/" + id + "/close", `{"reason":"x"}`},
			{"GET", "/approvals/" + id},
			{"POST", "/approvals/" + id, `{"approved":true}`},
		} {
			reply := a.do(route[0], route[1], route[2])
			a.wantError(404, "", reply)
			if text := reply.text("error"); strings.ContainsAny(text, "\x00\n\r") || len(text) > 200 {
				t.Errorf("%s: the error repeats too much: %q", route[1], text)
			}
		}
	}
}

func TestMessageWhileAnApprovalWaits(t *testing.T) {
	var m mailbox
	pending := contract.PendingApproval{
		UUID: someUUID, ConversationID: someID, ToolName: "resources_add", CreatedAt: epoch,
		ToolArgs: contract.JSON{Raw: []byte(`{"name":"disk"}`)}, Description: "**ADD**",
	}
	a := newAPI(t, &fakeBackend{SignalFn: m.signal})
	a.backend.AwaitFn = func(ctx context.Context, id string, ids []string) (contract.AwaitResult, error) {
		view := viewOf(id)
		view.Status, view.Pending = contract.StatusWaitingApproval, []contract.PendingApproval{pending}
		return contract.AwaitResult{Conversation: view, Settled: []contract.Request{{
			ID: ids[0], Settled: true, Refused: contract.KindWaiting, Result: &contract.Result{
				Response: contract.Inline("Conversation is waiting for approval."), WaitingApproval: true, Approval: &pending,
			},
		}}}, nil
	}
	reply := a.do("POST", messages, `{"message":"x"}`)
	a.wantError(409, "waiting for approval", reply)
	if reply.text("result", "approval", "uuid") != someUUID || reply.text("conversation", "pending_approval", "uuid") != someUUID {
		t.Error(reply.raw)
	}
	if diff := cmp.Diff(map[string]any{"name": "disk"}, reply.at("result", "approval", "tool_args")); diff != "" {
		t.Error(diff)
	}
}

func completed(string, string, any) error {
	return service.Errorf(contract.KindCompleted, "conversation is completed")
}

func showingCompleted(r *contract.Request) func(id, requestID string) (contract.ConversationView, error) {
	return func(id, requestID string) (contract.ConversationView, error) {
		view := viewOf(id)
		view.Status, view.Request = contract.StatusCompleted, r
		return view, nil
	}
}

func TestACompletedConversation(t *testing.T) {
	a := newAPI(t, &fakeBackend{SignalFn: completed, ConversationFn: showingCompleted(nil)})
	for path, body := range map[string]string{messages: `{"message":"x"}`, "/conversations/" + someID + "/cancel": `{"reason":"x"}`} {
		reply := a.do("POST", path, body)
		a.wantError(409, "completed", reply)
		if reply.text("conversation", "status") != "completed" {
			t.Error(reply.raw)
		}
	}
	a.want(200, a.do("POST", "/conversations/"+someID+"/close", ""))
}

func TestARepeatedMessageToACompletedConversation(t *testing.T) {
	a := newAPI(t, &fakeBackend{SignalFn: completed, ConversationFn: showingCompleted(&contract.Request{
		Settled: true, Result: &contract.Result{Response: contract.Inline("first")},
	})})
	reply := a.want(200, a.do("POST", messages, `{"message":"x"}`, "Idempotency-Key: k"))
	if reply.text("result", "response") != "first" || reply.header.Get("Idempotency-Replayed") != "true" {
		t.Error(reply.raw, reply.header)
	}
}

func TestARepeatedMessage(t *testing.T) {
	answered := contract.Request{Settled: true, Fingerprint: "of the first body", Result: &contract.Result{Response: contract.Inline("first")}}
	a := newAPI(t, &fakeBackend{AdmitFn: func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
		view := viewOf(id)
		view.Request = new(answered)
		view.Request.ID = q.RequestID
		return view, nil
	}})
	other := a.do("POST", messages, `{"message":"x"}`, "Idempotency-Key: k")
	a.wantError(422, "different request", other)
	if got := other.header.Get("Idempotency-Replayed"); got != "" {
		t.Errorf("the refusal of another request has Idempotency-Replayed: %s", got)
	}
	answered.Fingerprint = ""
	reply := a.want(200, a.do("POST", messages, `{"message":"x"}`, "Idempotency-Key: k"))
	if reply.text("result", "response") != "first" || reply.header.Get("Idempotency-Replayed") != "true" {
		t.Error(reply.raw, reply.header)
	}
}

func TestAKeyUsedForAnotherMessage(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: settling(contract.Request{
		Settled: true, Fingerprint: "of another body", Result: &contract.Result{},
	})})
	a.wantError(422, "different request", a.do("POST", messages, `{"message":"x"}`, "Idempotency-Key: k"))
}

func TestRequestIDsComeFromKeyRouteAndConversation(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("ok")})
	send := func(path string, headers ...string) string {
		body := `{"message":"x"}`
		if !strings.HasSuffix(path, "/messages") {
			body = "{}"
		}
		a.want(200, a.do("POST", path, body, headers...))
		switch p := m.sent[len(m.sent)-1].payload.(type) {
		case contract.MessageSignal:
			return p.RequestID
		case contract.CancelSignal:
			return p.RequestID
		case contract.CloseSignal:
			return p.RequestID
		}
		return ""
	}
	first := send(messages, "Idempotency-Key: k")
	if again := send(messages, "Idempotency-Key: k"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	for _, who := range []string{"Authorization: Bearer alice", "X-Session-ID: 0123abcd"} {
		once := send(messages, "Idempotency-Key: k", who)
		if again := send(messages, "Idempotency-Key: k", who); again != once {
			t.Errorf("%s: a repetition is another request", who)
		}
	}
	for name, other := range map[string]string{
		"key":          send(messages, "Idempotency-Key: K"),
		"no key":       send(messages),
		"conversation": send("/conversations/"+otherID+"/messages", "Idempotency-Key: k"),
		"cancel":       send("/conversations/"+someID+"/cancel", "Idempotency-Key: k"),
		"close":        send("/conversations/"+someID+"/close", "Idempotency-Key: k"),
		"token":        send(messages, "Idempotency-Key: k", "Authorization: Bearer alice"),
		"other token":  send(messages, "Idempotency-Key: k", "Authorization: Bearer bob"),
		"session":      send(messages, "Idempotency-Key: k", "X-Session-ID: 0123abcd"),
	} {
		if other == first || !contract.IsUUID(other) {
			t.Errorf("%s: %q", name, other)
		}
	}
}

func TestCancelAndCloseCarryTheReason(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("ok")})
	a.want(200, a.do("POST", "/conversations/"+someID+"/cancel", `{"reason":"why","by":"me"}`))
	a.want(200, a.do("POST", "/conversations/"+someID+"/close", ``, "X-User: you"))
	stop, _ := m.sent[0].payload.(contract.CancelSignal)
	end, _ := m.sent[1].payload.(contract.CloseSignal)
	if m.sent[0].signal != "cancel" || stop.Reason != "why" || stop.By != "me" {
		t.Errorf("%+v", m.sent[0])
	}
	if m.sent[1].signal != "close" || end.Reason != "" || end.By != "you" {
		t.Errorf("%+v", m.sent[1])
	}
	a.wantError(400, "invalid request body", a.do("POST", "/conversations/"+someID+"/cancel", `{"reason":1}`))
	a.wantError(400, "reason", a.do("POST", "/conversations/"+someID+"/close", `{"reason":"`+strings.Repeat("x", 3000)+`"}`))
}

func TestShowLoadsStoredValuesAndHidesSecrets(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	big, _ := a.blobs.Put(t.Context(), []byte(`{"n":1}`))
	view := viewOf(someID)
	view.Transcript.Tail = []contract.Message{
		{ID: someUUID, Role: contract.RoleAssistant, CreatedAt: epoch, ToolCall: &contract.ToolCall{Name: "t", Arguments: contract.JSON{Blob: &big}}},
		{ID: otherID, Role: contract.RoleTool, CreatedAt: epoch, ToolCall: &contract.ToolCall{Name: "t", Result: contract.Text{Blob: &big}}},
		{ID: someID, Role: contract.RoleUser, CreatedAt: epoch, Approval: &contract.ApprovalResult{
			UUID: someUUID, ConversationID: someID, Tool: "t", Decision: contract.Approved, Credential: "v1.sealed",
			RequestedAt: epoch, DecidedAt: epoch,
		}},
	}
	a.backend.ConversationFn = func(string, string) (contract.ConversationView, error) { return view, nil }
	reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
	if strings.Contains(reply.raw, "sealed") || strings.Contains(reply.raw, "credential") {
		t.Errorf("a credential is in the reply: %s", reply.raw)
	}
	for _, part := range []string{`"arguments":{"n":1}`, `"arguments":null,"result":"{\"n\":1}"`, `"content":""`} {
		if !strings.Contains(reply.raw, part) {
			t.Errorf("%s is missing in %s", part, reply.raw)
		}
	}
}

func TestTheStatusOfARequest(t *testing.T) {
	path := "/conversations/" + someID + "/requests/" + otherID
	a := newAPI(t, &fakeBackend{})
	for status, r := range map[string]contract.Request{
		"running": {ID: otherID},
		"settled": {ID: otherID, Settled: true, Result: &contract.Result{Response: contract.Inline("done")}},
		"refused": {ID: otherID, Settled: true, Refused: contract.KindWaiting},
	} {
		a.backend.ConversationFn = func(id, requestID string) (contract.ConversationView, error) {
			view := viewOf(id)
			view.Request = &r
			return view, nil
		}
		reply := a.want(200, a.do("GET", path, ""))
		if reply.text("status") != status || (reply.header.Get("Retry-After") != "") != (status == "running") {
			t.Errorf("%s: %s", status, reply.raw)
		}
	}
	a.backend.ConversationFn = showing
	a.wantError(404, "request not found: "+otherID, a.do("GET", path, ""))
}

func TestADecisionThatHasNotReachedItsConversation(t *testing.T) {
	path := "/conversations/" + someID + "/requests/" + otherID + "?approval=" + someUUID
	a := newAPI(t, &fakeBackend{ConversationFn: showing})
	a.backend.ApprovalFn = func(string) (contract.ApprovalView, error) {
		return contract.ApprovalView{Result: &contract.ApprovalResult{RequestID: otherID}}, nil
	}
	if reply := a.want(200, a.do("GET", path, "")); reply.text("status") != "running" {
		t.Error(reply.raw)
	}
	a.backend.ApprovalFn = func(string) (contract.ApprovalView, error) { return contract.ApprovalView{}, nil }
	a.wantError(404, "request not found", a.do("GET", path, ""))
}

func TestFilesComeWithAMessage(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("ok")})
	const png = "iVBORw0KGgo="
	a.want(200, a.do("POST", messages, `{"message":"look","files":[{"name":"a.png","data":"`+png+`"},{"name":"n\n].md","media_type":"text/markdown","data":"aGk="}]}`))
	a.want(200, a.do("POST", messages, `{"files":[{"name":"a.png","media_type":"image/png","data":"`+png+`"}]}`))
	first, _ := m.sent[0].payload.(contract.MessageSignal)
	if first.Text.Inline != "look\n\n[image a.png]\n\n[file n?].md]\nhi" || len(first.Media) != 1 || first.Media[0].MIMEType != "image/png" || first.Media[0].Size != 8 {
		t.Errorf("%+v", first)
	}
	if second, _ := m.sent[1].payload.(contract.MessageSignal); second.Text.Inline != "[image a.png]" {
		t.Errorf("%+v", second)
	}
	for body, status := range map[string]int{
		`{"files":[]}`:                        400,
		`{"files":[{"data":"aGk="}]}`:         400,
		`{"files":[{"name":"x","data":""}]}`:  400,
		`{"files":[{"name":"x","data":"?"}]}`: 400,
		`{"files":[{"name":"` + strings.Repeat("x", 201) + `","data":"aGk="}]}`:                           400,
		`{"files":[{"name":"x.pdf","data":"JVBERi0xLjc="}]}`:                                              415,
		`{"files":[{"name":"x","media_type":"text/plain","data":"//4="}]}`:                                415,
		`{"files":[` + strings.Repeat(`{"name":"x","data":"aGk="},`, 16) + `{"name":"x","data":"aGk="}]}`: 413,
		`{"message":"` + strings.Repeat("x", 1<<20+1) + `"}`:                                              413,
		`{"message":"` + strings.Repeat("x", 8<<20) + `"}`:                                                413,
	} {
		a.want(status, a.do("POST", messages, body))
		a.want(status, a.do("POST", "/conversations", strings.Replace(body, `{"files":[]}`, `{"message":" "}`, 1)))
	}
	if len(m.sent) != 2 {
		t.Error("what was refused was sent")
	}
}
