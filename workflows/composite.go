package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/reset"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// composite is a running sequential, parallel or loop node: a workflow that runs its leaves in
// coroutines and its composite nodes as child workflows. It never fails; failures are outcomes
// of its result.
type composite struct {
	in contract.NodeInput
	id string // workflow ID
	// execution is the ID of its run.
	execution       string
	reset           reset.Cleanup
	next            int // the step, or the iteration, that comes next
	offloadedStates int // how many states of nodes inside are in the blob store
	seq             int // of the last message
	state           contract.NodeState
	sum             decide.Merge

	dialogues       *delegation.Book
	credential      string
	endedTranscript contract.Transcript // of nodes that have ended
	segments        []*segment          // of nodes that run, in declared order
	open            []contract.OpenApproval
	reporter        reporter
	leaves          []*leaf // at work
	questions       workflow.ReceiveChannel
	offloadLock     workflow.Mutex
	ended           bool // no node runs any more
}

// segment has the messages of a node inside so far.
type segment struct {
	run        string // workflow ID of a composite node that still runs
	transcript contract.Transcript
}

// runComposite runs a composite node with the given body, which reports whether it is to be
// continued in a new run.
func runComposite(ctx workflow.Context, in contract.NodeInput, body func(*composite, workflow.Context) (again bool)) (contract.NodeResult, error) {
	c := newComposite(ctx, in)
	work := run.Detached(ctx)
	workflow.Go(work, c.sendReports)
	workflow.Go(work, c.receiveSignals)
	c.refresh(work)
	again := body(c, header.With(ctx, c.credential))
	c.reporter.stopped, c.ended = true, !again
	c.offloadAll(work)
	c.receiveReports(work)
	if again || c.reporter.hasUnsent() {
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
	c.offloadLock = workflow.NewMutex(ctx)
	c.dialogues = delegation.Open(in.Dialogues)
	c.reporter.since = run.Now(ctx)
	c.questions = workflow.GetSignalChannel(ctx, contract.SignalQuestion)
	c.reporter.reports = workflow.GetSignalChannel(ctx, contract.SignalReport)
	c.state = contract.NodeState{Status: contract.NodeRunning, Run: c.id, StartedAt: run.Now(ctx)}
	if carried := in.Carried; carried != nil {
		c.next, c.seq, c.reporter.sent = carried.Next, carried.Seq, carried.Reports
		c.state, c.endedTranscript = carried.Result.Tree, carried.Result.Transcript
		c.sum = decide.ResumeMerge(carried.Result)
		c.credential = carried.Result.Credential
		c.dialogues.Put(carried.Result.Dialogues)
	}
	c.openStates()
	return c
}

// openStates allocates the states of the nodes that have not run yet.
func (c *composite) openStates() {
	all := len(c.in.Node.Nodes)
	c.offloadedStates = 0
	if c.state.Offloaded != nil {
		c.offloadedStates = all - len(c.state.Nodes)
		return
	}
	nodes := make([]contract.NodeState, all)
	copy(nodes, c.state.Nodes)
	c.state.Nodes = nodes
}

// stateOf returns the state of node i, which must not have ended.
func (c *composite) stateOf(i int) *contract.NodeState { return &c.state.Nodes[i-c.offloadedStates] }

// mayRollOver reports whether the history is long enough for a new run. No node may be running.
// A cancelled run ends instead.
func (c *composite) mayRollOver(ctx workflow.Context) bool {
	return ctx.Err() == nil && decide.RollOverNode(run.History(ctx))
}

func (c *composite) continueAsNew(ctx workflow.Context) error {
	r := c.sum.Result()
	r.Transcript, r.Tree, r.Credential, r.Dialogues = c.endedTranscript, c.state, c.credential, c.dialogues.List()
	next := c.in
	next.Carried = &contract.NodeCarried{Next: c.next, Reports: c.reporter.sent, Seq: c.seq, Result: r}
	return workflow.NewContinueAsNewError(ctx, workflow.GetInfo(ctx).WorkflowType.Name, next)
}

// result returns the result of the workflow.
func (c *composite) result(ctx workflow.Context) contract.NodeResult {
	r := c.sum.Result()
	if ctx.Err() != nil {
		r.Outcome, r.Output = contract.OutcomeCancelled, contract.Inline(wording.TextStopped)
	}
	if c.credential != c.in.Credential {
		r.Credential = c.credential
	}
	finish(ctx, &c.state, r)
	r.Transcript, r.Tree, r.Dialogues = c.endedTranscript, c.state, c.dialogues.List()
	return r
}

// startedNode is a node inside that is started.
type startedNode struct {
	node    contract.Node
	index   int
	path    []int
	segment *segment
	// id is the ID of its workflow, if it is composite, and key its NodeInput.Key.
	id, key string
	scope   string // of a leaf
}

// addNode adds a segment for the node's messages, after those of earlier nodes.
func (c *composite) addNode(ctx workflow.Context, i int, parent string) *startedNode {
	b := &startedNode{
		node: c.in.Node.Nodes[i], index: i, segment: &segment{},
		path: append(append([]int{}, c.in.Path...), i),
	}
	keyed := c.key() + strings.TrimPrefix(parent, c.id)
	b.scope = fmt.Sprintf("%s node %d", keyed, i)
	if b.node.Composite() {
		id, key := contract.NodeWorkflowID(parent, b.node.Name, i), contract.NodeWorkflowID(keyed, b.node.Name, i)
		b.id, b.key = c.reset.NodeID(ctx, id, key, c.in.ConversationID)
		b.segment.run = b.id
	}
	c.segments = append(c.segments, b.segment)
	return b
}

// sessionState returns the session state that the nodes inside see.
func (c *composite) sessionState() contract.State { return c.in.State.With(c.sum.Delta...) }

// runNode runs a node until it ends.
func (c *composite) runNode(ctx workflow.Context, b *startedNode) contract.NodeResult {
	budget := decide.Shorter(b.node.Timeout, c.sum.TimeLeft(c.in.Budget))
	var r contract.NodeResult
	if b.node.Composite() {
		r = c.runChild(ctx, b, budget)
	} else {
		r = c.runLeaf(ctx, b, budget)
	}
	b.segment.run = ""
	c.refresh(ctx)
	return r
}

func (c *composite) runLeaf(ctx workflow.Context, b *startedNode, budget time.Duration) contract.NodeResult {
	l := &leaf{
		parent: c, journal: c.journal(b), node: b.node, path: b.path, inTree: true, state: c.stateOf(b.index),
		credential: c.credential, reset: &c.reset, scope: b.scope, dialogues: c.page(b), toolChoice: choice.Inside(c.in, b.index, c.state.Iteration),
	}
	*l.state = contract.NodeState{}
	l.values = c.sessionState().With(contract.Value{Key: contract.KeyUserMessage, Text: c.in.User.Content})
	c.leaves = append(c.leaves, l)
	r := l.run(ctx, budget)
	c.leaves = slices.DeleteFunc(c.leaves, func(other *leaf) bool { return other == l })
	l.writeOutput(ctx, r)
	return r
}

// page returns the dialogues of a node with other agents.
func (c *composite) page(b *startedNode) delegation.Page {
	return c.dialogues.Page(b.path, c.in.Node.Type == contract.NodeParallel)
}

func (c *composite) journal(b *startedNode) *journal {
	before := &contract.Transcript{Tail: []contract.Message{c.in.User}}
	if b.node.History && c.in.History != nil {
		before = c.in.History
	}
	return &journal{
		transcript: &b.segment.transcript, node: b.node.Name, seq: &c.seq, before: before,
		id:       c.messageID,
		onAppend: func(time.Time) {},
	}
}

func (c *composite) messageID(seq int) string {
	return contract.NameUUID(c.key(), fmt.Sprintf("message-%d", seq))
}

// key returns the string that the IDs of the node's messages are derived from.
func (c *composite) key() string { return cmp.Or(c.in.Key, c.id) }

// say writes a text of the node itself.
func (j *journal) say(ctx workflow.Context, text string) {
	j.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(wording.WithNodeName(j.node, text))})
}

