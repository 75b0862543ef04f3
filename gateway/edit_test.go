package gateway_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
)

func TestAnApprovalWithChanges(t *testing.T) {
	var d desk
	var sent []contract.DecideSignal
	a := newAPI(t, d.backend())
	a.backend.DecideFn = func(uuid string, in contract.DecideSignal) error {
		sent = append(sent, in)
		err := d.decide(uuid, in)
		if len(in.Edit) > 0 && err == nil {
			d.record.Revision = &contract.Revision{Arguments: contract.JSON{Raw: []byte(`{"amount":400}`)}, Changes: []edit.Change{{Name: "amount", Before: "700", After: "400"}}, Edit: contract.Hash([]byte(`{"amount":400}`))}
		}
		return err
	}
	a.backend.ApprovalFn = func(uuid string) (contract.ApprovalView, error) {
		return contract.ApprovalView{Pending: contract.PendingApproval{UUID: uuid, ConversationID: someID, Edit: []string{"amount"}}}, nil
	}
	a.wantError(400, "what may be changed is amount", a.do("POST", approvalPath, `{"approved":true,"edit":{"name":"x"}}`))
	a.wantError(400, "is there twice", a.do("POST", approvalPath, `{"approved":true,"edit":{"amount":1,"amount":2}}`))
	a.wantError(400, "changes come with a yes", a.do("POST", approvalPath, `{"approved":false,"edit":{"amount":1}}`))
	a.wantError(400, "must be an object", a.do("POST", approvalPath, `{"approved":true,"edit":400}`))
	a.wantError(400, "edit", a.do("POST", approvalPath, `{"approved":true,"edit":{"amount":1},"Edit":{"amount":2}}`))
	if len(sent) != 0 {
		t.Fatalf("sent %+v", sent)
	}
	const key = "Idempotency-Key: k"
	a.want(200, a.do("POST", approvalPath, `{"approved":true,"edit":{"amount":400}}`, key))
	if string(sent[0].Edit) != `{"amount":400}` || !sent[0].Approved {
		t.Errorf("sent %+v", sent[0])
	}
	a.want(200, a.do("POST", approvalPath, `{"approved":true,"edit":{ "amount": 400 }}`, key))
	a.wantError(422, "different request", a.do("POST", approvalPath, `{"approved":true,"edit":{"amount":300}}`, key))
	a.wantError(422, "different request", a.do("POST", approvalPath, `{"approved":true}`, key))
	a.wantError(409, "already approved", a.do("POST", approvalPath, `{"approved":true,"edit":{"amount":300}}`))
}
