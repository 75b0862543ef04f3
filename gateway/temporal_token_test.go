package gateway_test

import (
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

func TestALongTokenIsStoredOutsideHistory(t *testing.T) {
	long := "v1.k." + strings.Repeat("x", 20_000)
	var sent []string
	c := &fakeClient{
		SignalFn: func(_, _ string, arg any) error {
			switch arg := arg.(type) {
			case contract.MessageSignal:
				sent = append(sent, arg.Credential)
			case contract.DecideSignal:
				sent = append(sent, arg.Credential)
			}
			return nil
		},
		ExecuteFn: func(_ client.StartWorkflowOptions, _ any, args []any) (client.WorkflowRun, error) {
			sent = append(sent, args[0].(contract.ConversationInput).First.Credential)
			return fakeRun{}, nil
		},
		DescribeFn: func(id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			if strings.HasPrefix(id, "conversation-") {
				return nil, errMissing
			}
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
	}
	a := onTemporal(t, c)
	m := contract.MessageSignal{Text: contract.Inline("x"), Credential: long}
	if err := a.Backend.Signal(t.Context(), someID, contract.SignalMessage, m); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Backend.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: someID, First: &m}}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Backend.Decide(t.Context(), someUUID, contract.DecideSignal{Credential: long}); err != nil {
		t.Fatal(err)
	}
	if len(sent) != 3 {
		t.Fatalf("%d were sent", len(sent))
	}
	for _, s := range sent {
		if got, err := credential.Fetch(t.Context(), a.blobs, s); err != nil || got != long || len(s) > 200 {
			t.Errorf("sent %d bytes, which are %d, %v", len(s), len(got), err)
		}
	}
}

func TestTheTokenOfARefusedMessageIsNotStored(t *testing.T) {
	c := &fakeClient{
		DescribeFn: func(id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			if strings.HasPrefix(id, "conversation-") {
				return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
			}
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, nil), nil
		},
		ExecuteFn: func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
			return nil, &serviceerror.WorkflowExecutionAlreadyStarted{}
		},
	}
	a := onTemporal(t, c)
	long := "v1.k." + strings.Repeat("x", 20_000)
	there, err := a.Backend.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{
		ID: someID, First: &contract.MessageSignal{Text: contract.Inline("x"), Credential: long},
	}})
	if err != nil || !there.Existed {
		t.Errorf("%+v, %v", there, err)
	}
	if _, err := a.Backend.Decide(t.Context(), someUUID, contract.DecideSignal{Credential: long}); kindOf(err) != contract.KindDecided {
		t.Error(err)
	}
	if _, err := a.blobs.Get(t.Context(), contract.NewBlob([]byte(long))); err == nil {
		t.Error("the token was kept")
	}
}

func TestUnreadDecisionsAreLimited(t *testing.T) {
	for name, grow := range map[string]func(*workflowservice.DescribeWorkflowExecutionResponse){
		"events": func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.WorkflowExecutionInfo.HistoryLength = 2_000
		},
		"bytes": func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.WorkflowExecutionInfo.HistorySizeBytes = 2 << 20
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
			signals := 0
			b := onTemporal(t, &fakeClient{
				DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return d, nil },
				SignalFn:   func(string, string, any) error { signals++; return nil },
			}).Backend
			if _, err := b.Decide(t.Context(), someUUID, contract.DecideSignal{}); err != nil || signals != 1 {
				t.Fatalf("%d signals, %v", signals, err)
			}
			grow(d)
			if _, err := b.Decide(t.Context(), someUUID, contract.DecideSignal{}); kindOf(err) != service.KindUnavailable || signals != 1 {
				t.Errorf("%d signals, %v", signals, err)
			}
		})
	}
}
