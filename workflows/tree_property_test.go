package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
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
			t.Logf("TREE_SEED=%d TREE_SEEDS=1, %d turns, roll over after %d, lean %t, slow %s, holds %v\n%s",
				seed, len(d.turns), d.rollOver, d.lean, d.slow, d.holds, sketch(d.root, d.roles, ""))
		}
	})
	p := &stage{drama: d, t: t, world: &world{}, visits: map[string]int{}, made: map[string]int{}}
	p.begin(0)
	p.world.GenerateFn, p.world.CallToolFn = p.generate, p.callTool
	p.s = newSession(t, p.world, contract.ConversationWorkflowID(conversationID))
	p.s.nodesRollOverAfter(d.rollOver)
	p.s.seen.slow = d.slow
	in := tree(d.root)
	if d.lean {
		in.Agent.Execution = contract.ExecutionLean
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
	n.AtOnce = around.unattended && g.IntN(2) == 0
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

// expected is what a turn comes to.
type expected struct {
	reply    string
	said     []string              // all messages, in order
	states   []string              // of all nodes
	models   map[string][]asked    // by leaf, in order
	batches  map[string][][]string // of tool calls made, by leaf
	usage    contract.Usage
	approval map[string]map[string]string // the session state where an approval opens
	frozen   map[string]bool              // calls of models, and approvals, that only a failure elsewhere ends
	bombs    map[string]int               // calls of models that fail once nothing else moves, with their depth
}

// asked is what a model sees.
type asked struct {
	Values map[string]string
	Before []string // what its node said before
}

// interpreter is the plain interpreter of trees.
type interpreter struct {
	*drama
	visits  map[string]int
	user    string
	out     *expected
	tally   map[string]map[contract.Outcome]int
	stopped int // around: parallel nodes that a failure will stop
	change  func()
	began   int
}

// ending is how a node ended.
type ending struct {
	outcome contract.Outcome
	output  string
	set     map[string]string
	exit    bool
	usage   contract.Usage
	said    []string
	shown   shown
}

// shown is what can be seen of a node in the end.
type shown struct {
	status    contract.NodeStatus
	output    string
	usage     contract.Usage
	iteration int
	nodes     []shown
}

func (e *interpreter) turn(user string) *expected {
	e.user, e.tally = user, map[string]map[contract.Outcome]int{}
	e.out = &expected{
		models: map[string][]asked{}, batches: map[string][][]string{}, approval: map[string]map[string]string{},
		frozen: map[string]bool{}, bombs: map[string]int{},
	}
	r := e.node(&e.root, map[string]string{}, 1)
	rejected := r.outcome == contract.OutcomeRejected && e.root.OnReject == ""
	e.out.reply, e.out.usage = r.output, r.usage
	if rejected {
		e.out.reply = e.account(r.output)
	} else if r.output == "" {
		e.out.reply = "No node of the agent had anything to say."
	}
	e.out.said = append([]string{" user: " + user}, r.said...)
	if rejected || r.output == "" {
		e.out.said = append(e.out.said, " assistant: "+brief(e.out.reply))
	}
	e.out.states = r.shown.lines(e.root, "")
	return e.out
}

// account says what was done and what was not.
func (e *interpreter) account(text string) string {
	var done, not []string
	var walk func(contract.Node)
	walk = func(n contract.Node) {
		for _, inside := range n.Nodes {
			walk(inside)
		}
		if n.Composite() {
			return
		}
		count := e.tally[n.Name]
		switch times := count[contract.OutcomeDone]; {
		case times == 1:
			done = append(done, n.Name)
		case times > 1:
			done = append(done, fmt.Sprintf("%s (%d times)", n.Name, times))
		}
		switch {
		case count[contract.OutcomeRejected] > 0:
			not = append(not, n.Name+" (rejected)")
		case count[contract.OutcomeFailed] > 0:
			not = append(not, n.Name+" (failed)")
		case count[contract.OutcomeDone] == 0:
			not = append(not, n.Name+" (skipped)")
		}
	}
	walk(e.root)
	if len(done) > 0 {
		text += "\n\nDone: " + strings.Join(done, ", ") + "."
	}
	if len(not) > 0 {
		text += "\n\nNot done: " + strings.Join(not, ", ") + "."
	}
	return text
}

// node runs a node; its ending is seen from within: without on_reject and key.
func (e *interpreter) node(n *contract.Node, state map[string]string, depth int) ending {
	var r ending
	switch n.Type {
	case contract.NodeSequential:
		r = e.sequential(n, state, depth)
	case contract.NodeParallel:
		r = e.parallel(n, state, depth)
	case contract.NodeLoop:
		r = e.loop(n, state, depth)
	default:
		r = e.leaf(n, state, depth)
	}
	if n.Composite() && r.outcome == contract.OutcomeCancelled {
		r.output = "Stopped."
	}
	r.shown.status, r.shown.output, r.shown.usage = contract.NodeStatus(r.outcome), r.output, r.usage
	return r
}

// from is the ending of a node as the node around sees it.
func from(n contract.Node, r ending) ending {
	if r.outcome == contract.OutcomeRejected && n.OnReject != "" {
		r.outcome = contract.OutcomeDone
	}
	if r.outcome == contract.OutcomeDone && n.OutputKey != "" && r.output != "" {
		r.set = merged(r.set, map[string]string{n.OutputKey: r.output})
	}
	return r
}

func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// steps runs nodes one after the other. It returns true when the last of them
// lets no other follow.
func (e *interpreter) steps(n *contract.Node, state map[string]string, depth int, r *ending) (last bool) {
	r.shown.nodes = make([]shown, len(n.Nodes))
	for i := range n.Nodes {
		inner := e.node(&n.Nodes[i], merged(state, r.set), depth+1)
		r.shown.nodes[i] = inner.shown
		inner = from(n.Nodes[i], inner)
		r.add(inner)
		if r.outcome = inner.outcome; inner.output != "" {
			r.output = inner.output
		}
		if r.exit || r.outcome == contract.OutcomeRejected || r.outcome == contract.OutcomeCancelled {
			return true
		}
	}
	return false
}

func (r *ending) add(inner ending) {
	r.set = merged(r.set, inner.set)
	r.usage = r.usage.Add(inner.usage)
	r.said = append(r.said, inner.said...)
	r.exit = r.exit || inner.exit
}

func (e *interpreter) sequential(n *contract.Node, state map[string]string, depth int) (r ending) {
	e.steps(n, state, depth, &r)
	return r
}

func (e *interpreter) loop(n *contract.Node, state map[string]string, depth int) (r ending) {
	for i := 1; i <= n.MaxIterations; i++ {
		r.shown.iteration = i
		if e.steps(n, state, depth, &r) {
			break
		}
	}
	r.exit = false
	return r
}

func (e *interpreter) parallel(n *contract.Node, state map[string]string, depth int) (r ending) {
	bomb := e.bomb(n)
	var outputs []string
	count := map[contract.Outcome]int{}
	rejection := ""
	for i := range n.Nodes {
		if bomb >= 0 && i != bomb {
			e.stopped++
		}
		inner := e.node(&n.Nodes[i], state, depth+1)
		if bomb >= 0 && i != bomb {
			e.stopped--
		}
		r.shown.nodes = append(r.shown.nodes, inner.shown)
		inner = from(n.Nodes[i], inner)
		r.add(inner)
		if inner.outcome == contract.OutcomeRejected && count[contract.OutcomeRejected] == 0 {
			rejection = inner.output
		}
		if count[inner.outcome]++; inner.output != "" && inner.outcome != contract.OutcomeCancelled {
			outputs = append(outputs, inner.output)
		}
		if n.FailFast && i != bomb && inner.outcome == contract.OutcomeFailed && e.change == nil {
			e.change = func() { n.FailFast = false } // who is first is a matter of time
		}
	}
	r.output = strings.Join(outputs, "\n")
	switch failed := count[contract.OutcomeFailed]; {
	case bomb < 0 && count[contract.OutcomeCancelled] > 0:
		r.outcome = contract.OutcomeCancelled // the failure that did it is further out
	case count[contract.OutcomeRejected] > 0:
		r.outcome, r.output = contract.OutcomeRejected, rejection
	case failed > 0 && (n.FailFast || failed == len(n.Nodes)):
		r.outcome = contract.OutcomeFailed
	default:
		r.outcome = contract.OutcomeDone
	}
	return r
}

// bomb is the branch that will fail, or -1.
func (e *interpreter) bomb(n *contract.Node) int {
	for i, b := range n.Nodes {
		if n.FailFast && e.roles[b.Name].bomb > 0 && e.act(b, e.visits[b.Name], 0).fails != "" {
			return i
		}
	}
	return -1
}

func (e *interpreter) leaf(n *contract.Node, state map[string]string, depth int) (r ending) {
	visit := e.visits[n.Name]
	e.visits[n.Name]++
	if e.began++; e.began > 150 && e.change == nil {
		e.change = func() { calm(&e.root) }
	}
	if e.change != nil {
		return ending{outcome: contract.OutcomeDone}
	}
	values := map[string]string{}
	for _, k := range n.Keys {
		if v, ok := merged(state, map[string]string{contract.KeyUserMessage: e.user})[k]; ok {
			values[k] = v
		}
	}
	v := &visitor{interpreter: e, node: n, state: state}
	left := n.Rounds()
	for step := 0; ; step++ {
		if left == 0 {
			v.end(contract.OutcomeFailed, "Maximum tool call iterations reached.")
			break
		}
		left--
		key := fmt.Sprint(n.Name, visit, step)
		e.out.models[n.Name] = append(e.out.models[n.Name], asked{Values: values, Before: slices.Clone(v.said)})
		if e.stopped > 0 && e.roles[n.Name].bomb == 0 && e.chance(0.15, "freeze", key) {
			e.out.frozen[key] = true
			v.end(contract.OutcomeCancelled, "Stopped.")
			break
		}
		a := e.act(*n, visit, step)
		if a.fails != "" {
			if e.roles[n.Name].bomb > 0 && step == 0 {
				e.out.bombs[key] = depth
			}
			v.end(contract.OutcomeFailed, "LLM error: "+a.fails)
			break
		}
		v.usage = v.usage.Add(a.usage)
		if len(a.calls) == 0 {
			v.end(contract.OutcomeDone, told(a.text, values))
			break
		}
		decided, over := v.carryOut(a)
		if over {
			break
		}
		if decided {
			left = n.Rounds()
		}
	}
	if v.outcome != contract.OutcomeCancelled {
		if e.tally[n.Name] == nil {
			e.tally[n.Name] = map[contract.Outcome]int{}
		}
		e.tally[n.Name][v.outcome]++
	}
	return v.ending
}

// calm makes a tree that runs too long shorter.
func calm(n *contract.Node) {
	n.MaxIterations = (n.MaxIterations + 1) / 2
	for i := range n.Nodes {
		calm(&n.Nodes[i])
	}
}

// told is a model's text; the rest of it tells on what it was told.
func told(text string, values map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		all = append(all, k+"="+brief(values[k]))
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(all, "\n")))
	return strings.Replace(text, "%s", fmt.Sprintf("%08x", h.Sum32()), 1)
}

