package gateway_test

import (
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const treePath = "/conversations/" + someID + "/tree"

// treeOf waits in a parallel node, after a step and before another.
func treeOf(id string) contract.TreeView {
	leaf := func(name string) contract.Node {
		return contract.Node{Name: name, Type: contract.NodeLLM, Model: contract.DemoModel, OutputKey: name}
	}
	loop := contract.Node{Name: "polish", Type: contract.NodeLoop, Nodes: []contract.Node{leaf("write")}}
	act := contract.Node{Name: "act", Type: contract.NodeParallel, Nodes: []contract.Node{leaf("add"), {Name: "ask", Type: contract.NodeA2A}}}
	done := contract.NodeState{
		Status: contract.NodeDone, StartedAt: epoch, EndedAt: epoch.Add(time.Second), Output: contract.Inline("ok"),
		Usage: contract.Usage{InputTokens: 1, OutputTokens: 2, CachedTokens: 3}, Iteration: 1,
	}
	waits := contract.NodeState{Status: contract.NodeWaiting, StartedAt: epoch, Approvals: []string{someUUID}}
	return contract.TreeView{
		ConversationID: id, Turn: 2,
		Node: contract.Node{Name: "pipeline", Type: contract.NodeSequential, Nodes: []contract.Node{loop, act, leaf("report")}},
		State: contract.NodeState{Status: contract.NodeRunning, Run: "conversation-" + id + "/turn-2/pipeline", StartedAt: epoch,
			Nodes: []contract.NodeState{done, {Status: contract.NodeRunning, Nodes: []contract.NodeState{waits, {}}}}},
	}
}

func showingTree(id string) (contract.TreeView, error) { return treeOf(id), nil }

// statuses lists the statuses of a tree, each node before those inside it.
func statuses(node any) string {
	n, _ := node.(map[string]any)
	out := []string{n["name"].(string) + ":" + n["status"].(string)}
	inside, _ := n["agents"].([]any)
	for _, a := range inside {
		out = append(out, statuses(a))
	}
	return strings.Join(out, " ")
}

func TestATreeIsShownWithTheStateOfEveryNode(t *testing.T) {
	a := newAPI(t, &fakeBackend{TreeFn: showingTree})
	reply := a.want(200, a.do("GET", treePath, ""))
	if reply.text("conversation_id") != someID || reply.at("turn") != 2.0 || !strings.Contains(reply.raw, someUUID) {
		t.Error(reply.raw)
	}
	const want = "pipeline:waiting polish:done write:skipped act:waiting add:waiting ask:pending report:pending"
	if got := statuses(reply.at("tree")); got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
}

func TestATreeBeforeTheFirstMessage(t *testing.T) {
	a := newAPI(t, &fakeBackend{TreeFn: func(id string) (contract.TreeView, error) {
		return contract.TreeView{ConversationID: id, Node: contract.Agent{Model: contract.DemoModel}.Root()}, nil
	}})
	reply := a.want(200, a.do("GET", treePath, ""))
	if reply.at("turn") != 0.0 || reply.text("tree", "status") != "pending" {
		t.Error(reply.raw)
	}
}

func TestATreeOfNoConversation(t *testing.T) {
	a := newAPI(t, &fakeBackend{TreeFn: func(id string) (contract.TreeView, error) {
		return contract.TreeView{}, service.Errorf(contract.KindNotFound, "conversation not found: %s", id)
	}})
	a.wantError(404, "conversation not found: "+someID, a.do("GET", treePath, ""))
	for _, id := range []string{"nope", "..%2f" + someID, strings.ToUpper(someID), someID + "x"} {
		a.wantError(404, "conversation not found: ", a.do("GET", "/conversations/"+id+"/tree", "")) // no backend call
	}
	a.wantError(405, "not allowed", a.do("POST", treePath, ""))
}

func TestATreeWithALostOutput(t *testing.T) {
	a := newAPI(t, &fakeBackend{TreeFn: func(id string) (contract.TreeView, error) {
		v, lost := treeOf(id), contract.NewBlob([]byte("never stored"))
		v.State.Nodes[0].Output = contract.Text{Blob: &lost}
		return v, nil
	}})
	a.wantError(500, "(12 bytes) is lost", a.do("GET", treePath, ""))
}

func TestATreeIsAQueryOfItsConversation(t *testing.T) {
	var v contract.TreeView
	closed := false
	a := onTemporal(t, &fakeClient{QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		if r.WorkflowID != "conversation-"+someID || r.QueryType != "tree" || len(r.Args) != 0 {
			t.Errorf("query %+v", r)
		}
		if closed {
			return queriedClosed(r, v)
		}
		return queried(v)
	}})
	show := func() string { return statuses(a.want(200, a.do("GET", treePath, "")).at("tree")) }

	v = treeOf(someID)
	if got := show(); !strings.HasPrefix(got, "pipeline:waiting") {
		t.Error(got)
	}
	closed = true // terminated in the middle of a turn
	if got := show(); got != "pipeline:cancelled polish:done write:skipped act:cancelled add:cancelled ask:skipped report:skipped" {
		t.Error(got)
	}
	v.State.Status = contract.NodeDone
	if got := show(); !strings.HasPrefix(got, "pipeline:done") {
		t.Error(got)
	}
	v.State = contract.NodeState{}
	if got := show(); !strings.HasPrefix(got, "pipeline:pending") {
		t.Error(got)
	}
}

