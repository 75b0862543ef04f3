package e2e_test

import (
	"context"
	"flag"
	"fmt"
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
		"continue-as-new": func() string {
			id := api.ask("repeat 3 big").Conversation.ID
			workflow := contract.ConversationWorkflowID(id)
			for len(runsOf(t, c, workflow)) < 2 {
				api.say(id, "hello")
			}
			return workflow
		},
	}
	for name, drive := range shapes {
		t.Run(name, func(t *testing.T) {
			workflow := drive()
			runs := runsOf(t, c, workflow)
			if len(runs) == 0 {
				runs = []string{""}
			}
			recorded := historyOf(t, c, workflow, runs[0])
			if len(recorded.GetEvents()) < 5 {
				t.Fatalf("%d events", len(recorded.GetEvents()))
			}
			if *record {
				save(t, name, recorded)
			}
		})
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