// visitor is a leaf at work.
type visitor struct {
	*interpreter
	ending
	node  *contract.Node
	state map[string]string
}

func (v *visitor) say(text string) { v.said = append(v.said, v.node.Name+" "+text) }

func (v *visitor) end(o contract.Outcome, text string) {
	if v.outcome, v.output = o, text; text != "" {
		v.say("assistant: " + brief("["+v.node.Name+"] "+text))
	}
}

// asks asks a person. over means that a failure elsewhere came first.
func (v *visitor) asks(approval string) (approved, over bool) {
	v.say("asks about " + approval)
	v.out.approval[approval] = v.state
	if v.stopped > 0 && !strings.HasSuffix(approval, " again") && v.chance(0.3, "freeze", approval) {
		v.out.frozen[approval] = true
		v.say("user: [APPROVAL]: Cancelled")
		v.end(contract.OutcomeCancelled, "Stopped.")
		return false, true
	}
	if v.approved(approval) {
		v.say("user: [APPROVAL]: Approved")
		return true, false
	}
	v.say("user: [APPROVAL]: Rejected")
	return false, false
}

// carryOut does what a reply asks for. over means that the leaf has ended.
func (v *visitor) carryOut(a act) (decided, over bool) {
	if a.text != "" {
		v.say("assistant: " + a.text)
	}
	exit := false
	var ask []request
	for _, q := range a.calls {
		v.say("calls " + q.tool() + " " + q.id)
		exit = exit || q.kind == "exit"
		if q.kind == "destroys" && !v.node.AtOnce {
			ask = append(ask, q)
		}
	}
	for _, q := range ask {
		approved, over := v.asks(q.id)
		if over {
			return true, true
		}
		if !approved {
			v.end(contract.OutcomeRejected, "Operation cancelled by user.")
			return true, true
		}
	}
	for _, q := range a.calls {
		switch q.kind {
		case "unknown":
			v.say("failed " + q.id + ": Tool not found: nonsense")
		case "problem":
			v.say("failed " + q.id + ": not so")
		case "exit":
			v.say("result " + q.id + ": The loop ends here.")
		}
	}
	v.runAll(a.calls)
	if exit {
		v.say("assistant: [" + v.node.Name + "] exit_loop called")
		v.outcome, v.output, v.exit = contract.OutcomeDone, a.text, true
	}
	return len(ask) > 0, exit
}

