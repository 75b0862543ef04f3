package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/workflows/contract"
)

// longest reads every run of every workflow of a conversation. It returns the number of runs,
// and the largest numbers of events and bytes of a run.
func longest(t *testing.T, c client.Client, id string) (runs, events, bytes int) {
	t.Helper()
	var token []byte
	for {
		list, err := c.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: "default", Query: fmt.Sprintf("%s = '%s'", contract.AttrConversationID, id), NextPageToken: token,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.GetExecutions() {
			h := historyOf(t, c, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId())
			runs, events, bytes = runs+1, max(events, len(h.GetEvents())), max(bytes, proto.Size(h))
		}
		if token = list.GetNextPageToken(); len(token) == 0 {
			return runs, events, bytes
		}
	}
}

// many returns a tree of the maximum number of nodes: groups of leaves, each with an output of
// at least size bytes.
func many(outer, inner string, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "agent:\n  name: root\n  type: %s\n  agents:\n", outer)
	for g := range 20 {
		fmt.Fprintf(&b, "    - name: group-%d\n      type: %s\n      agents:\n", g, inner)
		for l := range min(50, manyLeaves-50*g) {
			fmt.Fprintf(&b, "        - {name: leaf-%d-%d, tools: [], output_key: key_%d_%d, prompt: 'do: fill %d leaf %d of group %d'}\n",
				g, l, g, l, size, l, g)
		}
	}
	return b.String()
}

const manyLeaves = 1000 - 1 - 20

func TestATreeOf1000NodesEnds(t *testing.T) {
	t.Parallel()
	const long = 2000
	for name, c := range map[string]struct {
		tree  string
		lines int // lines of the answer
	}{
		"all at once, with long outputs":        {many("parallel", "parallel", long), manyLeaves},
		"group after group, with long outputs":  {many("sequential", "parallel", long), manyLeaves - 19*50},
		"sequence after sequence, long outputs": {many("sequential", "sequential", long), 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.extra = "request_timeout: 10m\n" + c.tree
			h.model.KeepRequests(false)
			api, p := h.whole()
			api.http.Timeout = patience
			asked := api.ask("go")
			id := asked.Conversation.ID
			if n := strings.Count(asked.Result.Response, "leaf "); n != c.lines {
				t.Errorf("the answer has %d lines: %.200s", n, asked.Result.Response)
			}
			messages := api.conversation(id).Messages
			if len(messages) != 2+manyLeaves {
				t.Fatalf("%d messages", len(messages))
			}
			for i, m := range messages[2:] {
				g, l := i/50, i%50
				if want := fmt.Sprintf("[leaf-%d-%d] leaf %d of group %d", g, l, l, g); !strings.HasPrefix(m.Content, want) {
					t.Fatalf("message %d is %.50q, want %q", i, m.Content, want)
				}
			}
			if n := strings.Count(api.statuses(id), ":done"); n != 1000 {
				t.Errorf("%d nodes are done", n)
			}
			runs, events, bytes := longest(t, p.Client, id)
			t.Logf("%d runs, the longest history has %d events and the largest %d KiB", runs, events, bytes>>10)
			if bytes > 10<<20 {
				t.Errorf("a history has %d bytes", bytes)
			}
		})
	}
}

func TestAnApprovalUnderTwentySequencesCanBeAnswered(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("agent:\n")
	indent := "  "
	for i := range 20 {
		name := fmt.Sprintf("sequence-%d", i)
		fmt.Fprintf(&b, "%sname: %s\n%stype: sequential\n%sagents:\n", indent, name, indent, indent)
		fmt.Fprintf(&b, "%s  - {name: before-%d, tools: [], prompt: 'do: say before %d'}\n%s  -\n", indent, i, i, indent)
		indent += "    "
	}
	fmt.Fprintf(&b, "%sname: bottom\n%sprompt: 'do: call tick {\"name\":\"bottom\"}'\n", indent, indent)
	h := newHome(t)
	h.extra = b.String()
	api, p := h.inside()
	asked := api.ask("go")
	id := asked.Conversation.ID
	if !asked.Result.WaitingApproval || asked.Result.Approval.Node != "bottom" {
		t.Fatalf("answered with %+v", asked.Result)
	}
	paused := api.conversation(id)
	same(t, "path", fmt.Sprint(paused.PipelineState.Path), "["+strings.TrimSpace(strings.Repeat("1 ", 20))+"]")
	same(t, "texts", len(paused.texts()), 21)
	if n := strings.Count(api.statuses(id), ":waiting"); n != 21 {
		t.Errorf("%d nodes wait: %s", n, api.statuses(id))
	}
	done := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	same(t, "answer", done.Result.Response, "The tool said: 1")
	once(t, h, "bottom")
	runs, events, bytes := longest(t, p.Client, id)
	t.Logf("%d runs, the longest history has %d events and the largest %d KiB", runs, events, bytes>>10)
}

func TestALoopOf200IterationsLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `request_timeout: 10m
agent:
  name: around
  type: loop
  max_iterations: 200
  agents:
    - {name: step, output_key: n, prompt: 'do: call tick {"name":"step"}'}
`
	h.model.KeepRequests(false)
	api, p := h.inside()
	api.http.Timeout = 0
	asked := api.ask("go")
	id := asked.Conversation.ID
	same(t, "answer", asked.Result.Response, "The tool said: 200")
	same(t, "calls", h.tools.counts(), map[string]int{"step": 200})
	messages := api.conversation(id).Messages
	if len(messages) != 2+3*200 {
		t.Fatalf("%d messages", len(messages))
	}
	seen := map[string]bool{}
	for i, m := range messages {
		if want := fmt.Sprintf("[step] The tool said: %d", (i-1)/3); i > 1 && (i-1)%3 == 0 && m.Content != want {
			t.Fatalf("message %d is %q, want %q", i, m.Content, want)
		}
		if seen[m.ID] {
			t.Fatalf("message %d has the ID of another: %+v", i, m)
		}
		seen[m.ID] = true
	}
	runs, events, bytes := longest(t, p.Client, id)
	t.Logf("%d runs, the longest history has %d events and the largest %d KiB", runs, events, bytes>>10)
	if runs < 3 || events >= 2500 { // the conversation and two runs of the loop
		t.Errorf("%d runs, the longest has %d events", runs, events)
	}
	if n := api.tree(id).Iteration; n != 200 {
		t.Errorf("the tree shows %d iterations", n)
	}
}
