package workflows_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// expected is the expected outcome of a turn.
type expected struct {
	reply    string
	said     []string               // all messages, in order
	states   []string               // of all nodes
	models   map[string][]modelCall // by leaf, in order
	batches  map[string][][]string  // of tool calls made, by leaf
	usage    contract.Usage
	approval map[string]map[string]string // the session state where an approval opens
	frozen   map[string]bool              // calls of models, and approvals, that only a failure elsewhere ends
	bombs    map[string]int               // calls of models that fail once nothing else moves, with their depth
}

// modelCall is the input of a model call.
type modelCall struct {
	Values map[string]string
	Before []string // earlier messages of its node
}

// interpreter is the plain interpreter of trees.
type interpreter struct {
	*scenario
	visits  map[string]int
	user    string
	out     *expected
	tally   map[string]map[contract.Outcome]int
	stopped int // around: parallel nodes that a failure will stop
	change  func()
	began   int
}

// ending is the outcome of a node.
type ending struct {
	outcome contract.Outcome
	output  string
	set     map[string]string
	exit    bool
	usage   contract.Usage
	said    []string
	shown   finalState
}

// finalState is the visible state of a node at the end.
type finalState struct {
	status    contract.NodeStatus
	output    string
	usage     contract.Usage
	iteration int
	nodes     []finalState
}

func (e *interpreter) turn(user string) *expected {
	e.user, e.tally = user, map[string]map[contract.Outcome]int{}
	e.out = &expected{
		models: map[string][]modelCall{}, batches: map[string][][]string{}, approval: map[string]map[string]string{},
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
		e.out.said = append(e.out.said, " assistant: "+abbreviated(e.out.reply))
	}
	e.out.states = r.shown.lines(e.root, "")
	return e.out
}

// account returns the reply that lists completed leaves and others.
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

// node runs a node. It returns the ending before on_reject and the output key are applied.
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

// seenFromParent returns the ending of a node after its on_reject and output key are applied.
func seenFromParent(n contract.Node, r ending) ending {
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

// steps runs nodes one after the other. It returns true if no other node may follow the last
// one.
func (e *interpreter) steps(n *contract.Node, state map[string]string, depth int, r *ending) (last bool) {
	r.shown.nodes = make([]finalState, len(n.Nodes))
	for i := range n.Nodes {
		inner := e.node(&n.Nodes[i], merged(state, r.set), depth+1)
		r.shown.nodes[i] = inner.shown
		inner = seenFromParent(n.Nodes[i], inner)
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
		inner = seenFromParent(n.Nodes[i], inner)
		r.add(inner)
		if inner.outcome == contract.OutcomeRejected && count[contract.OutcomeRejected] == 0 {
			rejection = inner.output
		}
		if count[inner.outcome]++; inner.output != "" && inner.outcome != contract.OutcomeCancelled {
			outputs = append(outputs, inner.output)
		}
		if n.FailFast && i != bomb && inner.outcome == contract.OutcomeFailed && e.change == nil {
			e.change = func() { n.FailFast = false } // which branch is first depends on timing
		}
	}
	r.output = strings.Join(outputs, "\n")
	switch failed := count[contract.OutcomeFailed]; {
	case bomb < 0 && count[contract.OutcomeCancelled] > 0:
		r.outcome = contract.OutcomeCancelled // a failure in an outer node caused it
	case count[contract.OutcomeRejected] > 0:
		r.outcome, r.output = contract.OutcomeRejected, rejection
	case failed > 0 && (n.FailFast || failed == len(n.Nodes)):
		r.outcome = contract.OutcomeFailed
	default:
		r.outcome = contract.OutcomeDone
	}
	return r
}

// bomb returns the index of the branch that will fail, or -1.
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
		e.change = func() { shorten(&e.root) }
	}
	if e.change != nil {
		return ending{outcome: contract.OutcomeDone}
	}
	values := map[string]string{}
	for _, k := range n.Keys {
		values[k] = merged(state, map[string]string{contract.KeyUserMessage: e.user})[k]
	}
	v := &leafRun{interpreter: e, node: n, state: state}
	left := n.Rounds()
	for step := 0; ; step++ {
		if left == 0 {
			v.end(contract.OutcomeFailed, "Maximum tool call iterations reached.")
			break
		}
		left--
		key := fmt.Sprint(n.Name, visit, step)
		e.out.models[n.Name] = append(e.out.models[n.Name], modelCall{Values: values, Before: slices.Clone(v.said)})
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
			v.end(contract.OutcomeDone, modelText(a.text, values))
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

// shorten reduces a tree that runs too long.
func shorten(n *contract.Node) {
	n.MaxIterations = (n.MaxIterations + 1) / 2
	for i := range n.Nodes {
		shorten(&n.Nodes[i])
	}
}

// modelText returns a model's text, which depends on the values in its prompt.
func modelText(text string, values map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		all = append(all, k+"="+abbreviated(values[k]))
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(all, "\n")))
	return strings.Replace(text, "%s", fmt.Sprintf("%08x", h.Sum32()), 1)
}

