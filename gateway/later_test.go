package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/later"
)

func TestAnApprovalIsPutOffForTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept later.List
		a := newAPI(t, &fakeBackend{
			LaterFn: func(uuid string, d later.Deferral) error {
				if uuid != someUUID {
					t.Errorf("%s is put off", uuid)
				}
				kept = kept.Put(d, time.Now())
				return nil
			},
			WaitingFn: func(service.ListQuery) (service.Page[service.WaitingItem], error) {
				return service.Page[service.WaitingItem]{Items: []service.WaitingItem{{UUID: someUUID, ConversationID: someID, CreatedAt: epoch, Deferrals: kept}}}, nil
			},
			ApprovalFn: func(string) (contract.ApprovalView, error) {
				return contract.ApprovalView{Pending: contract.PendingApproval{UUID: someUUID, ConversationID: someID, CreatedAt: epoch}, Deferrals: kept}, nil
			},
		})
		const later2h = "2000-01-01T02:00:00Z" // synctest begins in 2000
		if got := a.want(200, a.do("POST", approvalPath+"/later", `{"for":"2h"}`)).text("deferred_until"); got != later2h {
			t.Errorf("put off until %s", got)
		}
		for _, path := range []string{"/approvals", approvalPath} {
			if got := a.want(200, a.do("GET", path, "")).raw; !strings.Contains(got, `"deferred_until":"`+later2h+`"`) {
				t.Errorf("%s: %s", path, got)
			}
		}
		time.Sleep(2 * time.Hour)
		if got := a.want(200, a.do("GET", "/approvals", "")).raw; strings.Contains(got, "deferred") {
			t.Errorf("the time is over: %s", got)
		}
		if got := a.want(200, a.do("POST", approvalPath+"/later", `{"for":"1d12h"}`)).text("deferred_until"); got != "2000-01-02T14:00:00Z" {
			t.Errorf("put off until %s", got)
		}
		a.want(200, a.do("POST", approvalPath+"/later", `{"until":"2000-01-02T00:00:00Z"}`))
		if got := a.want(200, a.do("POST", approvalPath+"/later", `{"for":"0s"}`)).raw; strings.Contains(got, "deferred") || len(kept) != 0 {
			t.Errorf("it is not back: %s, %v", got, kept)
		}
		a.Close()
	})
}

func TestWhatIsNoTimeIsRefused(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, body := range []string{`{}`, `{"for":"soon"}`, `{"for":"2h","until":"2000-01-02T00:00:00Z"}`, `{"for":"10000h"}`, `{"until":"tomorrow"}`, `{"when":1}`} {
		a.want(400, a.do("POST", approvalPath+"/later", body))
	}
	a.want(404, a.do("POST", "/approvals/no-uuid/later", `{"for":"2h"}`))
}

// doneHandle is the handle of an update without a result.
type doneHandle struct{ client.WorkflowUpdateHandle }

func (doneHandle) Get(context.Context, any) error { return nil }

func TestLaterOnTemporal(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		status int
	}{
		"taken":                    {nil, 200},
		"decided before":           {temporal.NewNonRetryableApplicationError("decided", string(contract.KindDecided), nil), 409},
		"too far away":             {temporal.NewNonRetryableApplicationError("far", string(contract.KindInvalid), nil), 400},
		"a worker of before":       {temporal.NewNonRetryableApplicationError("unknown update later", "", nil), 503},
		"no answer":                {&client.WorkflowUpdateServiceTimeoutOrCanceledError{}, 503},
		"something that is a bug":  {errors.New("surprise"), 500},
		"no approval of that name": {errMissing, 404},
	} {
		t.Run(name, func(t *testing.T) {
			a := onTemporal(t, &fakeClient{
				UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
					if o.WorkflowID != contract.ApprovalWorkflowID(someUUID) || o.UpdateName != later.Update {
						t.Errorf("%s to %s", o.UpdateName, o.WorkflowID)
					}
					return doneHandle{}, tc.err
				},
				DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, errMissing },
			})
			a.want(tc.status, a.do("POST", approvalPath+"/later", `{"for":"2h"}`))
		})
	}
}

func TestAListReadsWhoPutOff(t *testing.T) {
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	a := onTemporal(t, &fakeClient{ListFn: func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
		memo := map[string]any{later.Memo: later.List{{Until: until}, {Subject: "keys alice", Until: until}}}
		return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
			approvalExecution(someUUID, map[string]any{contract.AttrConversationID: someID}, memo),
		}}, nil
	}})
	got := a.want(200, a.do("GET", "/approvals", "")).raw
	if !strings.Contains(got, `"deferred_until":"`+until.Format(time.RFC3339)+`"`) || strings.Contains(got, "alice") {
		t.Error(got)
	}
}
