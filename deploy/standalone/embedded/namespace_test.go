package embedded_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/deploy/standalone/embedded"
)

var (
	agentName    = temporal.NewSearchAttributeKeyKeyword("AgentName")
	toolName     = temporal.NewSearchAttributeKeyKeyword("ToolName")
	pendingSince = temporal.NewSearchAttributeKeyTime("PendingSince")
)

var attributes = map[string]enums.IndexedValueType{
	"AgentName":    enums.INDEXED_VALUE_TYPE_KEYWORD,
	"ToolName":     enums.INDEXED_VALUE_TYPE_KEYWORD,
	"PendingSince": enums.INDEXED_VALUE_TYPE_DATETIME,
}

func TestSearchAttributesOfANewNamespace(t *testing.T) {
	srv := start(t, embedded.Options{DataDir: t.TempDir(), SearchAttributes: attributes})
	c := dial(t, srv)
	since := time.Now().UTC().Add(-time.Hour)
	err := run(t.Context(), c, "mine", agentName.ValueSet("me"), toolName.ValueSet("add"), pendingSince.ValueSet(since))
	if err != nil {
		t.Fatal(err)
	}
	wantListed(t, c, "AgentName = 'me' AND ToolName = 'add' AND PendingSince < '"+time.Now().UTC().Format(time.RFC3339)+"'", "mine")
}

// An attribute that a later version brings must be known at once to the frontend, and to history where workflows set it.
func TestSearchAttributesAddedToAnOldNamespace(t *testing.T) {
	dir := t.TempDir()
	stop(t, start(t, embedded.Options{DataDir: dir}))

	srv := start(t, embedded.Options{DataDir: dir, SearchAttributes: attributes})
	c := dial(t, srv)
	if err := run(t.Context(), c, "by-the-client", agentName.ValueSet("client")); err != nil {
		t.Fatal(err)
	}
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflow(nameItself)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "by-itself", TaskQueue: "q"}, nameItself)
	if err != nil {
		t.Fatal(err)
	}
	wantListed(t, c, "AgentName = 'client'", "by-the-client")
	wantListed(t, c, "AgentName = 'workflow'", "by-itself")
}

func nameItself(ctx workflow.Context) error {
	return workflow.UpsertTypedSearchAttributes(ctx, agentName.ValueSet("workflow"))
}

func wantListed(t *testing.T, c client.Client, query string, want ...string) {
	t.Helper()
	eventually(t, query, func() (bool, error) {
		resp, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		var got []string
		for _, e := range resp.GetExecutions() {
			got = append(got, e.GetExecution().GetWorkflowId())
		}
		return cmp.Equal(got, want), err
	})
}

func TestRetentionIsAppliedAtEveryStart(t *testing.T) {
	dir := t.TempDir()
	first := start(t, embedded.Options{DataDir: dir, Namespace: "agents"})
	wantRetention(t, first, 30*24*time.Hour)
	stop(t, first)
	second := start(t, embedded.Options{DataDir: dir, Namespace: "agents", Retention: 72 * time.Hour})
	wantRetention(t, second, 72*time.Hour)
}

func wantRetention(t *testing.T, srv *embedded.Server, want time.Duration) {
	t.Helper()
	ns, err := dial(t, srv).WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "agents"})
	if err != nil {
		t.Fatal(err)
	}
	if got := ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != want {
		t.Errorf("retention: got %s, want %s", got, want)
	}
}