// runAll makes the calls: destructive ones alone, those between them together.
func (v *visitor) runAll(list []request) {
	var together []string
	flush := func() {
		if len(together) > 0 {
			v.out.batches[v.node.Name] = append(v.out.batches[v.node.Name], together)
		}
		for _, id := range together {
			v.result(id, v.fate(id, 0, false))
		}
		together = nil
	}
	for _, q := range list {
		switch q.kind {
		case "reads":
			together = append(together, q.id)
		case "destroys":
			flush()
			v.destroy(q.id)
		}
	}
	flush()
}

func (v *visitor) destroy(id string) {
	for attempt := 0; ; attempt++ {
		v.out.batches[v.node.Name] = append(v.out.batches[v.node.Name], []string{id})
		fate := v.fate(id, attempt, true)
		if fate != callIsLost {
			v.result(id, fate)
			return
		}
		if approved, _ := v.asks(approval(id, true)); !approved {
			v.say("failed " + id + ": Outcome unknown: the call was sent and its answer was lost (lost " + id + "). It was not repeated.")
			return
		}
	}
}

func (v *visitor) result(id, fate string) {
	if fate == callFails {
		v.say("failed " + id + ": Tool execution failed: no " + id)
		return
	}
	v.say("result " + id + ": " + brief(v.toolText(id)))
}

