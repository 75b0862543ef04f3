package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func items(ids ...string) service.Page[service.Item] {
	var p service.Page[service.Item]
	for _, id := range ids {
		p.Items = append(p.Items, service.Item{ID: id, Status: contract.StatusActive, CreatedAt: epoch})
	}
	return p
}

func TestAnEmptyListIsNotNull(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		ListFn:    func(service.ListQuery) (service.Page[service.Item], error) { return items(), nil },
		WaitingFn: func(service.ListQuery) (p service.Page[service.WaitingItem], err error) { return p, nil },
	})
	const want = `{"conversations":[],"summary":{"total":0,"active":0,"waiting_approval":0,"completed":0}}` + "\n"
	for _, path := range []string{"/conversations", "/conversations?include=messages"} {
		if got := a.want(200, a.do("GET", path, "")).raw; got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := a.want(200, a.do("GET", "/approvals", "")).raw; got != `{"approvals":[]}`+"\n" {
		t.Error(got)
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	var asked []service.ListQuery
	a := newAPI(t, &fakeBackend{ListFn: func(q service.ListQuery) (service.Page[service.Item], error) {
		asked = append(asked, q)
		p := items(someID)
		if len(asked) == 1 {
			p.Next = []byte("token \x00\xff")
		}
		return p, nil
	}})
	first := a.want(200, a.do("GET", "/conversations?limit=1&status=active", ""))
	second := a.want(200, a.do("GET", "/conversations?limit=1&status=active&cursor="+first.text("next_cursor"), ""))
	want := []service.ListQuery{
		{Limit: 1, Status: contract.StatusActive},
		{Limit: 1, Status: contract.StatusActive, Token: []byte("token \x00\xff")},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if second.at("next_cursor") != nil {
		t.Error(second.raw)
	}
}

func TestBadListParameters(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, q := range []string{
		"limit=0", "limit=-1", "limit=201", "limit=x", "limit=1.5", "status=done", "include=all",
		"cursor=x", "cursor=AAAA", "cursor=%00", "cursor=AAAAAAAAAAAA",
	} {
		a.wantError(400, "expected", a.do("GET", "/conversations?"+q, ""))
	}
	a.wantError(400, "expected", a.do("GET", "/approvals?limit=0", ""))
}

func TestListWithMessagesLeavesOutDeletedConversations(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		ListFn: func(service.ListQuery) (service.Page[service.Item], error) {
			return items(someID, otherID, someUUID), nil
		},
		ConversationFn: func(id, _ string) (contract.ConversationView, error) {
			if id == otherID {
				return contract.ConversationView{}, service.Errorf(contract.KindNotFound, "gone")
			}
			return viewOf(id), nil
		},
	})
	list, _ := a.want(200, a.do("GET", "/conversations?include=messages", "")).at("conversations").([]any)
	if len(list) != 2 || list[0].(map[string]any)["id"] != someID || list[1].(map[string]any)["messages"] == nil {
		t.Errorf("%v", list)
	}
}

func TestOneUnreadableConversationDoesNotHideTheOthers(t *testing.T) {
	lost := contract.Text{Blob: &contract.Blob{SHA256: strings.Repeat("ab", 32), Size: 5000}}
	listed := items(someID, otherID)
	a := newAPI(t, &fakeBackend{
		ListFn: func(service.ListQuery) (service.Page[service.Item], error) { return listed, nil },
		ConversationFn: func(id, _ string) (contract.ConversationView, error) {
			view := viewOf(id)
			if id == otherID {
				view.Transcript.Tail = append(view.Transcript.Tail, contract.Message{ID: someUUID, Role: contract.RoleUser, Content: lost})
			}
			return view, nil
		},
	})
	list, _ := a.want(200, a.do("GET", "/conversations?include=messages", "")).at("conversations").([]any)
	if len(list) != 2 || list[0].(map[string]any)["problem"] != nil || list[1].(map[string]any)["id"] != otherID ||
		!strings.Contains(fmt.Sprint(list[1].(map[string]any)["problem"]), "the stored value "+lost.Blob.SHA256+" (5000 bytes) is lost") {
		t.Errorf("%v", list)
	}
	if !strings.Contains(a.logs.String(), otherID) {
		t.Errorf("the log does not name it: %s", a.logs)
	}
}

