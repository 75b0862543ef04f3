package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/reflect/protoreflect"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

// recording selects the histories of package workflows to write: missing ones, all, or named
// ones.
type recording string

var record recording

func init() {
	flag.Var(&record, "record", "write histories of package workflows: the missing ones, or with =all or =NAME,NAME those")
}

// IsBoolFlag makes the value optional.
func (r *recording) IsBoolFlag() bool { return true }

func (r *recording) String() string { return string(*r) }

// Set implements flag.Value.
func (r *recording) Set(s string) error {
	*r = recording(s)
	return nil
}

// wants reports whether to write a history. By default existing ones are kept, because
// recordings of earlier versions are the more valuable ones.
func (r *recording) wants(name string) bool {
	switch *r {
	case "", "false":
		return false
	case "all":
		return true
	case "true":
		_, err := os.Stat(recordingOf(name))
		return os.IsNotExist(err)
	}
	return slices.Contains(strings.Split(string(*r), ","), name)
}

func recordingOf(name string) string {
	return filepath.Join("..", "..", "..", "workflows", "testdata", "histories", name+".json")
}

// readable formats an event with its payloads as text.
func readable(e *history.HistoryEvent) string {
	data := e.String()
	visit(e.ProtoReflect(), func(p *common.Payload) { data += "\n" + string(p.GetData()) })
	return data
}

// visit calls f for every payload inside a message.
func visit(m protoreflect.Message, f func(*common.Payload)) {
	if p, ok := m.Interface().(*common.Payload); ok {
		f(p)
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				visit(v.Message(), f)
				return true
			})
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				visit(v.List().Get(i).Message(), f)
			}
		case !fd.IsMap() && !fd.IsList() && fd.Message() != nil:
			visit(v.Message(), f)
		}
		return true
	})
}

func historyOf(t *testing.T, c client.Client, workflowID, runID string) *history.History {
	t.Helper()
	h := &history.History{}
	it := c.GetWorkflowHistory(context.Background(), workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	return h
}

// runsOf lists the runs of a workflow, oldest first.
func runsOf(t *testing.T, c client.Client, workflowID string) []string {
	t.Helper()
	var runs []string
	var token []byte
	for {
		list, err := c.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: "default", Query: fmt.Sprintf("WorkflowId = '%s'", workflowID), NextPageToken: token,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.GetExecutions() {
			runs = append([]string{e.GetExecution().GetRunId()}, runs...)
		}
		if token = list.GetNextPageToken(); len(token) == 0 {
			return runs
		}
	}
}

// TestRecordHistories runs one conversation of each shape without a tree. With
// -record it writes their histories for the replay test of package workflows.
func TestRecordHistories(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	c := p.Client
	shapes := map[string]func() string{
		"simple": func() string {
			id := api.ask("hello").Conversation.ID
			api.say(id, "both note_list,note_list")
			api.want(200, "POST", "/conversations/"+id+"/close", "")
			return contract.ConversationWorkflowID(id)
		},
		"approve": func() string {
			asked := api.ask(`call note_add {"name":"x"}`)
			api.decide(asked.Result.Approval.UUID, `{"approved":true,"by":"recorder"}`)
			return contract.ConversationWorkflowID(asked.Conversation.ID)
		},
		"reject": func() string {
			asked := api.ask(`call note_add {"name":"x"}`)
			api.decide(asked.Result.Approval.UUID, `{"approved":false}`)
			return contract.ConversationWorkflowID(asked.Conversation.ID)
		},
		"approval": func() string {
			id := contract.ApprovalWorkflowID(api.ask(`call note_add {"name":"x"}`).Result.Approval.UUID)
			if err := c.SignalWorkflow(context.Background(), id, "", contract.SignalDecide, "yes"); err != nil {
				t.Error(err)
			}
			return id
		},
		"approval-update": func() string {
			asked := api.ask(`call note_add {"name":"x"}`)
			api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
			return contract.ApprovalWorkflowID(asked.Result.Approval.UUID)
		},
		"cancel": func() string {
			asked := api.ask(`call note_add {"name":"x"}`)
			id := asked.Conversation.ID
			api.want(200, "POST", "/conversations/"+id+"/cancel", `{"reason":"Enough."}`)
			api.say(id, "hello")
			return contract.ConversationWorkflowID(id)
		},
		"first-update": func() string { // the first task has the update that waits
			asked := api.ask(`call note_add {"name":"x"}`)
			api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
			return contract.ConversationWorkflowID(asked.Conversation.ID)
		},
		"auto": func() string {
			id := api.ask("both note_list,note_list").Conversation.ID
			api.decide(api.say(id, `call note_add {"name":"x"}`).Result.Approval.UUID, `{"approved":true}`)
			api.say(id, "call fail")
			return contract.ConversationWorkflowID(id)
		},
	}
	for name, drive := range shapes {
		t.Run(name, func(t *testing.T) { keep(t, c, name, drive()) })
	}
}

// Mode auto hands the slow calls over: one that is cancelled, and one that ends.
func TestRecordSlowCalls(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = auto
	api, p := h.inside()
	id := api.ask("hello").Conversation.ID
	for _, end := range []func(){
		func() { api.want(200, "POST", "/conversations/"+id+"/cancel", `{"reason":"Enough."}`) }, h.tools.release,
	} {
		turn := make(chan body)
		go func() { turn <- api.say(id, "call slow_read") }()
		<-h.tools.entered
		handedOver(t, p.Client, id, contract.ActivityCallTool.Name, false)
		end()
		<-turn
	}
	keep(t, p.Client, "auto-slow", contract.ConversationWorkflowID(id))
}

// In the process of the server, mode auto starts a destructive call in a local activity too.
func TestRecordADestructiveCall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = auto
	api, p := h.whole()
	asked := api.ask(`call note_add {"name":"x"}`)
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	id := contract.ConversationWorkflowID(asked.Conversation.ID)
	for _, e := range historyOf(t, p.Client, id, "").GetEvents() {
		if e.GetEventType() == enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			t.Errorf("an activity: %v", e)
		}
	}
	keep(t, p.Client, "auto-once", id)
}