// brief is a text, or the beginning and the digest of a long one.
func brief(text string) string {
	if len(text) <= 300 {
		return text
	}
	return text[:60] + "… " + contract.Sum([]byte(text))[:12]
}

// lines draws the states of a tree.
func (s shown) lines(n contract.Node, indent string) []string {
	status := s.status
	if status == "" {
		status = contract.NodePending
	}
	line := fmt.Sprintf("%s%s %s %d/%d/%d", indent, n.Name, status, s.usage.InputTokens, s.usage.OutputTokens, s.usage.CachedTokens)
	if s.iteration > 0 {
		line += fmt.Sprint(" iteration ", s.iteration)
	}
	out := []string{line + " " + brief(s.output)}
	for i, inside := range n.Nodes {
		var state shown
		if i < len(s.nodes) {
			state = s.nodes[i]
		}
		out = append(out, state.lines(inside, indent+"  ")...)
	}
	return out
}

// sketch is a tree as a failed test shows it.
func sketch(n contract.Node, roles map[string]role, indent string) string {
	line := fmt.Sprintf("%s%s %s", indent, n.Name, n.Type)
	if n.FailFast {
		line += " fail_fast"
	}
	if n.OnReject != "" {
		line += " on_reject: " + n.OnReject
	}
	if n.AtOnce {
		line += " at once"
	}
	if n.MaxIterations > 0 {
		line += fmt.Sprint(" max_iterations: ", n.MaxIterations)
	}
	if n.OutputKey != "" {
		line += " output_key: " + n.OutputKey
	}
	if !n.Composite() {
		line += fmt.Sprintf(" prompt: %q rounds: %d %+v", n.Prompt.Inline, n.MaxToolRounds, roles[n.Name])
	}
	line += "\n"
	for _, inside := range n.Nodes {
		line += sketch(inside, roles, indent+"  ")
	}
	return line
}

