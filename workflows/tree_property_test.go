package workflows_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// TestRandomTreesDoWhatAPlainInterpreterSays runs random trees with random models, tools and
// people, and compares everything visible with the result of a simple recursive interpreter.
//
// TREE_SEEDS is the number of trees, TREE_SEED the first seed (default 1).
func TestRandomTreesDoWhatAPlainInterpreterSays(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	first, seeds := number("TREE_SEED", 1), number("TREE_SEEDS", 200)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			runSeed(t, uint64(seed))
		})
	}
}

func runSeed(t *testing.T, seed uint64) {
	d := newDrama(seed)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("TREE_SEED=%d TREE_SEEDS=1, %d turns, roll over after %d, lean %t, auto %t, slow %s, holds %v\n%s",
				seed, len(d.turns), d.rollOver, d.lean, d.auto, d.slow, d.holds, drawTree(d.root, d.roles, ""))
		}
	})
	p := &scenarioRun{scenario: d, t: t, world: &world{}, visits: map[string]int{}, made: map[string]int{}}
	p.begin(0)
	p.world.GenerateFn, p.world.CallToolFn = p.generate, p.callTool
	p.s = newSession(t, p.world, contract.ConversationWorkflowID(conversationID))
	p.s.nodesRollOverAfter(d.rollOver)
	p.s.seen.slow = d.slow
	in := tree(d.root)
	switch {
	case d.lean:
		in.Agent.Execution = contract.ExecutionLean
	case d.auto:
		in.Agent.Execution, p.world.Slow = contract.ExecutionAuto, true
	}
	p.s.run(contract.WorkflowConversation, in, p.play, func() { p.s.close("", "") })
	if p.s.env.GetWorkflowError() != nil {
		t.Errorf("the conversation failed: %v", p.s.env.GetWorkflowError())
	}
	p.checkSizes()
}

// scenario is a tree with all actions of its models, tools and people. It depends on the seed
// only.
type scenario struct {
	seed     uint64
	root     contract.Node
	roles    map[string]role // of leaves
	turns    []*expected
	rollOver int
	slow     time.Duration
	lean     bool
	auto     bool    // with calls that are handed over
	approves float64 // probability that a person approves
	holds    float64 // probability that a call of a model or a tool is slow
}

// role has the probabilities of a leaf's actions.
type role struct {
	works, destroys, exits, fails, long, mute, bomb float64
	rounds                                          int // maximum number of rounds
}

func newDrama(seed uint64) *scenario {
	r := rand.New(rand.NewPCG(seed, 7))
	d := &scenario{seed: seed, roles: map[string]role{}}
	d.approves = []float64{1, 0.9, 0.75, 0.5}[r.IntN(4)]
	d.rollOver = []int{0, 1, 2, 3, 5, 8}[r.IntN(6)]
	if r.IntN(5) == 0 {
		d.slow = time.Duration(1+r.IntN(400)) * time.Millisecond
	}
	if d.lean = r.IntN(8) == 0; !d.lean {
		d.holds = []float64{0, 0.1, 0.4}[r.IntN(3)]
	}
	g := &treeGrower{Rand: r, drama: d, left: 1 + r.IntN(14)}
	d.root = g.composite(1, enclosing{})
	turns := 1 + r.IntN(2)
	d.auto = seed%3 == 0
	for !d.computeExpected(turns) { // the tree was changed
	}
	return d
}

// computeExpected computes the expected outcome. It returns false if it had to change the tree
// first, because its outcome would depend on timing.
func (d *scenario) computeExpected(turns int) bool {
	e := &interpreter{scenario: d, visits: map[string]int{}}
	d.turns = nil
	for i := range turns {
		d.turns = append(d.turns, e.turn(message(i)))
		if e.change != nil {
			e.change()
			return false
		}
	}
	return true
}

func message(turn int) string { return []string{"hello", "once more"}[turn] }

// randFor returns the same random numbers for the same question.
func (d *scenario) randFor(question ...any) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, question...)
	return rand.New(rand.NewPCG(d.seed, h.Sum64()))
}

func (d *scenario) chance(p float64, question ...any) bool {
	return d.randFor(question...).Float64() < p
}

// treeGrower makes trees.
type treeGrower struct {
	*rand.Rand
	drama        *scenario
	left, leaves int
	groups       int
}

// enclosing describes the nodes around a node.
type enclosing struct {
	looped, unattended bool // a loop; a loop or a parallel node
	sequences          int
}

func (g *treeGrower) composite(depth int, around enclosing) contract.Node {
	kind := []contract.NodeType{contract.NodeSequential, contract.NodeParallel, contract.NodeLoop}[g.IntN(3)]
	n := group(kind, fmt.Sprintf("g%d", g.groups))
	g.groups++
	around.unattended = around.unattended || kind != contract.NodeSequential
	switch kind {
	case contract.NodeLoop:
		n.MaxIterations, around.looped = 1+g.IntN(4), true
	case contract.NodeSequential:
		around.sequences++
	default:
		n.FailFast = !g.drama.lean && g.IntN(3) == 0
	}
	n.OutputKey, n.OnReject = g.key(4), g.onReject()
	for i := range 1 + g.IntN(4) {
		if i > 0 && g.left == 0 {
			break
		}
		if depth < 4 && g.IntN(5) < 2 {
			n.Nodes = append(n.Nodes, g.composite(depth+1, around))
		} else {
			n.Nodes = append(n.Nodes, g.leaf(around))
		}
	}
	if n.FailFast {
		g.plantBomb(n)
	}
	return n
}