// The server suggests a new run early, to keep the recording short.
func TestRecordARunThatContinuesAsNew(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.external(embedded.Options{LongHistory: 60})
	api, p := h.inside()
	id := api.ask("repeat 3 big").Conversation.ID
	workflow := contract.ConversationWorkflowID(id)
	eventually(t, "a second run", func() bool {
		api.say(id, "hello")
		return len(runsOf(t, p.Client, workflow)) > 1
	})
	shown := api.conversation(id)
	if got := api.say(id, "still the same?").Conversation; len(got.Messages) != len(shown.Messages)+2 {
		t.Errorf("%d messages before and %d after one more turn", len(shown.Messages), len(got.Messages))
	}
	eventually(t, "the next run has the title", func() bool { return api.titles() == "repeat 3 big," })
	keep(t, p.Client, "continue-as-new", workflow)
}

// shape is a tree whose conversation is run to its end. The first runs of the conversation and
// of each node's workflow are kept; if the workflow continued as new, its last run too.
type shape struct {
	tree      string
	drive     func(*api) (id string)
	nodes     map[string]string // by recording: the part of the workflow ID after the turn
	continued string            // recording of the root's last run
	early     bool              // continue as new early
}

var shapes = map[string]shape{
	"sequential": {
		tree: `{name: root, type: sequential, agents: [
  {name: read, output_key: seen, prompt: "do: call note_list"},
  {name: write, output_key: written, prompt: "do: call note_add {}"},
  {name: fail, model: "openai:other", prompt: "do: call fail"},
  {name: tell, history: true, prompt: "do: say {seen}, {written}"}]}`,
		drive: func(a *api) string { return a.approveAll("go") },
		nodes: map[string]string{"sequential-node": "/root"},
	},
	"parallel": {
		tree: `{name: root, type: parallel, approval: required, agents: [
  {name: left, prompt: "do: call note_add {}"}, {name: right, timeout: 1m, prompt: "do: call note_add {}"},
  {name: third, prompt: "do: call note_list"}]}`,
		drive: func(a *api) string { return a.approveAll("go") },
		nodes: map[string]string{"parallel-node": "/root"},
	},
	"loop": {
		tree: `{name: root, type: loop, agents: [
  {name: step, output_key: n, prompt: 'do: call tick {"name":"loop"}'},
  {name: judge, can_exit_loop: true, prompt: "do: if {n} is The tool said: 3 => call exit_loop"}]}`,
		drive: func(a *api) string { return a.ask("go").Conversation.ID },
		nodes: map[string]string{"loop-node": "/root"},
	},
	"loop-of-groups": {
		tree: `{name: root, type: loop, max_iterations: 8, agents: [
  {name: both, type: parallel, agents: [{name: a, output_key: n, prompt: "do: call big"}, {name: b, prompt: "do: say {n}"}]}]}`,
		drive: func(a *api) string { return a.ask("go").Conversation.ID },
		nodes: map[string]string{"loop-continue-as-new": "/root"}, continued: "loop-continued", early: true,
	},
	"nested": {
		tree: `{name: root, type: sequential, agents: [
  {name: both, type: parallel, agents: [
    {name: branch, type: sequential, approval: required, output_key: done, agents: [
      {name: deep, prompt: "do: call note_add {}"}, {name: next, prompt: "do: say next"}]},
    {name: beside, prompt: "do: call note_add {}"}]},
  {name: tell, prompt: "do: say {done}"}]}`,
		drive: func(a *api) string { return a.approveAll("go") },
		nodes: map[string]string{"nested-root": "/root", "nested-both": "/root/both", "nested-branch": "/root/both/branch"},
	},
	"auto-tree": {
		tree: `{name: root, type: sequential, agents: [
  {name: first, prompt: "do: call note_list"},
  {name: sides, type: parallel, agents: [
    {name: inner, type: sequential, approval: required, agents: [{name: write, prompt: "do: call note_add {}"}]},
    {name: reads, prompt: "do: call slow_read"}]}]}`,
		drive: func(a *api) string {
			id := a.ask("go").Conversation.ID
			a.becomes(id, "root:running[first:done sides:running[inner:waiting[write:waiting] reads:running]]")
			a.want(200, "POST", "/conversations/"+id+"/cancel", `{"reason":"Enough."}`)
			a.becomes(id, "root:cancelled[first:done sides:cancelled[inner:cancelled[write:cancelled] reads:cancelled]]")
			return id
		},
		nodes: map[string]string{"auto-tree-root": "/root", "auto-tree-sides": "/root/sides"},
	},
	"tree-reject": {
		tree: `{name: root, type: sequential, agents: [
  {name: inner, type: sequential, agents: [{name: write, prompt: "do: call note_add {}"}]}, {name: tell, prompt: "do: say done"}]}`,
		drive: func(a *api) string {
			asked := a.ask("go")
			a.decide(asked.Result.Approval.UUID, `{"approved":false}`)
			return asked.Conversation.ID
		},
		nodes: map[string]string{"tree-reject-root": "/root", "tree-reject-inner": "/root/inner"},
	},
	"tree-cancel": {
		tree: `{name: root, type: sequential, agents: [
  {name: sides, type: parallel, agents: [
    {name: inner, type: sequential, approval: required, agents: [{name: write, prompt: "do: call note_add {}"}]},
    {name: reads, prompt: "do: call slow_read"}]}]}`,
		drive: func(a *api) string {
			id := a.ask("go").Conversation.ID
			a.becomes(id, "root:running[sides:running[inner:waiting[write:waiting] reads:running]]")
			a.want(200, "POST", "/conversations/"+id+"/cancel", `{"reason":"Enough."}`)
			a.becomes(id, "root:cancelled[sides:cancelled[inner:cancelled[write:cancelled] reads:cancelled]]")
			return id
		},
		nodes: map[string]string{
			"tree-cancel-root": "/root", "tree-cancel-sides": "/root/sides", "tree-cancel-inner": "/root/sides/inner",
		},
	},
}

