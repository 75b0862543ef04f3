package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestSeveralDecisionsAreCarriedOutSingly(t *testing.T) {
	const yes, no, gone, late, other = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222",
		"33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444", "55555555-5555-4555-8555-555555555555"
	const conversation = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"
	var given sync.Map
	a := newAPI(t, &fakeBackend{
		SubjectFn: func(string) (service.Subject, error) { return service.Subject{ConversationID: conversation}, nil },
		ApprovalFn: func(uuid string) (contract.ApprovalView, error) {
			return contract.ApprovalView{Pending: contract.PendingApproval{UUID: uuid, Digest: "digest-" + uuid}}, nil
		},
		DecideFn: func(uuid string, s contract.DecideSignal) error {
			switch uuid {
			case gone:
				return service.NoApproval(uuid)
			case late:
				return service.Errorf(contract.KindDecided, "decided")
			case other:
				t.Error("an approval about other arguments is decided")
			}
			given.Store(uuid, s)
			return nil
		},
		DecisionFn: func(_ context.Context, uuid string) (contract.ApprovalResult, error) {
			r := contract.ApprovalResult{UUID: uuid, ConversationID: conversation, Tool: "add", Decision: contract.Rejected, By: "eve", RequestID: conversation, RequestedAt: epoch, DecidedAt: epoch}
			if v, ok := given.Load(uuid); ok {
				s := v.(contract.DecideSignal)
				if r.By, r.Reason, r.Via, r.RequestID = s.By, s.Reason, s.Via, s.RequestID; s.Approved {
					r.Decision = contract.Approved
				}
			}
			return r, nil
		},
	})
	body := `{"decisions":[
		{"uuid":"` + yes + `","approved":true,"by":"ops","tool_args_sha256":"digest-` + yes + `"},
		{"uuid":"` + no + `","approved":false,"reason":"no"},
		{"uuid":"` + gone + `","approved":true},
		{"uuid":"` + late + `","approved":true},
		{"uuid":"` + other + `","approved":true,"tool_args_sha256":"digest"},
		{"uuid":"x","approved":true}]}`
	var reply struct {
		Results []struct {
			UUID     string
			Status   int
			Error    string
			Decision *struct{ Decision, By, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(a.want(200, a.do("POST", "/approvals", body)).raw), &reply); err != nil || len(reply.Results) != 6 {
		t.Fatalf("%+v, %v", reply, err)
	}
	for i, want := range []struct {
		uuid     string
		status   int
		decision string
		error    string
	}{
		{yes, 200, "approved", ""}, {no, 200, "rejected", ""}, {gone, 404, "", "no conversation found"}, {late, 409, "rejected", "already rejected by eve"},
		{other, 409, "", "other arguments"}, {"x", 404, "", "no conversation found"},
	} {
		got := reply.Results[i]
		decision := ""
		if got.Decision != nil {
			decision = got.Decision.Decision
		}
		if got.UUID != want.uuid || got.Status != want.status || decision != want.decision || !strings.Contains(got.Error, want.error) || (want.error == "") != (got.Error == "") {
			t.Errorf("%d: %+v, expected %+v", i, got, want)
		}
	}
	if d := reply.Results[0].Decision; d.By != "ops" || reply.Results[1].Decision.Reason != "no" {
		t.Errorf("%+v, %+v", d, reply.Results[1].Decision)
	}
}

func TestDecisionsThatMakeNoSenseAreRefusedTogether(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for body, text := range map[string]string{
		`{}`: "1 to 100", `{"decisions":[]}`: "1 to 100", `{"decisions":[{"uuid":"x","approved":false,"Approved":true}]}`: "decisions[0]: approved is there twice", `{"decisions":[{"uuid":"x"}]}`: "decisions[0]: approved is required",
		`{"decisions":[{"uuid":"x","approved":true},{"uuid":"x","approved":false}]}`:                "decisions[1]: x is there twice",
		`{"decisions":[{"uuid":"x","approved":true,"tool_args_sha":"a digest that nobody reads"}]}`: "tool_args_sha",
		`{"decisions":[` + strings.Repeat(`{"uuid":"x","approved":true},`, 100) + `{}]}`:            "1 to 100",
	} {
		a.wantError(400, text, a.do("POST", "/approvals", body))
	}
}
