package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// composite is a sequential, parallel or loop node at work: a workflow that runs
// the nodes inside it, the leaves in coroutines of its own and the composite ones
// as child workflows. It never fails: what becomes of it is its result.
type composite struct {
	in contract.NodeInput
	id string // the workflow's
	// execution is the ID of its run.
	execution string
	reset     aftermath
	next      int // the step, or the iteration, that comes next
	base      int // how many states of nodes inside are folded
	seq       int // of the last message
	state     contract.NodeState
	sum       decide.Merge

	credential string
	past       contract.Transcript // of nodes that have ended
	parts      []*part             // of nodes that run, in declared order
	open       []contract.OpenApproval
	reporter   reporter
	leaves     []*leaf // at work
	questions  workflow.ReceiveChannel
	folding    workflow.Mutex
	ended      bool // no node will run any more
}

// part is what a node inside has written so far.
type part struct {
	run        string // workflow ID of a composite node that still runs
	transcript contract.Transcript
}

// runComposite runs a composite node with the given body, which reports whether it
// wants to go on in a new run.
func runComposite(ctx workflow.Context, in contract.NodeInput, body func(*composite, workflow.Context) (again bool)) (contract.NodeResult, error) {
	c := newComposite(ctx, in)
	work, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(work, c.report)
	workflow.Go(work, c.listen)
	c.changed(work)
	again := body(c, withCredential(ctx, c.credential))
	c.reporter.over, c.ended = true, !again
	c.foldAll(work)
	c.takeReports(work)
	if again || c.reporter.owes() {
		c.reporter.settle(work)
	}
	if again {
		return contract.NodeResult{}, c.continueAsNew(ctx)
	}
	r := c.result(ctx)
	c.show(ctx)
	return r, nil
}

func newComposite(ctx workflow.Context, in contract.NodeInput) *composite {
	execution := workflow.GetInfo(ctx).WorkflowExecution
	c := &composite{in: in, id: execution.ID, execution: execution.RunID, credential: in.Credential}
	c.folding = workflow.NewMutex(ctx)
	c.reporter.since = now(ctx)
	c.questions = workflow.GetSignalChannel(ctx, contract.SignalQuestion)
	c.reporter.arrived = workflow.GetSignalChannel(ctx, contract.SignalReport)
	c.state = contract.NodeState{Status: contract.NodeRunning, Run: c.id, StartedAt: now(ctx)}
	if carried := in.Carried; carried != nil {
		c.next, c.seq, c.reporter.sent = carried.Next, carried.Seq, carried.Reports
		c.state, c.past = carried.Result.Tree, carried.Result.Transcript
		c.sum = decide.Resume(carried.Result)
		c.credential = carried.Result.Credential
	}
	c.openStates()
	return c
}

// openStates makes room for the states of the nodes whose turn has not come.
func (c *composite) openStates() {
	all := len(c.in.Node.Nodes)
	c.base = 0
	if c.state.Folded != nil {
		c.base = all - len(c.state.Nodes)
		return
	}
	nodes := make([]contract.NodeState, all)
	copy(nodes, c.state.Nodes)
	c.state.Nodes = nodes
}

// stateOf is the state of node i, which must not have ended.
func (c *composite) stateOf(i int) *contract.NodeState { return &c.state.Nodes[i-c.base] }

// mayRollOver reports whether the run's history is long enough for a new one. No
// node may be running. A cancelled run ends instead.
func (c *composite) mayRollOver(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return ctx.Err() == nil && decide.RollOverNode(decide.History{
		Events: info.GetCurrentHistoryLength(), Bytes: info.GetCurrentHistorySize(), Suggested: info.GetContinueAsNewSuggested(),
	})
}

func (c *composite) continueAsNew(ctx workflow.Context) error {
	r := c.sum.Result()
	r.Transcript, r.Tree, r.Credential = c.past, c.state, c.credential
	next := c.in
	next.Carried = &contract.NodeCarried{Next: c.next, Reports: c.reporter.sent, Seq: c.seq, Result: r}
	return workflow.NewContinueAsNewError(ctx, workflow.GetInfo(ctx).WorkflowType.Name, next)
}

// result is what the node completes with.
func (c *composite) result(ctx workflow.Context) contract.NodeResult {
	r := c.sum.Result()
	if ctx.Err() != nil {
		r.Outcome, r.Output = contract.OutcomeCancelled, contract.Inline(wording.TextStopped)
	}
	if c.credential != c.in.Credential {
		r.Credential = c.credential
	}
	finish(ctx, &c.state, r)
	r.Transcript, r.Tree = c.past, c.state
	return r
}

// begun is a node inside that has been started.
type begun struct {
	node  contract.Node
	index int
	path  []int
	part  *part
	// id is that of its workflow, if it is composite, and key what NodeInput.Key is.
	id, key string
	scope   string // of a leaf
}

// begin makes room for a node's messages, behind those of the nodes before it.
func (c *composite) begin(ctx workflow.Context, i int, parent string) *begun {
	b := &begun{
		node: c.in.Node.Nodes[i], index: i, part: &part{},
		path: append(append([]int{}, c.in.Path...), i),
	}
	keyed := c.key() + strings.TrimPrefix(parent, c.id)
	b.scope = fmt.Sprintf("%s node %d", keyed, i)
	if b.node.Composite() {
		b.id, b.key = c.reset.nodeID(ctx, contract.NodeWorkflowID(parent, b.node.Name, i), contract.NodeWorkflowID(keyed, b.node.Name, i), c.in.ConversationID)
		b.part.run = b.id
	}
	c.parts = append(c.parts, b.part)
	return b
}

// session is the session state as the nodes inside see it.
func (c *composite) session() contract.State { return c.in.State.With(c.sum.Delta...) }