// plantBomb makes one leaf of a parallel node fail.
func (g *treeGrower) plantBomb(n contract.Node) {
	for i := range n.Nodes {
		if !n.Nodes[i].Composite() {
			g.drama.roles[n.Nodes[i].Name] = role{works: 0.3, bomb: 0.8, rounds: 1}
			n.Nodes[i].MaxToolRounds = 0
			return
		}
	}
}

func (g *treeGrower) leaf(around enclosing) contract.Node {
	name := fmt.Sprintf("n%d", g.leaves)
	g.leaves++
	g.left = max(g.left-1, 0)
	n := llm(name)
	text := name
	for range g.IntN(3) {
		k := []string{"k0", "k1", "k2", "k3", contract.KeyUserMessage}[g.IntN(5)]
		if !slices.Contains(n.Keys, k) {
			n.Keys, text = append(n.Keys, k), text+" {"+k+"}"
		}
	}
	n.Prompt, n.OutputKey, n.OnReject = contract.Inline(text), g.key(2), g.onReject()
	n.History = g.IntN(6) == 0
	n.SkipApproval = around.unattended && g.IntN(2) == 0
	r := role{
		works: g.oneOf(0, 0.5, 0.8), destroys: g.oneOf(0, 0.3, 0.7), fails: g.oneOf(0, 0, 0, 0.2, 0.6),
		long: g.oneOf(0, 0, 0.3), mute: g.oneOf(0, 0, 0, 0.3), rounds: g.IntN(4),
	}
	// For nested sequences outside a loop it is not defined which of them exit_loop ends.
	if n.CanExitLoop = g.IntN(3) == 0 && (around.looped || around.sequences < 2); n.CanExitLoop {
		r.exits = 0.4
	}
	if g.IntN(4) == 0 {
		n.MaxToolRounds = 1 + g.IntN(3)
	}
	g.drama.roles[name] = r
	return n
}

func (g *treeGrower) oneOf(list ...float64) float64 { return list[g.IntN(len(list))] }

func (g *treeGrower) key(oneIn int) string {
	if g.IntN(oneIn) > 0 {
		return ""
	}
	return fmt.Sprintf("k%d", g.IntN(4))
}

func (g *treeGrower) onReject() string {
	if g.IntN(5) == 0 {
		return contract.OnRejectContinue
	}
	return ""
}

// act is the reply of a leaf's model: text, calls, or a failure.
type act struct {
	fails string
	text  string // %s is replaced by the values in its prompt
	calls []request
	usage contract.Usage
}

type request struct {
	id   string
	kind string // reads, destroys, exit, unknown, problem
	long bool   // arguments
}

func (q request) tool() string {
	switch q.kind {
	case "reads":
		return "resources_list"
	case "exit":
		return contract.ToolExitLoop
	case "unknown":
		return "nonsense"
	}
	return "resources_add"
}

// act returns the model's reply to call number step of run number visit of a leaf, both from 0.
func (d *scenario) act(n contract.Node, visit, step int) act {
	r, role := d.randFor("act", n.Name, visit, step), d.roles[n.Name]
	where := fmt.Sprintf("%s.v%d.s%d", n.Name, visit, step)
	a := act{usage: contract.Usage{InputTokens: int64(1 + r.IntN(90)), OutputTokens: int64(1 + r.IntN(9)), CachedTokens: int64(r.IntN(3))}}
	exits := r.Float64() < role.exits
	switch {
	case step == 0 && r.Float64() < role.bomb, r.Float64() < role.fails/float64(1+step):
		return act{fails: "no key at " + where}
	case exits, step < role.rounds && r.Float64() < role.works:
		if r.IntN(3) == 0 {
			a.text = "thinking at " + where
		}
		a.calls = calls(r, role, where, exits)
		return a
	case r.Float64() < role.mute:
		return a
	}
	a.text = where + " was told %s"
	if r.Float64() < role.long {
		a.text += strings.Repeat(" and so on", []int{40, 90, 150, 300, 600}[r.IntN(5)])
	}
	return a
}

func calls(r *rand.Rand, role role, where string, exits bool) (out []request) {
	number := 1 + r.IntN(3)
	if exits {
		number = r.IntN(3)
	}
	for i := range number {
		q := request{id: fmt.Sprintf("%s.c%d", where, i), kind: "reads"}
		switch {
		case r.Float64() < role.destroys:
			q.kind, q.long = "destroys", r.IntN(12) == 0
		case r.IntN(10) == 0:
			q.kind = []string{"unknown", "problem"}[r.IntN(2)]
		}
		out = append(out, q)
	}
	if exits {
		out = slices.Insert(out, r.IntN(len(out)+1), request{id: where + ".exit", kind: "exit"})
	}
	return out
}

// The outcomes of a tool call.
const (
	callDone, callFails, callIsLost = "done", "fails", "lost"
)

func (d *scenario) fate(id string, attempt int, destructive bool) string {
	switch r := d.randFor("fate", id, attempt); {
	case r.IntN(8) == 0:
		return callFails
	case destructive && attempt == 0 && r.IntN(8) == 0:
		return callIsLost
	}
	return callDone
}

func (d *scenario) toolText(id string) string {
	if d.chance(0.1, "long result", id) {
		return "result of " + id + strings.Repeat(" more", 600)
	}
	return "result of " + id
}

// approval names an approval by the call that it is about.
func approval(id string, repeat bool) string {
	if repeat {
		return id + " again"
	}
	return id
}

func (d *scenario) approved(approval string) bool { return d.chance(d.approves, "approve", approval) }