func TestAConversationThatDoesNotAnswerDoesNotHideTheOthers(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		ListFn: func(service.ListQuery) (service.Page[service.Item], error) { return items(someID, otherID), nil },
		ConversationFn: func(id, _ string) (contract.ConversationView, error) {
			if id == someID {
				return contract.ConversationView{}, service.Errorf(service.KindUnavailable, "no answer in time")
			}
			return viewOf(id), nil
		},
	})
	list, _ := a.want(200, a.do("GET", "/conversations?include=messages", "")).at("conversations").([]any)
	if len(list) != 2 || list[0].(map[string]any)["problem"] != "no answer in time" || list[1].(map[string]any)["problem"] != nil {
		t.Errorf("%v", list)
	}
}

func TestAWorkflowTaskThatKeepsFailingIsShown(t *testing.T) {
	task := &workflowpb.PendingWorkflowTaskInfo{Attempt: 3}
	a := onTemporal(t, &fakeClient{
		QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			return nil, serviceerror.NewDeadlineExceeded("no answer")
		},
		DescribeFn: func(id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			d := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
			d.WorkflowExecutionInfo.Execution = &commonpb.WorkflowExecution{WorkflowId: id}
			d.PendingWorkflowTask = task
			return d, nil
		},
	})
	a.wantError(503, "no answer in time", a.do("GET", "/conversations/"+someID, ""))
	task.Attempt = 9
	reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
	problem := reply.text("conversation", "problem")
	if !strings.Contains(problem, "failed 8 times") || !strings.HasSuffix(problem, "temporal workflow terminate --address t.example.com:7233 --namespace space-1 --workflow-id conversation-"+someID) || reply.text("conversation", "id") != someID {
		t.Error(reply.raw)
	}
}

func TestWaitingApprovals(t *testing.T) {
	a := newAPI(t, &fakeBackend{WaitingFn: func(service.ListQuery) (p service.Page[service.WaitingItem], err error) {
		p.Items = []service.WaitingItem{{UUID: someUUID, ConversationID: someID, ToolName: "resources_add", CreatedAt: epoch, URL: approvalPath}}
		p.Next = []byte("more")
		return p, nil
	}})
	reply := a.want(200, a.do("GET", "/approvals", ""))
	if list, _ := reply.at("approvals").([]any); len(list) != 1 || reply.text("next_cursor") == "" {
		t.Error(reply.raw)
	}
}

func TestTheListOfWaitingApprovalsSufficesToDecide(t *testing.T) {
	expiry := epoch.Add(time.Hour)
	card := contract.Card{
		Server: "resources", Node: "writer", NodePath: []int{1}, Chain: []string{"helper", "writer"}, Reason: contract.ReasonRemote,
		Description: "**ADD Resource**", Arguments: contract.JSON{Raw: []byte(`{"name":"disk"}`)}, Digest: "d1",
		Answer: contract.AnswerYesOrNo, ExpiresAt: &expiry,
	}
	const other = "0b8c9d0e-1f2a-5b3c-8d4e-5f6a7b8c9d0e"
	a := onTemporal(t, &fakeClient{ListFn: func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
		attributes := map[string]any{contract.AttrConversationID: someID, contract.AttrToolName: "delegate", contract.AttrAgentName: "helper"}
		return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
			approvalExecution(someUUID, attributes, map[string]any{contract.MemoCard: card}),
			approvalExecution(other, attributes, nil), // opened by a worker that wrote no cards
		}}, nil
	}}) // a query of a workflow would panic
	const rest = `"conversation_id":"` + someID + `","agent_name":"helper","tool_name":"delegate","created_at":"2026-03-01T10:00:00Z"`
	const want = `{"approvals":[{"uuid":"` + someUUID + `",` + rest + `,"server":"resources","node":"writer","node_path":[1],` +
		`"chain":["helper","writer"],"reason":"remote","description":"**ADD Resource**","tool_args":{"name":"disk"},` +
		`"tool_args_sha256":"d1","answer":"yes_or_no","expires_at":"2026-03-01T11:00:00Z","url":"` + approvalPath + `"},` +
		`{"uuid":"` + other + `",` + rest + `,"url":"/approvals/` + other + `"}]}` + "\n"
	if diff := cmp.Diff(want, a.want(200, a.do("GET", "/approvals", "")).raw); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func approvalExecution(uuid string, attributes, memo map[string]any) *workflowpb.WorkflowExecutionInfo {
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: contract.ApprovalWorkflowID(uuid)}, StartTime: timestamppb.New(epoch),
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: payloads(attributes)}, Memo: &commonpb.Memo{Fields: payloads(memo)},
	}
}

func TestTheSummaryIsCountedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counted atomic.Int64
		a := newAPI(t, &fakeBackend{
			ListFn:    func(service.ListQuery) (service.Page[service.Item], error) { return items(), nil },
			SummaryFn: func() (service.Summary, error) { return service.Summary{Total: counted.Add(1)}, nil },
		})
		for range 3 {
			a.want(200, a.do("GET", "/conversations", ""))
		}
		if counted.Load() != 1 {
			t.Errorf("counted %d times", counted.Load())
		}
		time.Sleep(time.Second)
		if got := a.want(200, a.do("GET", "/conversations", "")).at("summary", "total"); got != 2.0 {
			t.Errorf("total %v", got)
		}
		a.Close()
	})
}

func TestTheCatalogueIsCurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(t, &fakeBackend{})
		name := "first"
		a.backend.CatalogueFn = catalogueNamed(&name)
		model := func() string { return a.want(200, a.do("GET", "/tools", "")).text("model", "name") }
		got := []string{model()}
		name = "second"
		got = append(got, model()) // loaded a moment ago
		time.Sleep(2 * time.Second)
		got = append(got, model())
		a.backend.CatalogueFn = nil
		a.want(200, a.do("GET", "/health/ready", ""))
		time.Sleep(2 * time.Second)
		a.want(503, a.do("GET", "/health/ready", ""))
		if diff := cmp.Diff([]string{"first", "first", "second"}, got); diff != "" {
			t.Error(diff)
		}
		a.Close()
	})
}

func TestAFailedLoadIsNotKept(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	a.wantError(500, "internal", a.do("GET", "/tools", ""))
	name := "back"
	a.backend.CatalogueFn = catalogueNamed(&name)
	a.want(200, a.do("GET", "/tools", ""))
}

func TestListFailures(t *testing.T) {
	down := service.Errorf(service.KindUnavailable, "the workflow service is not available: %w", errors.New("dial"))
	a := newAPI(t, &fakeBackend{ListFn: func(service.ListQuery) (p service.Page[service.Item], err error) { return p, down }})
	reply := a.do("GET", "/conversations", "")
	a.wantError(503, "not available", reply)
	if reply.header.Get("Retry-After") != "1" {
		t.Error("no Retry-After")
	}
}

func TestASearchSaysHowFarItWent(t *testing.T) {
	a := newAPI(t, &fakeBackend{ListFn: func(service.ListQuery) (service.Page[service.Item], error) {
		return service.Page[service.Item]{Items: []service.Item{
			{ID: someID, Title: "Fruit", Status: contract.StatusActive, CreatedAt: epoch, UpdatedAt: epoch},
			{ID: otherID, Title: "Invoices", Status: contract.StatusActive, CreatedAt: epoch, UpdatedAt: epoch},
		}, Next: []byte("next")}, nil
	}}, func(d *gateway.Deps) {
		d.Exports = fstest.MapFS{contract.ConversationFile(otherID): {Data: []byte(`{"messages":[{"role":"user","content":"pay for the fruit"}]}`)}}
	})
	r := a.want(200, a.do("GET", "/conversations?q=FRUIT&limit=2", ""))
	for _, part := range []string{someID, `"excerpt":"pay for the fruit"`, `"search":{"searched":2,"texts":1}`, `"next_cursor"`} {
		if !strings.Contains(r.raw, part) {
			t.Errorf("%s is missing in %s", part, r.raw)
		}
	}
	a.wantError(400, "q: expected", a.do("GET", "/conversations?q=", ""))
	a.wantError(400, "q: expected", a.do("GET", "/conversations?q="+strings.Repeat("x", 201), ""))
}