// leafRun is a running leaf.
type leafRun struct {
	*interpreter
	ending
	node  *contract.Node
	state map[string]string
}

func (v *leafRun) say(text string) { v.said = append(v.said, v.node.Name+" "+text) }

func (v *leafRun) end(o contract.Outcome, text string) {
	if v.outcome, v.output = o, text; text != "" {
		v.say("assistant: " + abbreviated("["+v.node.Name+"] "+text))
	}
}

// asks asks a person. over means that a failure in another node came first.
func (v *leafRun) asks(approval string) (approved, over bool) {
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

// inVain lists calls that were approved and do not run.
func (v *leafRun) inVain(approved []request) {
	var names []string
	for _, q := range approved {
		names = append(names, q.tool())
	}
	if len(names) > 0 {
		v.say("assistant: [" + v.node.Name + "] Approved but not run, because another call of the same reply was rejected: " + strings.Join(names, ", ") + ".")
	}
}

// carryOut carries out a reply. over means that the leaf has ended.
func (v *leafRun) carryOut(a act) (decided, over bool) {
	if a.text != "" {
		v.say("assistant: " + a.text)
	}
	exit := false
	var ask []request
	for _, q := range a.calls {
		v.say("calls " + q.tool() + " " + q.id)
		exit = exit || q.kind == "exit"
		if q.kind == "destroys" && !v.node.SkipApproval {
			ask = append(ask, q)
		}
	}
	for n, q := range ask {
		approved, over := v.asks(q.id)
		if over {
			return true, true
		}
		if !approved {
			v.inVain(ask[:n])
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
func (v *leafRun) runAll(list []request) {
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

func (v *leafRun) destroy(id string) {
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

func (v *leafRun) result(id, fate string) {
	if fate == callFails {
		v.say("failed " + id + ": Tool execution failed: no " + id)
		return
	}
	v.say("result " + id + ": " + abbreviated(v.toolText(id)))
}

// abbreviated returns a text, or the beginning and the hash of a long one.
func abbreviated(text string) string {
	if len(text) <= 300 {
		return text
	}
	return text[:60] + "… " + contract.Hash([]byte(text))[:12]
}

// lines draws the states of a tree.
func (s finalState) lines(n contract.Node, indent string) []string {
	status := s.status
	if status == "" {
		status = contract.NodePending
	}
	line := fmt.Sprintf("%s%s %s %d/%d/%d", indent, n.Name, status, s.usage.InputTokens, s.usage.OutputTokens, s.usage.CachedTokens)
	if s.iteration > 0 {
		line += fmt.Sprint(" iteration ", s.iteration)
	}
	out := []string{line + " " + abbreviated(s.output)}
	for i, inside := range n.Nodes {
		var state finalState
		if i < len(s.nodes) {
			state = s.nodes[i]
		}
		out = append(out, state.lines(inside, indent+"  ")...)
	}
	return out
}

// drawTree formats a tree for the message of a failed test.
func drawTree(n contract.Node, roles map[string]role, indent string) string {
	line := fmt.Sprintf("%s%s %s", indent, n.Name, n.Type)
	if n.FailFast {
		line += " fail_fast"
	}
	if n.OnReject != "" {
		line += " on_reject: " + n.OnReject
	}
	if n.SkipApproval {
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
		line += drawTree(inside, roles, indent+"  ")
	}
	return line
}
