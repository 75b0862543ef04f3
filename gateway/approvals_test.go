package gateway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
)

// desk is an approval that takes the first decision.
type desk struct {
	mu     sync.Mutex
	record *contract.ApprovalResult
	tool   int // number of runs
}

func (d *desk) decide(uuid string, in contract.DecideSignal) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.record != nil {
		return service.Errorf(contract.KindDecided, "decided")
	}
	d.record = &contract.ApprovalResult{
		UUID: uuid, ConversationID: someID, Tool: "resources_add", Decision: contract.Rejected, By: in.By, Reason: in.Reason,
		Via: in.Via, RequestID: in.RequestID, RequestedAt: epoch, DecidedAt: epoch, Credential: in.Credential,
	}
	if in.Approved {
		d.record.Decision = contract.Approved
		d.tool++
	}
	return nil
}

func (d *desk) decision(context.Context, string) (contract.ApprovalResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return *d.record, nil
}

func (d *desk) backend() *fakeBackend {
	return &fakeBackend{
		DecideFn: d.decide, DecisionFn: d.decision, AwaitFn: answering("done"), ConversationFn: showing,
	}
}

const approvalPath = "/approvals/" + someUUID

func TestFormsOfAnAnswer(t *testing.T) {
	for body, want := range map[string]contract.Decision{
		`{"approved":true,"by":"ops","reason":"fine"}`: contract.Approved,
		`{"approved":false}`:                           contract.Rejected,
		`{"approved":"yes"}`:                           contract.Approved,
		`{"action":"approve"}`:                         contract.Approved,
		`{"answer":" No "}`:                            contract.Rejected,
		`"ok"`:                                         contract.Approved,
		`false`:                                        contract.Rejected,
	} {
		var d desk
		a := newAPI(t, d.backend())
		reply := a.want(200, a.do("POST", approvalPath, body))
		if d.record.Decision != want || d.record.Via != "rest" {
			t.Errorf("%s: %+v", body, d.record)
		}
		if reply.text("result", "response") != "done" || reply.text("conversation", "id") != someID {
			t.Errorf("%s: %s", body, reply.raw)
		}
	}
}

func TestInvalidAnswersLeaveTheApprovalPending(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, body := range []string{
		``, `{}`, `null`, `[]`, `1`, `"maybe"`, `{"answer":"maybe"}`, `{"approved":1}`, `{"foo":true}`,
		`{"approved":true,"answer":"no"}`, `{"approved":true,"by":1}`,
	} {
		a.wantError(400, answer.Accepted, a.do("POST", approvalPath, body))
		a.wantError(400, answer.Accepted, a.do("POST", "/approvals/unknown", body))
	}
	for _, body := range []string{`{`, `yes`, `{"approved":true} x`} {
		a.wantError(400, "invalid request body: ", a.do("POST", approvalPath, body))
	}
}

func TestAnUnknownApproval(t *testing.T) {
	missing := service.Errorf(contract.KindNotFound, "no conversation found with approval UUID: %s", someUUID)
	a := newAPI(t, &fakeBackend{
		DecideFn:   func(string, contract.DecideSignal) error { return missing },
		SubjectFn:  func(string) (service.Subject, error) { return service.Subject{}, missing },
		ApprovalFn: func(string) (contract.ApprovalView, error) { return contract.ApprovalView{}, missing },
	})
	const text = "no conversation found with approval UUID: "
	a.wantError(404, text+someUUID, a.do("POST", approvalPath, `{"approved":true}`))
	a.wantError(404, text+someUUID, a.do("POST", approvalPath, `{"approved":true}`, "Authorization: Bearer x"))
	a.wantError(404, text+someUUID, a.do("GET", approvalPath, ""))
	a.wantError(404, text+"nope", a.do("POST", "/approvals/nope", `{"approved":true}`))
}

func TestOneOfTwelveConcurrentDecisionsCounts(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	replies := make([]reply, 12)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = a.do("POST", approvalPath, `{"approved":true,"by":"ops"}`) })
	}
	all.Wait()
	won := 0
	for _, r := range replies {
		if r.status == 200 {
			won++
			continue
		}
		a.wantError(409, "was already approved by ops", r)
		if r.text("decision", "decision") != "approved" || r.text("conversation", "id") != someID {
			t.Error(r.raw)
		}
	}
	if won != 1 || d.tool != 1 {
		t.Errorf("%d won, the tool ran %d times", won, d.tool)
	}
}