// unknownQuery is the error of an SDK worker for a query that it does not have.
func unknownQuery(t *testing.T) error {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment().SetTestTimeout(2 * time.Minute).
		SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 2 * time.Minute})
	env.ExecuteWorkflow(func(workflow.Context) error { return nil })
	_, err := env.QueryWorkflow(contract.QueryTree)
	if err == nil {
		t.Fatal("the query is known")
	}
	return serviceerror.NewQueryFailed(err.Error())
}

func TestErrorsOfTreeQueries(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		text   string
	}{
		{errMissing, 404, "conversation not found: " + someID},
		{unknownQuery(t), 503, "older version"},
		{serviceerror.NewQueryFailed("bug"), 500, "internal error"},
		{serviceerror.NewFailedPrecondition("no poller"), 503, "no answer in time"},
	} {
		a := onTemporal(t, &fakeClient{
			QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
				return nil, c.err
			},
		})
		reply := a.do("GET", treePath, "")
		a.wantError(c.status, c.text, reply)
		if c.status != 404 && strings.Contains(reply.raw, c.err.Error()) {
			t.Errorf("%v is in the reply: %s", c.err, reply.raw)
		}
	}
}

func TestAPausedTreeIsPartOfItsConversation(t *testing.T) {
	input := contract.ApprovalInput{
		UUID: someUUID, ConversationID: someID, NodePath: []int{1, 0}, Node: "add", Tool: "a2a_remote", Description: "May I?",
		Reason: contract.ReasonRemote, CreatedAt: epoch,
	}
	view := viewOf(someID)
	view.Status, view.Pending = contract.StatusWaitingApproval, []contract.PendingApproval{input.Pending()}
	view.Pipeline = &contract.PipelineState{
		Path: []int{1, 0}, OutputKey: "add", State: contract.State{{Key: "plan", Text: contract.Inline("Add it")}}, UserMessage: contract.Inline("Go"),
	}
	view.Transcript.Tail = []contract.Message{{Segment: &contract.Segment{Run: "r", Transcript: &contract.Transcript{Tail: []contract.Message{
		{ID: otherID, Role: contract.RoleAssistant, Content: contract.Inline("[plan] Add it"), Node: "plan", CreatedAt: epoch},
	}}}}}
	closed := false
	a := onTemporal(t, &fakeClient{QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		if closed {
			return queriedClosed(r, view)
		}
		return queried(view)
	}})
	reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
	for _, part := range []string{
		`"pipeline_state":{"paused_node_path":[1,0],"paused_node_output_key":"add","session_state":{"plan":"Add it"},"user_message":"Go"}`,
		`"node":"add","node_path":[1,0]`, `"node":"plan"`,
	} {
		if !strings.Contains(reply.raw, part) {
			t.Errorf("no %s in %s", part, reply.raw)
		}
	}
	closed = true
	if reply := a.want(200, a.do("GET", "/conversations/"+someID, "")); strings.Contains(reply.raw, "pipeline_state") {
		t.Error(reply.raw)
	}
}
