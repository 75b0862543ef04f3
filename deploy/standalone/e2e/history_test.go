package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/reflect/protoreflect"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

var record = flag.Bool("record", false, "rewrite the recorded histories of package workflows")

// readable is an event with its payloads as text.
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

// TestRecordHistories drives one conversation of each shape. With -record it
// writes their histories for the replay test of package workflows.
func TestRecordHistories(t *testing.T) {
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
	}
	for name, drive := range shapes {
		t.Run(name, func(t *testing.T) { keep(t, c, name, drive()) })
	}
}

// A server that suggests a new run early makes the recording a short one.
func TestRecordARunThatContinuesAsNew(t *testing.T) {
	h := newHome(t)
	server, err := embedded.Start(context.Background(), embedded.Options{
		DataDir: t.TempDir(), Port: h.ports.grpc, LongHistory: 60,
		SearchAttributes: connect.SearchAttributes(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	h.extra = fmt.Sprintf("blobs: {url: %q}\n", "file://"+t.TempDir())
	inner := h.getenv
	h.getenv = func(name string) string {
		if name == config.KeysVariable {
			return "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
		}
		return inner(name)
	}
	t.Setenv("TEMPORAL_ADDRESS", server.Address())
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
	keep(t, p.Client, "continue-as-new", workflow)
}

// keep saves the history of a workflow's first run, if histories are recorded.
func keep(t *testing.T, c client.Client, name, workflow string) {
	t.Helper()
	run := ""
	if runs := runsOf(t, c, workflow); len(runs) > 0 { // visibility lags behind
		run = runs[0]
	}
	recorded := historyOf(t, c, workflow, run)
	if len(recorded.GetEvents()) < 5 {
		t.Fatalf("%d events", len(recorded.GetEvents()))
	}
	if *record {
		save(t, name, recorded)
	}
}

func save(t *testing.T, name string, h *history.History) {
	t.Helper()
	data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "..", "workflows", "testdata", "histories", name+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