func TestARepeatedDecisionGetsTheFirstAnswer(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	const key = "Idempotency-Key: k"
	first := a.want(200, a.do("POST", approvalPath, `{"approved":true}`, key))
	again := a.want(200, a.do("POST", approvalPath, `{"approved":true}`, key))
	if first.raw != again.raw || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s\nthen %s", first.raw, again.raw)
	}
	a.wantError(422, "different request", a.do("POST", approvalPath, `{"approved":false}`, key))
	a.want(409, a.do("POST", approvalPath, `{"approved":true}`, "Idempotency-Key: other"))
}

func TestTheTokenOfADecisionIsSealedAndNeverShown(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	a.want(200, a.do("POST", approvalPath, `{"approved":true}`, "Authorization: Bearer canary", "X-User: ops"))
	token, err := a.keys.Open(someID, d.record.Credential, time.Now())
	if err != nil || token.Bearer != "canary" || d.record.By != "ops" {
		t.Errorf("%+v: %v", d.record, err)
	}
	late := a.want(409, a.do("POST", approvalPath, `{"approved":true}`))
	a.backend.ApprovalFn = func(string) (contract.ApprovalView, error) {
		return contract.ApprovalView{Pending: contract.PendingApproval{UUID: someUUID, ConversationID: someID}, Result: d.record}, nil
	}
	shown := a.want(200, a.do("GET", approvalPath, ""))
	if strings.Contains(late.raw+shown.raw, "v1.") || shown.text("status") != "approved" || shown.text("decision", "by") != "ops" {
		t.Errorf("%s\n%s", late.raw, shown.raw)
	}
}

func TestADecisionWithoutAResultInTime(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend(), impatient)
	a.backend.AwaitFn = never
	reply := a.want(202, a.do("POST", approvalPath, `{"approved":true}`))
	want := "/conversations/" + someID + "/requests/" + d.record.RequestID + "?approval=" + someUUID
	if got := reply.header.Get("Location"); got != want && got != approvalPath {
		t.Errorf("Location %q", got)
	}
	a.backend.DecisionFn = func(ctx context.Context, _ string) (contract.ApprovalResult, error) {
		<-ctx.Done()
		return contract.ApprovalResult{}, ctx.Err()
	}
	reply = a.want(202, a.do("POST", approvalPath, `{"approved":true}`))
	if got := reply.header.Get("Location"); got != approvalPath+"?request_id="+reply.text("request_id") {
		t.Errorf("Location %q", got)
	}
}

func TestAnAcceptedDecisionThatLostIsReported(t *testing.T) {
	var record *contract.ApprovalResult
	a := newAPI(t, &fakeBackend{
		DecideFn: func(string, contract.DecideSignal) error { return nil },
		DecisionFn: func(ctx context.Context, _ string) (contract.ApprovalResult, error) {
			<-ctx.Done()
			return contract.ApprovalResult{}, ctx.Err()
		},
		ApprovalFn: func(uuid string) (contract.ApprovalView, error) {
			return contract.ApprovalView{Pending: contract.PendingApproval{UUID: uuid, ConversationID: someID}, Result: record}, nil
		},
	}, impatient)
	accepted := a.want(202, a.do("POST", approvalPath, `{"approved":true}`))
	mine, location := accepted.text("request_id"), accepted.header.Get("Location")
	for _, tt := range []struct {
		record          *contract.ApprovalResult
		status, problem string
	}{
		{nil, "running", ""},
		{&contract.ApprovalResult{UUID: someUUID, Decision: contract.Approved, RequestID: mine, By: "me"}, "settled", ""},
		{&contract.ApprovalResult{UUID: someUUID, Decision: contract.Rejected, RequestID: otherID, By: "bob"}, "refused",
			"approval " + someUUID + " was already rejected by bob"},
	} {
		record = tt.record
		reply := a.want(200, a.do("GET", location, ""))
		if reply.text("request", "status") != tt.status || tt.problem != "" && reply.text("request", "error") != tt.problem || reply.text("request", "request_id") != mine {
			t.Errorf("%s: %s", tt.status, reply.raw)
		}
	}
	a.wantError(404, "request not found: nope", a.do("GET", approvalPath+"?request_id=nope", ""))
}

