package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// scriptedNodes is the model of every node of a tree. It answers with the replies scripted for
// the node's prompt, one after the other. A node without a script returns its prompt with the
// placeholders filled in.
type scriptedNodes struct {
	mu      sync.Mutex
	replies map[string][]any
}

func play(replies map[string][]any) func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
	c := &scriptedNodes{replies: replies}
	return c.generate
}

func (c *scriptedNodes) generate(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := in.Prompt.Inline
	list, scripted := c.replies[name]
	if !scripted {
		return says(filled(in)), nil
	}
	if len(list) == 0 {
		return contract.GenerateResult{}, fails(contract.KindModelRequest, "the script of "+name+" has ended")
	}
	next := list[0]
	c.replies[name] = list[1:]
	switch next := next.(type) {
	case error:
		return contract.GenerateResult{}, next
	case func(context.Context, contract.GenerateInput) (contract.GenerateResult, error):
		return next(ctx, in)
	}
	return next.(contract.GenerateResult), nil
}

func filled(in contract.GenerateInput) string {
	text := in.Prompt.Inline
	for _, v := range in.Values {
		text = strings.ReplaceAll(text, "{"+v.Key+"}", v.Text.Short())
	}
	return text
}

// llm returns a node whose prompt is its name.
func llm(name string, change ...func(*contract.Node)) contract.Node {
	n := contract.Node{Name: name, Type: contract.NodeLLM, Prompt: contract.Inline(name), Model: "demo:rules"}
	for _, c := range change {
		c(&n)
	}
	return n
}

func prompt(text string, keys ...string) func(*contract.Node) {
	return func(n *contract.Node) { n.Prompt, n.Keys = contract.Inline(text), keys }
}

func key(k string) func(*contract.Node) { return func(n *contract.Node) { n.OutputKey = k } }
func atOnce(n *contract.Node)           { n.SkipApproval = true }
func mayExit(n *contract.Node)          { n.CanExitLoop = true }
func failFast(n *contract.Node)         { n.FailFast = true }
func goOn(n *contract.Node)             { n.OnReject = contract.OnRejectContinue }

func group(kind contract.NodeType, name string, nodes ...contract.Node) contract.Node {
	return contract.Node{Name: name, Type: kind, Nodes: nodes}
}

func sequential(name string, nodes ...contract.Node) contract.Node {
	return group(contract.NodeSequential, name, nodes...)
}

func parallel(name string, nodes ...contract.Node) contract.Node {
	return group(contract.NodeParallel, name, nodes...)
}

func loop(name string, most int, nodes ...contract.Node) contract.Node {
	n := group(contract.NodeLoop, name, nodes...)
	n.MaxIterations = most
	return n
}

// tree returns a conversation that starts with the message "hello", request r1, with an agent
// of this tree.
func tree(root contract.Node) contract.ConversationInput {
	in := hello()
	in.Agent.Prompt, in.Agent.Tree = contract.Text{}, &root
	return in
}

// messages returns the whole transcript.
func (s *session) messages() []contract.Message {
	s.t.Helper()
	return load(s.t, s.world, s.view().Transcript)
}

// states formats the tree's states: name:status, nodes inside in brackets.
func (s *session) states() string {
	s.t.Helper()
	v := query[contract.TreeView](s, contract.ConversationWorkflowID(conversationID), contract.QueryTree)
	running := map[string]contract.NodeState{}
	for _, r := range v.Running {
		running[r.Run] = r
	}
	return draw(v.Node, s.whole(v.State, running))
}