// approveAll sends a message, and approves calls until none is pending.
func (a *api) approveAll(text string) (id string) {
	a.t.Helper()
	got := a.ask(text)
	for got.Result.WaitingApproval {
		got = a.decide(got.Result.Approval.UUID, `{"approved":true}`)
	}
	return got.Conversation.ID
}

// TestRecordHistoriesOfTrees is TestRecordHistories for trees: it keeps the
// histories of the conversation and of the nodes' workflows.
func TestRecordHistoriesOfTrees(t *testing.T) {
	t.Parallel()
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if s.early {
				h.external(embedded.Options{LongHistory: 60})
			}
			h.extra += "agent: " + s.tree + "\n"
			api, p := h.inside()
			id := s.drive(api)
			keep(t, p.Client, name, contract.ConversationWorkflowID(id))
			for recording, place := range s.nodes {
				keep(t, p.Client, recording, contract.TurnWorkflowID(id, 1)+place)
			}
			if s.continued == "" {
				return
			}
			root := contract.TurnWorkflowID(id, 1) + "/root"
			var runs []string
			eventually(t, "a second run of the loop", func() bool {
				runs = runsOf(t, p.Client, root)
				return len(runs) > 1
			})
			keepRun(t, p.Client, s.continued, root, runs[len(runs)-1])
		})
	}
}

// keep saves the history of a workflow's first run, if it is to be recorded.
func keep(t *testing.T, c client.Client, name, workflow string) {
	t.Helper()
	run := ""
	if runs := runsOf(t, c, workflow); len(runs) > 0 { // visibility lags behind
		run = runs[0]
	}
	keepRun(t, c, name, workflow, run)
}

func keepRun(t *testing.T, c client.Client, name, workflow, run string) {
	t.Helper()
	recorded := historyOf(t, c, workflow, run)
	if len(recorded.GetEvents()) < 5 {
		t.Fatalf("%d events", len(recorded.GetEvents()))
	}
	if record.wants(name) {
		save(t, name, recorded)
	}
}

func save(t *testing.T, name string, h *history.History) {
	t.Helper()
	data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	path := recordingOf(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