func TestTheRecordOfADecisionOutlivesTheConversation(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	a.want(200, a.do("POST", approvalPath, `{"approved":false}`))
	a.backend.ConversationFn = func(id, _ string) (contract.ConversationView, error) {
		return contract.ConversationView{}, service.Errorf(contract.KindNotFound, "conversation not found: %s", id)
	}
	reply := a.do("POST", approvalPath, `{"approved":true}`)
	a.wantError(409, "was already rejected", reply)
	if reply.text("decision", "decision") != "rejected" || reply.at("conversation") != nil {
		t.Error(reply.raw)
	}
}

func TestAPendingApprovalIsShownWithItsProblem(t *testing.T) {
	a := newAPI(t, &fakeBackend{ApprovalFn: func(uuid string) (contract.ApprovalView, error) {
		return contract.ApprovalView{Problem: "not JSON", Pending: contract.PendingApproval{UUID: uuid, ConversationID: someID}}, nil
	}})
	reply := a.want(200, a.do("GET", approvalPath, ""))
	if reply.text("status") != "pending" || reply.text("problem") != "not JSON" || reply.at("decision") != nil {
		t.Error(reply.raw)
	}
}

func TestADecisionIsReportedDespiteAFailedRead(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	await := a.backend.AwaitFn
	a.backend.AwaitFn = func(context.Context, string, []string) (contract.AwaitResult, error) {
		return contract.AwaitResult{}, service.Errorf(service.KindUnavailable, "too many updates")
	}
	const key = "Idempotency-Key: k"
	reply := a.want(202, a.do("POST", approvalPath, `{"approved":true}`, key))
	if reply.text("decision", "decision") != "approved" || !strings.Contains(reply.text("problem"), "too many updates") || reply.header.Get("Location") == "" {
		t.Error(reply.raw)
	}
	a.backend.AwaitFn = func(ctx context.Context, id string, requests []string) (contract.AwaitResult, error) {
		out, err := await(ctx, id, requests)
		lost := contract.Text{Blob: &contract.Blob{SHA256: strings.Repeat("a", 64), Size: 70_000}}
		out.Conversation.Transcript.Tail = append(out.Conversation.Transcript.Tail,
			contract.Message{ID: "lost", Role: contract.RoleAssistant, Content: lost}, contract.Message{ID: "there", Role: contract.RoleAssistant, Content: contract.Inline("done")})
		for i := range out.Settled {
			out.Settled[i].Result = &contract.Result{Response: lost}
		}
		return out, err
	}
	d.record, d.tool = nil, 0
	reply = a.want(200, a.do("POST", approvalPath, `{"approved":true}`, "Idempotency-Key: other"))
	if !strings.Contains(reply.text("problem"), "was carried out") || !strings.Contains(reply.raw, `"done"`) || strings.Count(reply.raw, "cannot be read.") != 2 || d.tool != 1 {
		t.Errorf("the tool ran %d times: %s", d.tool, reply.raw)
	}
}

func TestASentDecisionIsReported(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	a.backend.DecisionFn = func(context.Context, string) (contract.ApprovalResult, error) {
		return contract.ApprovalResult{}, service.Errorf(service.KindUnavailable, "away")
	}
	reply := a.want(202, a.do("POST", approvalPath, `{"approved":true}`))
	if !strings.Contains(reply.text("problem"), "was sent") || !strings.HasPrefix(reply.header.Get("Location"), approvalPath+"?request_id=") {
		t.Error(reply.raw)
	}
}

func TestAnApprovalHasWhatADelegationContinues(t *testing.T) {
	waits := destructive(someUUID)
	waits.Continues = &delegation.Point{ContextID: "c", TaskID: "t1", EndedAt: epoch.Add(time.Hour), Since: epoch}
	_, a := asking(t, waits)
	r := a.want(200, a.do("GET", "/conversations/"+someID, ""))
	c := at(r.body, "conversation.pending_approvals.0.continues")
	if at(c, "task_id") != "t1" || at(c, "context_id") != "c" || at(c, "ended_at") != epoch.Add(time.Hour).Format(time.RFC3339) || at(c, "since") == nil {
		t.Errorf("%s", r.raw)
	}
}