// stage is where a drama is played, in the workflow test environment.
type stage struct {
	*drama
	t       *testing.T
	s       *session
	world   *world
	turn    int
	uuids   sync.Map // approvals by UUID
	opened  map[string]bool
	answers []string // requests that brought a decision
	seen    [][]string

	mu     sync.Mutex
	visits map[string]int
	steps  map[string]int // of the visit
	models map[string][]asked
	calls  []string // of tools
	made   map[string]int
	keys   map[string]string // idempotency keys of calls
	taken  []taken
	plain  bool
}

// taken is a call of a model or a tool that takes its time.
type taken struct {
	what   string
	result any
	err    error
	bomb   int // depth, of one that fails when nothing else moves
}

func (p *stage) put(text string) contract.Text {
	stored, err := transcript.Text(context.Background(), &p.world.blobs, text)
	if err != nil {
		p.t.Error(err)
	}
	return stored
}

func (p *stage) read(text contract.Text) string {
	s, err := transcript.ReadText(context.Background(), &p.world.blobs, text)
	if err != nil {
		p.t.Error(err)
	}
	return s
}

func (p *stage) values(state contract.State) map[string]string {
	out := map[string]string{}
	for _, v := range state {
		out[v.Key] = p.read(v.Text)
	}
	return out
}

// generate is the model of all leaves.
func (p *stage) generate(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, _, _ := strings.Cut(in.Prompt.Inline, " ")
	if p.plain {
		return says("fine"), nil
	}
	said := p.render(load(p.t, p.world, in.Transcript))
	if len(said) == 0 { // the leaf begins
		p.visits[name]++
		p.steps[name] = -1
	}
	p.steps[name]++
	visit, step := p.visits[name]-1, p.steps[name]
	seen := asked{Values: p.values(in.Values)}
	seen.Before = append(seen.Before, said...)
	p.models[name] = append(p.models[name], seen)

	n, _ := find(p.root, name)
	a := p.act(n, visit, step)
	result, err := p.reply(in, a)
	key, now := fmt.Sprint(name, visit, step), p.turns[p.turn]
	if now.frozen[key] {
		return contract.GenerateResult{}, held
	}
	depth, bomb := now.bombs[key]
	if bomb || p.chance(p.holds, "hold", key) {
		p.taken = append(p.taken, taken{what: "generate " + in.Prompt.Inline, result: result, err: err, bomb: depth})
		return contract.GenerateResult{}, held
	}
	return result, err
}

func (p *stage) reply(in contract.GenerateInput, a act) (contract.GenerateResult, error) {
	if a.fails != "" {
		return contract.GenerateResult{}, fails(contract.KindModelAuth, a.fails)
	}
	folded, err := transcript.Fold(context.Background(), &p.world.blobs, in.Transcript)
	if err != nil {
		p.t.Error(err)
	}
	out := contract.GenerateResult{Usage: a.usage, Folded: folded, Text: p.put(told(a.text, p.values(in.Values)))}
	for _, q := range a.calls {
		args := map[string]any{"name": q.id, "value": 1}
		if q.long {
			args["value"] = strings.Repeat("long ", 700)
		}
		raw, _ := json.Marshal(args)
		c := callOf(q.tool(), q.id, string(raw), q.kind == "destroys")
		if c.Arguments, err = transcript.JSON(context.Background(), &p.world.blobs, raw); err != nil {
			p.t.Error(err)
		}
		c.Exit, c.Unknown = q.kind == "exit", q.kind == "unknown"
		if q.kind == "problem" {
			c.Problem = "not so"
		}
		out.Calls = append(out.Calls, c)
	}
	return out, nil
}