// work runs a node. It returns when the node has ended.
func (c *composite) work(ctx workflow.Context, b *begun) contract.NodeResult {
	budget := decide.Shorter(b.node.Timeout, c.sum.Left(c.in.Budget))
	var r contract.NodeResult
	if b.node.Composite() {
		r = c.workChild(ctx, b, budget)
	} else {
		r = c.workLeaf(ctx, b, budget)
	}
	b.part.run = ""
	c.changed(ctx)
	return r
}

func (c *composite) workLeaf(ctx workflow.Context, b *begun, budget time.Duration) contract.NodeResult {
	l := &leaf{host: c, journal: c.journal(b), node: b.node, path: b.path, inTree: true, state: c.stateOf(b.index), credential: c.credential, reset: &c.reset, scope: b.scope}
	*l.state = contract.NodeState{}
	l.values = c.session().With(contract.Value{Key: contract.KeyUserMessage, Text: c.in.User.Content})
	c.leaves = append(c.leaves, l)
	r := l.run(ctx, budget)
	c.leaves = slices.DeleteFunc(c.leaves, func(other *leaf) bool { return other == l })
	l.conclude(ctx, r)
	return r
}

func (c *composite) journal(b *begun) *journal {
	before := &contract.Transcript{Tail: []contract.Message{c.in.User}}
	if b.node.History && c.in.History != nil {
		before = c.in.History
	}
	return &journal{
		transcript: &b.part.transcript, node: b.node.Name, seq: &c.seq, before: before,
		id:    c.messageID,
		wrote: func(time.Time) {},
	}
}

func (c *composite) messageID(seq int) string {
	return contract.NameUUID(c.key(), fmt.Sprintf("message-%d", seq))
}

// key is what the IDs of the node's messages are made from.
func (c *composite) key() string { return cmp.Or(c.in.Key, c.id) }

// say writes a text of the node itself.
func (j *journal) say(ctx workflow.Context, text string) {
	j.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(wording.Signed(j.node, text))})
}

func (c *composite) workChild(ctx workflow.Context, b *begun, budget time.Duration) contract.NodeResult {
	s := c.stateOf(b.index)
	*s = contract.NodeState{Status: contract.NodeRunning, Run: b.id, StartedAt: now(ctx)}
	c.changed(ctx)
	c.foldAll(detached(ctx))
	in := c.in
	in.Path, in.Node, in.State, in.Credential, in.Budget, in.Carried = b.path, b.node, c.session(), c.credential, budget, nil
	in.Spent, in.Key = c.spent(ctx, nil), b.key
	if !b.node.WantsHistory() {
		in.History = nil
	}
	child := startNode(withCredential(ctx, c.credential), b.id, in)
	c.reset.adopt(ctx, b.id, c.in.ConversationID, child)
	r := nodeResult(ctx, child)
	c.takeReports(ctx)
	c.forget(b.id)
	b.part.transcript = r.Transcript
	if r.Tree.Status == "" { // it ended without a result
		c.journal(b).say(ctx, r.Output.Inline)
		c.reporter.lost = append(c.reporter.lost, b.id)
		c.reporter.urgent = true
		r.Tree = *s
	}
	*s = r.Tree
	finish(ctx, s, r)
	return decide.Settle(b.node, r)
}

// detached is a context that is never cancelled.
func detached(ctx workflow.Context) workflow.Context {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	return ctx
}

// collect moves what ended nodes wrote to where it stays.
func (c *composite) collect() {
	for _, p := range c.parts {
		absorb(&c.past, c.id, p.transcript)
	}
	c.parts = nil
}

// timeIsUp reports whether the node has worked for as long as it may, and says so.
func (c *composite) timeIsUp(ctx workflow.Context) bool {
	if !c.sum.TimeIsUp(c.in.Budget) {
		return false
	}
	own := &journal{
		transcript: &c.past, node: c.in.Node.Name, seq: &c.seq, id: c.messageID, wrote: func(time.Time) {},
	}
	own.say(ctx, c.sum.Output.Inline)
	return true
}

func (c *composite) about() about {
	return about{conversation: c.in.ConversationID, session: c.in.SessionID, agent: c.in.Agent, configHash: c.in.ConfigHash, clientTools: c.in.ClientTools, chain: c.in.Chain}
}

// spent is what was spent before the node and in it so far, but not by the leaf.
// Of composite nodes that run beside it nothing is known.
func (c *composite) spent(ctx workflow.Context, l *leaf) contract.Spent {
	s := decide.Spend(c.in.Spent, c.sum.Result())
	for _, other := range c.leaves {
		if other != l {
			s = decide.Spend(s, contract.NodeResult{Usage: other.state.Usage, Granted: other.granted})
		}
	}
	return s
}

func (c *composite) opened(ctx workflow.Context, l *leaf, in contract.ApprovalInput) {
	o := contract.OpenApproval{Approval: in.Pending(), OutputKey: l.node.OutputKey}
	c.open, c.reporter.opened = append(c.open, o), append(c.reporter.opened, o)
	c.changed(ctx)
	c.reporter.flush(detached(ctx))
}

func (c *composite) decided(ctx workflow.Context, _ *leaf, r contract.ApprovalResult) {
	gone := func(o contract.OpenApproval) bool { return o.Approval.UUID == r.UUID }
	c.open = slices.DeleteFunc(slices.Clone(c.open), gone)
	c.reporter.opened = slices.DeleteFunc(slices.Clone(c.reporter.opened), gone)
	c.reporter.decided = append(c.reporter.decided, r)
	c.reporter.since = now(ctx)
	c.changed(ctx)
	c.reporter.urgent = true
}