func (c *composite) runChild(ctx workflow.Context, b *startedNode, budget time.Duration) contract.NodeResult {
	s := c.stateOf(b.index)
	*s = contract.NodeState{Status: contract.NodeRunning, Run: b.id, StartedAt: run.Now(ctx)}
	c.refresh(ctx)
	c.offloadAll(run.Detached(ctx))
	in := c.in
	in.Path, in.Node, in.State, in.Credential, in.Budget, in.Carried = b.path, b.node, c.sessionState(), c.credential, budget, nil
	in.Consumption, in.Key, in.Dialogues, in.ToolChoice = c.consumption(ctx, nil), b.key, c.page(b).Dialogues(), choice.Inside(c.in, b.index, c.state.Iteration)
	if !b.node.WantsHistory() {
		in.History = nil
	}
	child := startNode(header.With(ctx, c.credential), b.id, in)
	c.reset.CancelWithContext(ctx, b.id, c.in.ConversationID, child)
	r := nodeResult(ctx, child)
	c.dialogues.Put(r.Dialogues)
	c.receiveReports(ctx)
	c.dropReports(b.id)
	b.segment.transcript = r.Transcript
	if r.Tree.Status == "" { // it ended without a result
		c.journal(b).say(ctx, r.Output.Inline)
		c.reporter.lost = append(c.reporter.lost, b.id)
		c.reporter.urgent = true
		r.Tree = *s
	}
	*s = r.Tree
	finish(ctx, s, r)
	return decide.ApplySettings(b.node, r)
}