func find(n contract.Node, name string) (contract.Node, []int) {
	if n.Name == name {
		return n, []int{}
	}
	for i, inside := range n.Nodes {
		if found, path := find(inside, name); path != nil {
			return found, append([]int{i}, path...)
		}
	}
	return contract.Node{}, nil
}

// callID is which call has these arguments.
func (p *stage) callID(args contract.JSON) string {
	raw, err := transcript.ReadJSON(context.Background(), &p.world.blobs, args)
	var of struct{ Name string }
	if err = errors.Join(err, json.Unmarshal(raw, &of)); err != nil {
		p.t.Error(err)
	}
	return of.Name
}

func (p *stage) callTool(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.callID(in.Arguments)
	p.calls = append(p.calls, id)
	attempt := p.made[id]
	p.made[id]++
	if known, ok := p.keys[id]; ok && known != in.IdempotencyKey {
		p.t.Errorf("call %s has the keys %s and %s", id, known, in.IdempotencyKey)
	}
	p.keys[id] = in.IdempotencyKey
	result, err := contract.CallToolResult{Text: p.put(p.toolText(id))}, error(nil)
	switch p.fate(id, attempt, in.Destructive) {
	case callFails:
		result, err = contract.CallToolResult{}, fails(contract.KindToolFailed, "no "+id)
	case callIsLost:
		result, err = contract.CallToolResult{}, fails(contract.KindOutcomeUnknown, "lost "+id)
	}
	if p.chance(p.holds, "hold", id, attempt) {
		p.taken = append(p.taken, taken{what: callName(in), result: result, err: err})
		return contract.CallToolResult{}, held
	}
	return result, err
}

// render is messages a line each.
func (p *stage) render(messages []contract.Message) (out []string) {
	for _, m := range messages {
		m, err := transcript.Resolve(context.Background(), &p.world.blobs, m)
		if err != nil {
			p.t.Error(err)
		}
		c, text := m.ToolCall, ""
		switch {
		case c != nil && m.Role == contract.RoleAssistant:
			text = "calls " + c.Name + " " + c.ID
		case c != nil && c.IsError:
			text = "failed " + c.ID + ": " + brief(c.Result.Inline)
		case c != nil:
			text = "result " + c.ID + ": " + brief(c.Result.Inline)
		case strings.HasPrefix(m.Content.Inline, "This action requires approval:"):
			_, uuid, _ := strings.Cut(m.Content.Inline, "Approval UUID: ")
			text = "asks about " + p.approvalOf(uuid)
		default:
			text = string(m.Role) + ": " + brief(m.Content.Inline)
		}
		out = append(out, m.Node+" "+text)
	}
	return out
}

// play plays all turns.
func (p *stage) play(s *session) {
	var all []string
	var usage contract.Usage
	for i := range p.turns {
		if i > 0 {
			p.begin(i)
			s.say(p.answers[0], message(i))
		}
		p.perform()
		all = append(all, p.turns[i].said...)
		usage = usage.Add(p.turns[i].usage)
		p.check(all, usage)
		if p.t.Failed() {
			return
		}
	}
	p.mu.Lock()
	p.plain = true
	p.mu.Unlock()
	s.say("last", "and now?")
	s.rest()
	if r := s.request("last"); !r.Settled || r.Refused != "" || r.Result.WaitingApproval {
		p.t.Errorf("the next message: %+v", r)
	}
	uniqueIDs(p.t, s.messages())
}

// begin forgets what belongs to the turn before.
func (p *stage) begin(turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn, p.steps, p.models, p.keys, p.calls = turn, map[string]int{}, map[string][]asked{}, map[string]string{}, nil
	p.opened, p.answers, p.seen = map[string]bool{}, []string{fmt.Sprintf("r%d", turn+1)}, nil
}

func (p *stage) approvalOf(uuid string) string {
	name, _ := p.uuids.Load(uuid)
	s, _ := name.(string)
	return s
}

