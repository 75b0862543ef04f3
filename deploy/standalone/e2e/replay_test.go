package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

// strangeConversation is a Conversation as no version has made it.
func strangeConversation(ctx workflow.Context, _ contract.ConversationInput) error {
	if err := workflow.Sleep(ctx, time.Millisecond); err != nil {
		return err
	}
	return workflow.Await(ctx, func() bool { return false })
}

// beStrange starts a run whose history no version can continue.
func (h *home) beStrange() (id string) {
	h.t.Helper()
	c := h.dial()
	w := worker.New(c, h.queue, worker.Options{})
	w.RegisterWorkflowWithOptions(strangeConversation, workflow.RegisterOptions{Name: contract.WorkflowConversation})
	if err := w.Start(); err != nil {
		h.t.Fatal(err)
	}
	defer w.Stop()
	run, err := c.ExecuteWorkflow(h.t.Context(), client.StartWorkflowOptions{ID: "conversation-strange", TaskQueue: h.queue},
		contract.WorkflowConversation, contract.ConversationInput{ID: "strange", Agent: contract.Agent{Name: "tester"}, First: &contract.MessageSignal{RequestID: "r", Text: contract.Inline("hello")}})
	if err != nil {
		h.t.Fatal(err)
	}
	eventually(h.t, "it is listed, and its timer has fired", func() bool {
		listed, err := c.CountWorkflow(h.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: "WorkflowId = '" + run.GetID() + "'"})
		d, missing := c.DescribeWorkflowExecution(h.t.Context(), run.GetID(), "")
		return err == nil && missing == nil && listed.GetCount() == 1 && d.GetWorkflowExecutionInfo().GetHistoryLength() >= 9
	})
	return run.GetID()
}

func TestAReplayNamesWhatANewVersionBreaks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.external(embedded.Options{})
	api, agent := h.outside()
	h.model.Always(obedient)
	api.ask("hello")
	waiting := api.ask(`call note_add {"name":"x"}`)
	if waiting.Result.Approval == nil {
		t.Fatal("nothing waits")
	}
	shell := shellUser{t, h.dir, h.environ()}
	config := h.configFile()
	eventually(t, "all runs are listed", func() bool {
		out, _ := shell.run(0, "replay", "--config", config)
		return strings.Contains(out, ": none would break\n") && strings.Contains(out, "1 Approval") && strings.Contains(out, "2 Conversation")
	})

	agent.kill()
	id := h.beStrange()
	text, _ := shell.run(6, "replay", "--config", config, "--since", "1h")
	for _, want := range []string{"BREAKS  " + id + " (Conversation, open)\n", ", event 5: the history has ", "→ keep workers of the version before", "1 of them would break"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	out, _ := shell.run(6, "replay", "--config", config, "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var found struct {
		WorkflowID string `json:"workflow_id"`
		RunID      string `json:"run_id"`
		Event      int64
	}
	var sum struct{ Replayed, Running, Broken int }
	if err := json.Unmarshal([]byte(lines[0]), &found); err != nil || found.WorkflowID != id || found.RunID == "" || found.Event != 5 {
		t.Errorf("%+v, %v", found, err)
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil || sum.Broken != 1 || sum.Running != 4 {
		t.Errorf("%s, %v", lines[len(lines)-1], err)
	}
	shell.run(2, "replay", "--since", "soon")
}
