package gateway_test

import (
	"encoding/json"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// TestWhatHasAnIdentityHasAProof compares what is sent with what a workflow receives.
func TestWhatHasAnIdentityHasAProof(t *testing.T) {
	type sent struct {
		workflow, name, proof string
		payload               any
	}
	var all []sent
	a := onTemporal(t, &fakeClient{
		SignalFn: func(id, name string, arg any) error {
			s := sent{workflow: id, name: name, payload: arg}
			switch arg := arg.(type) {
			case contract.MessageSignal:
				s.proof = arg.Proof
			case contract.CancelSignal:
				s.proof = arg.Proof
			case contract.CloseSignal:
				s.proof = arg.Proof
			case contract.DecideSignal:
				s.proof = arg.Proof
			}
			all = append(all, s)
			return nil
		},
		ExecuteFn: func(o client.StartWorkflowOptions, workflow any, args []any) (client.WorkflowRun, error) {
			in := args[0].(contract.ConversationInput)
			all = append(all, sent{o.ID, workflow.(string), in.Proof, in.Start()})
			return fakeRun{}, nil
		},
		DecideFn: func(id string, in contract.DecideSignal) (contract.ApprovalResult, error) { // then it is signalled
			all = append(all, sent{id, contract.UpdateDecide, in.Proof, in})
			return contract.ApprovalResult{}, temporal.NewApplicationError("unknown update", "")
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
	})
	send := func(by contract.Identity) {
		t.Helper()
		m := contract.MessageSignal{RequestID: someUUID, Text: contract.Inline("<x> & y"), Identity: by}
		_, started := a.Backend.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: someID, Owner: by, First: &m}})
		_, decided := a.Backend.Decide(t.Context(), someUUID, contract.DecideSignal{Approved: true, By: by.Subject, Identity: by})
		for _, err := range []error{
			started, decided,
			a.Backend.Signal(t.Context(), someID, contract.SignalMessage, m),
			a.Backend.Signal(t.Context(), someID, contract.SignalCancel, contract.CancelSignal{Reason: "x", Identity: by}),
			a.Backend.Signal(t.Context(), someID, contract.SignalClose, contract.CloseSignal{Reason: "x", Identity: by}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	send(contract.Identity{Subject: "alice", Issuer: "keys", Scopes: []string{contract.ScopeConverse}, Channel: contract.ChannelREST})
	if len(all) != 6 {
		t.Fatalf("%d were sent", len(all))
	}
	for _, s := range all {
		payload, err := converter.GetDefaultDataConverter().ToPayload(s.payload)
		if err != nil {
			t.Fatal(err)
		}
		if !a.keys.Proves(s.workflow, s.name, json.RawMessage(payload.GetData()), s.proof) {
			t.Errorf("%s to %s is not proven", s.name, s.workflow)
		}
	}
	all = nil
	send(contract.Identity{})
	for _, s := range all {
		if s.proof != "" {
			t.Errorf("%s without an identity has a proof", s.name)
		}
	}
}