// collect appends the messages of ended nodes to the transcript.
func (c *composite) collect() {
	for _, p := range c.segments {
		transcript.Merge(&c.endedTranscript, c.id, p.transcript)
	}
	c.segments = nil
}

// timeIsUp reports whether the node's budget is used up, and writes that to the transcript.
func (c *composite) timeIsUp(ctx workflow.Context) bool {
	if !c.sum.TimeIsUp(c.in.Budget) {
		return false
	}
	own := &journal{
		transcript: &c.endedTranscript, node: c.in.Node.Name, seq: &c.seq, id: c.messageID, onAppend: func(time.Time) {},
	}
	own.say(ctx, c.sum.Output.Inline)
	return true
}

func (c *composite) origin() origin {
	return origin{
		conversation: c.in.ConversationID, session: c.in.SessionID, owner: c.in.Owner, agent: c.in.Agent, configHash: c.in.ConfigHash,
		clientTools: c.in.ClientTools, chain: c.in.Chain, caller: c.in.Caller,
	}
}

// consumption returns the consumption before the node and in it so far, without the given leaf.
// The consumption of composite nodes that run in parallel is not known.
func (c *composite) consumption(ctx workflow.Context, l *leaf) contract.Consumption {
	s := decide.AddResult(c.in.Consumption, c.sum.Result())
	for _, other := range c.leaves {
		if other != l {
			s = decide.AddResult(s, contract.NodeResult{Usage: other.state.Usage, Granted: other.granted})
		}
	}
	return s
}

func (c *composite) addApproval(ctx workflow.Context, l *leaf, in contract.ApprovalInput) {
	o := contract.OpenApproval{Approval: in.Pending(), OutputKey: l.node.OutputKey}
	c.open, c.reporter.opened = append(c.open, o), append(c.reporter.opened, o)
	c.refresh(ctx)
	c.reporter.flush(run.Detached(ctx))
}

func (c *composite) removeApproval(ctx workflow.Context, _ *leaf, r contract.ApprovalResult) {
	gone := func(o contract.OpenApproval) bool { return o.Approval.UUID == r.UUID }
	c.open = slices.DeleteFunc(slices.Clone(c.open), gone)
	c.reporter.opened = slices.DeleteFunc(slices.Clone(c.reporter.opened), gone)
	c.reporter.decided = append(c.reporter.decided, r)
	c.reporter.since = run.Now(ctx)
	c.refresh(ctx)
	c.reporter.urgent = true
}