// whole returns a state with the reported and stored states inside it.
func (s *session) whole(state contract.NodeState, running map[string]contract.NodeState) contract.NodeState {
	s.t.Helper()
	if latest, ok := running[state.Run]; ok && state.Lost() {
		state.Nodes, state.Offloaded = latest.Nodes, latest.Offloaded
	} else if ok && !state.Status.Over() {
		state = latest
	}
	var nodes []contract.NodeState
	if state.Offloaded != nil {
		data, err := s.world.blobs.Get(context.Background(), *state.Offloaded)
		if err == nil {
			err = json.Unmarshal(data, &nodes)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	nodes = append(nodes, state.Nodes...)
	state.Nodes, state.Offloaded = nil, nil
	for _, n := range nodes {
		state.Nodes = append(state.Nodes, s.whole(n, running))
	}
	return state
}

func draw(n contract.Node, s contract.NodeState) string {
	status := s.Status
	if status == "" {
		status = contract.NodePending
	}
	out := fmt.Sprintf("%s:%s", n.Name, status)
	if !n.Composite() {
		return out
	}
	var inside []string
	for i, child := range n.Nodes {
		var state contract.NodeState
		if i < len(s.Nodes) {
			state = s.Nodes[i]
		}
		inside = append(inside, draw(child, state))
	}
	return out + "[" + strings.Join(inside, " ") + "]"
}

func TestASequenceRunsItsNodesOneAfterTheOther(t *testing.T) {
	root := sequential("pipeline",
		llm("find", prompt("find for {user_message}", "user_message"), key("found")),
		llm("report", prompt("report {found} and {nothing}", "found")),
	)
	w := &world{GenerateFn: play(nil)}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "report find for hello and {nothing}")
		same(t, "transcript", lines(s.messages()), []string{
			"user: hello", "assistant: [find] find for hello", "assistant: [report] report find for hello and {nothing}",
		})
		same(t, "states", s.states(), "pipeline:done[find:done report:done]")
		same(t, "usage", s.view().Usage, contract.Usage{InputTokens: 20, OutputTokens: 4})
	})
	same(t, "workflows", len(s.seen.nodes), 1)
	same(t, "id", s.seen.nodes[0].ID, contract.ConversationWorkflowID(conversationID)+"/turn-1/pipeline")
	same(t, "reports", len(s.seen.reports), 0)
}

func TestAnApprovalDeepInsideStopsOnlyWhatDependsOnIt(t *testing.T) {
	root := sequential("pipeline",
		llm("first", key("one")),
		parallel("both",
			sequential("branch", llm("deep", key("done")), llm("after", prompt("after {done}", "done"))),
			llm("quick"),
		),
		llm("last", prompt("last of {one} and {done}", "one", "done")),
	)
	w := &world{GenerateFn: play(map[string][]any{"deep": {asks(add("x")), says("added")}})}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "node", p.Node, "deep")
		same(t, "path", p.NodePath, []int{1, 0, 0})
		same(t, "states", s.states(), "pipeline:running[first:done both:running[branch:running[deep:waiting after:pending] quick:done] last:pending]")
		v := s.view()
		same(t, "pipeline state", *v.Pipeline, contract.PipelineState{
			Path: []int{1, 0, 0}, OutputKey: "done", UserMessage: contract.Inline("hello"),
			State: contract.State{{Key: "one", Text: contract.Inline("first")}},
		})
		same(t, "transcript", lines(s.messages()), []string{
			"user: hello", "assistant: [first] first", `call resources_add {"name":"x","value":1}`,
			"assistant: This action requires approval:\n\n**ADD Resource**\n\nName: x\nValue: 1\n\nApproval UUID: " + p.UUID,
			"assistant: [quick] quick",
		})
		same(t, "file", w.exported().Status, contract.StatusWaitingApproval)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Via: "rest"})
		s.rest()
		same(t, "answer", s.answer("d1"), "last of first and added")
		same(t, "states", s.states(), "pipeline:done[first:done both:done[branch:done[deep:done after:done] quick:done] last:done]")
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
	})
	var ids []string
	for _, n := range s.seen.nodes {
		ids = append(ids, strings.TrimPrefix(n.ID, contract.TurnWorkflowID(conversationID, 1)))
	}
	same(t, "workflows", ids, []string{"/pipeline", "/pipeline/both", "/pipeline/both/branch"})
}

func TestALoopEndsWhenANodeLeavesIt(t *testing.T) {
	exit := contract.Call{ID: "e", Name: contract.ToolExitLoop, Exit: true, Arguments: contract.JSON{Raw: []byte(`{}`)}}
	root := loop("refine", 5, llm("draft", key("draft")), llm("judge", mayExit))
	w := &world{GenerateFn: play(map[string][]any{"judge": {says("again"), says("again"), asks(exit)}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "draft")
		same(t, "states", s.states(), "refine:done[draft:done judge:done]")
		same(t, "models asked", len(read(w, &w.prompts)), 6)
	})
}

func TestARejectionEndsTheTurnAndSaysWhatWasDone(t *testing.T) {
	root := sequential("pipeline", llm("find"), llm("write"), llm("tell"))
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: find.\n\nNot done: write (rejected), tell (skipped).")
		same(t, "ran", w.ran(), nil)
	})
}