// perform decides and releases in random order until nothing moves any more.
func (p *stage) perform() {
	r := p.dice("order", p.turn)
	for range 2000 {
		p.s.sleep(time.Hour) // reports may be slow
		moves := p.moves()
		if len(moves) == 0 {
			return
		}
		r.Shuffle(len(moves), func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
		atOnce := 1
		if r.IntN(3) == 0 {
			atOnce = 2 + r.IntN(2)
		}
		for _, move := range moves[:min(atOnce, len(moves))] {
			move()
		}
	}
	p.t.Fatal("the turn does not end")
}

// moves are what may happen next. It looks at what is there to be seen, too.
func (p *stage) moves() (out []func()) {
	pending := query[[]contract.PendingApproval](p.s, contract.ConversationWorkflowID(conversationID), contract.QueryPending)
	for _, a := range pending {
		name := approval(p.callID(a.ToolArgs), a.Reason == contract.ReasonUnknownOutcome)
		p.uuids.Store(a.UUID, name)
		if !p.opened[name] {
			p.checkOpened(name, a)
		}
		p.opened[name] = true
		if !p.turns[p.turn].frozen[name] {
			out = append(out, func() { p.decide(a.UUID, name) })
		}
	}
	p.checkPause(pending)
	p.mu.Lock()
	defer p.mu.Unlock()
	deepest := -1
	for i, c := range p.taken {
		if c.bomb == 0 {
			out = append(out, func() { p.release(c) })
		} else if deepest < 0 || c.bomb > p.taken[deepest].bomb {
			deepest = i
		}
	}
	if len(out) == 0 && deepest >= 0 {
		c := p.taken[deepest]
		out = append(out, func() { p.release(c) })
	}
	return out
}

func (p *stage) decide(uuid, name string) {
	id := fmt.Sprintf("d%d-%d", p.turn, len(p.answers))
	p.answers = append(p.answers, id)
	p.s.decideOn(uuid, contract.DecideSignal{Approved: p.approved(name), RequestID: id})
}

func (p *stage) release(c taken) {
	p.mu.Lock()
	p.taken = slices.DeleteFunc(p.taken, func(o taken) bool { return o.what == c.what })
	p.mu.Unlock()
	result := c.result
	if c.err != nil {
		result = nil
	}
	p.s.release(c.what, result, c.err)
}

// checkOpened checks an approval that has just opened.
func (p *stage) checkOpened(name string, a contract.PendingApproval) {
	_, path := find(p.root, a.Node)
	same(p.t, "path of "+name, a.NodePath, path)
	state, known := p.turns[p.turn].approval[name]
	if !known {
		p.t.Errorf("nobody should be asked about %s", name)
	}
	if v := p.s.view(); v.Pending[0].UUID == a.UUID {
		same(p.t, "session state at "+name, p.values(v.Pipeline.State), merged(state))
	}
}

// checkPause checks what can be seen while a turn runs or is over.
func (p *stage) checkPause(pending []contract.PendingApproval) {
	messages := p.s.messages()
	uniqueIDs(p.t, messages)
	p.seen = append(p.seen, p.render(messages))
	waiting := 0
	var walk func(s contract.NodeState)
	walk = func(s contract.NodeState) {
		if waiting += len(s.Approvals); (s.Status == contract.NodeWaiting) != (len(s.Approvals) > 0) {
			p.t.Errorf("a node is %s with %d approvals", s.Status, len(s.Approvals))
		}
		for _, inside := range s.Nodes {
			walk(inside)
		}
	}
	walk(p.s.treeState())
	same(p.t, "approvals in the tree", waiting, len(pending))
	if len(pending) > 0 {
		same(p.t, "status", p.s.view().Status, contract.StatusWaitingApproval)
	}
	small(p.t, "the exported conversation", p.world.exported())
}

// check compares what the conversation came to with what was expected.
func (p *stage) check(said []string, usage contract.Usage) {
	want := p.turns[p.turn]
	messages := p.s.messages()
	got := p.render(messages)
	same(p.t, "messages", got, said)
	for _, before := range p.seen {
		if missing, ok := subsequence(before, got); !ok {
			p.t.Errorf("%q was shown while the turn ran, but is not there in its place", missing)
		}
	}
	root := p.shown(p.s.treeState())
	same(p.t, "states", root.lines(p.root, ""), want.states)
	same(p.t, "usage", p.s.view().Usage, usage)
	same(p.t, "status", p.s.view().Status, contract.StatusActive)
	p.s.nothingWaits()
	p.checkAnswers(want)

	p.mu.Lock()
	defer p.mu.Unlock()
	same(p.t, "what models saw", p.models, want.models)
	same(p.t, "tool calls", p.batched(want.batches), want.batches)
	of := map[string]string{}
	for _, m := range messages {
		if m.ToolCall != nil && m.Role == contract.RoleAssistant {
			of[m.ToolCall.ID] = m.ID
		}
	}
	for id, key := range p.keys {
		same(p.t, "idempotency key of "+id, key, of[id])
	}
	for name := range want.approval {
		if !p.opened[name] {
			p.t.Errorf("nobody was asked about %s", name)
		}
	}
}

// checkAnswers checks that all requests have their answer, and that the reply is
// among them unless everybody was told of an approval that nobody decided.
func (p *stage) checkAnswers(want *expected) {
	final, undecided := 0, false
	for name := range want.approval {
		undecided = undecided || want.frozen[name]
	}
	for i, id := range p.answers {
		r := p.s.request(id)
		switch {
		case r.Settled && len(p.answers)-i > contract.RememberedAnswers: // and forgotten
		case !r.Settled || r.Refused != "" || r.Result == nil:
			p.t.Errorf("request %s has no answer: %+v", id, r)
		case r.Result.WaitingApproval:
			if p.approvalOf(r.Result.Approval.UUID) == "" {
				p.t.Errorf("request %s was told of an approval that nobody saw", id)
			}
		default:
			final++
			same(p.t, "answer of "+id, p.read(r.Result.Response), want.reply)
		}
	}
	if final == 0 && !undecided {
		p.t.Error("nobody got the reply")
	}
}

func (p *stage) shown(s contract.NodeState) shown {
	out := shown{status: s.Status, output: p.read(s.Output), usage: s.Usage, iteration: s.Iteration}
	for _, inside := range s.Nodes {
		out.nodes = append(out.nodes, p.shown(inside))
	}
	return out
}

// batched are the tool calls made, by leaf, cut like those expected. The order
// within a batch is left to chance.
func (p *stage) batched(want map[string][][]string) map[string][][]string {
	byLeaf := map[string][]string{}
	for _, id := range p.calls {
		name, _, _ := strings.Cut(id, ".")
		byLeaf[name] = append(byLeaf[name], id)
	}
	out := map[string][][]string{}
	for name, list := range byLeaf {
		for _, batch := range want[name] {
			n := min(len(batch), len(list))
			if n > 0 {
				out[name] = append(out[name], slices.Sorted(slices.Values(list[:n])))
			}
			list = list[n:]
		}
		for _, more := range list {
			out[name] = append(out[name], []string{more})
		}
	}
	return out
}

// subsequence tells whether all lines are among others in this order, or which is
// not.
func subsequence(lines, of []string) (missing string, ok bool) {
	for _, l := range lines {
		i := slices.Index(of, l)
		if i < 0 {
			return l, false
		}
		of = of[i+1:]
	}
	return "", true
}

func small(t *testing.T, what string, v any) {
	t.Helper()
	if n := jsonSize(t, v); n >= 64<<10 {
		t.Errorf("%s has %d bytes", what, n)
	}
}

func (p *stage) checkSizes() {
	for _, n := range p.s.seen.nodes {
		small(p.t, "the input of "+n.ID, n.Input)
	}
	for _, in := range p.s.seen.carried {
		small(p.t, "what a run begins with", in)
	}
	for _, r := range p.s.seen.results {
		small(p.t, "a result", r)
	}
	for _, b := range p.s.seen.batches {
		small(p.t, "a signal to the conversation", b)
	}
	for _, c := range p.s.seen.children {
		small(p.t, "the input of "+c.ID, c.Input)
	}
	for _, in := range read(p.world, &p.world.prompts) {
		small(p.t, "what a model is given", in)
	}
}
