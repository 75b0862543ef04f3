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

// TestRandomTreesDoWhatAPlainInterpreterSays runs random trees with random
// models, tools and people, and compares all that can be seen with what recursive
// functions over the tree make of the same script.
//
// TREE_SEEDS is how many trees to run, TREE_SEED the first of them (default 1).
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
				seed, len(d.turns), d.rollOver, d.lean, d.auto, d.slow, d.holds, sketch(d.root, d.roles, ""))
		}
	})
	p := &stage{drama: d, t: t, world: &world{}, visits: map[string]int{}, made: map[string]int{}}
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

// A drama is a tree with everything that models, tools and people do in it. It
// is all a function of the seed.
type drama struct {
	seed     uint64
	root     contract.Node
	roles    map[string]role // of leaves
	turns    []*expected
	rollOver int
	slow     time.Duration
	lean     bool
	auto     bool    // with calls that are handed over
	approves float64 // how likely a person approves
	holds    float64 // how likely a call of a model or a tool takes its time
}

// role is how likely a leaf does what, each time it may.
type role struct {
	works, destroys, exits, fails, long, mute, bomb float64
	rounds                                          int // that work, at most
}

func newDrama(seed uint64) *drama {
	r := rand.New(rand.NewPCG(seed, 7))
	d := &drama{seed: seed, roles: map[string]role{}}
	d.approves = []float64{1, 0.9, 0.75, 0.5}[r.IntN(4)]
	d.rollOver = []int{0, 1, 2, 3, 5, 8}[r.IntN(6)]
	if r.IntN(5) == 0 {
		d.slow = time.Duration(1+r.IntN(400)) * time.Millisecond
	}
	if d.lean = r.IntN(8) == 0; !d.lean {
		d.holds = []float64{0, 0.1, 0.4}[r.IntN(3)]
	}
	g := &grower{Rand: r, drama: d, left: 1 + r.IntN(14)}
	d.root = g.composite(1, surroundings{})
	turns := 1 + r.IntN(2)
	d.auto = seed%3 == 0
	for !d.rehearse(turns) { // the tree was changed
	}
	return d
}

// rehearse works out what is expected. It returns false when it had to change the
// tree first, because what becomes of it would be a matter of time.
func (d *drama) rehearse(turns int) bool {
	e := &interpreter{drama: d, visits: map[string]int{}}
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

// dice are the same for the same question.
func (d *drama) dice(question ...any) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, question...)
	return rand.New(rand.NewPCG(d.seed, h.Sum64()))
}

func (d *drama) chance(p float64, question ...any) bool { return d.dice(question...).Float64() < p }

// grower makes trees.
type grower struct {
	*rand.Rand
	drama        *drama
	left, leaves int
	groups       int
}

// surroundings are what matters of the nodes around one.
type surroundings struct {
	looped, unattended bool // a loop; a loop or a parallel node
	sequences          int
}

func (g *grower) composite(depth int, around surroundings) contract.Node {
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

// plantBomb makes one leaf in a parallel node the one that fails.
func (g *grower) plantBomb(n contract.Node) {
	for i := range n.Nodes {
		if !n.Nodes[i].Composite() {
			g.drama.roles[n.Nodes[i].Name] = role{works: 0.3, bomb: 0.8, rounds: 1}
			n.Nodes[i].MaxToolRounds = 0
			return
		}
	}
}

func (g *grower) leaf(around surroundings) contract.Node {
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
	// Which sequences exit_loop ends outside a loop is not said for nested ones.
	if n.CanExitLoop = g.IntN(3) == 0 && (around.looped || around.sequences < 2); n.CanExitLoop {
		r.exits = 0.4
	}
	if g.IntN(4) == 0 {
		n.MaxToolRounds = 1 + g.IntN(3)
	}
	g.drama.roles[name] = r
	return n
}

func (g *grower) oneOf(list ...float64) float64 { return list[g.IntN(len(list))] }

func (g *grower) key(oneIn int) string {
	if g.IntN(oneIn) > 0 {
		return ""
	}
	return fmt.Sprintf("k%d", g.IntN(4))
}

func (g *grower) onReject() string {
	if g.IntN(5) == 0 {
		return contract.OnRejectContinue
	}
	return ""
}

// act is what a leaf's model does: text, calls, or a failure.
type act struct {
	fails string
	text  string // %s is for what the model was told
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

// act is what the model of a leaf does when it is asked for the step-th time
// since the leaf began for the visit-th time. Both count from 0.
func (d *drama) act(n contract.Node, visit, step int) act {
	r, role := d.dice("act", n.Name, visit, step), d.roles[n.Name]
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

// What becomes of a call of a tool.
const (
	callDone, callFails, callIsLost = "done", "fails", "lost"
)

func (d *drama) fate(id string, attempt int, destructive bool) string {
	switch r := d.dice("fate", id, attempt); {
	case r.IntN(8) == 0:
		return callFails
	case destructive && attempt == 0 && r.IntN(8) == 0:
		return callIsLost
	}
	return callDone
}

func (d *drama) toolText(id string) string {
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

func (d *drama) approved(approval string) bool { return d.chance(d.approves, "approve", approval) }
