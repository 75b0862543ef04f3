package gateway_test

import (
	"testing"
	"testing/synctest"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// keptFor says, by the approval's CallAs, which decisions carry their token.
var keptFor = map[contract.CallAs]bool{contract.CallAsApprover: true, contract.CallAsRequester: false, "": true}

const canaryToken = "Authorization: Bearer canary"

func subjectWith(as contract.CallAs) func(string) (service.Subject, error) {
	return func(string) (service.Subject, error) { return service.Subject{ConversationID: someID, CallAs: as}, nil }
}

func TestATokenIsSealedOnlyForADecisionThatUsesIt(t *testing.T) {
	for as, kept := range keptFor {
		check := func(via string, in contract.DecideSignal) {
			if in.Via != via || (in.Credential != "") != kept {
				t.Errorf("call_as %q, %s: decided %+v", as, via, in)
			}
		}
		var d desk
		b := d.backend()
		b.SubjectFn = subjectWith(as)
		newAPI(t, b).do("POST", approvalPath, `{"approved":true}`, canaryToken)
		if (d.record.Credential != "") != kept {
			t.Errorf("call_as %q, rest: decided %+v", as, d.record)
		}
		s, a, id := waiting(t)
		a.backend.SubjectFn = subjectWith(as)
		a.rpc("SendMessage", said("m-2", "approved", object{"taskId": id}), canaryToken)
		check("a2a", s.decided[approvalUUID])
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, destructive(someUUID))
			defer a.Close()
			a.backend.SubjectFn = subjectWith(as)
			a.run(resumeOf(resolved(someUUID, `{"approved":true}`)), canaryToken)
			check("ag-ui", s.decided[someUUID])
		})
	}
}

func TestTheMemoOfAnApprovalSaysWhoseTokenIsUsed(t *testing.T) {
	for as := range keptFor {
		there := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
		if as != "" {
			there.WorkflowExecutionInfo.Memo = &commonpb.Memo{Fields: payloads(map[string]any{contract.MemoCallAs: as})}
		}
		a := onTemporal(t, &fakeClient{DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return there, nil }})
		if got, err := a.Backend.Subject(t.Context(), someUUID); err != nil || got.CallAs != as {
			t.Errorf("%q: %+v, %v", as, got, err)
		}
	}
}
