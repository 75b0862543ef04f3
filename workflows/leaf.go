package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/toolchoice"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/reset"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// parent is the workflow that contains a leaf: the turn of a conversation, or a composite node.
type parent interface {
	// origin returns the origin of the work. It does not change.
	origin() origin
	// consumption returns what nodes other than the leaf have used and been granted.
	consumption(ctx workflow.Context, l *leaf) contract.Consumption
	// addApproval publishes an approval that has started.
	addApproval(ctx workflow.Context, l *leaf, in contract.ApprovalInput)
	// removeApproval records a decision.
	removeApproval(ctx workflow.Context, l *leaf, r contract.ApprovalResult)
	// refresh records that something visible has changed.
	refresh(ctx workflow.Context)
}

// origin identifies the conversation and the message for which a turn makes its calls and
// approvals.
type origin struct {
	conversation string
	session      string
	owner        contract.Identity
	agent        contract.Agent
	configHash   string
	clientTools  contract.JSON // that came with the message
	chain        []string      // agents that have delegated the work
	caller       *verdict.Caller
}

// leaf is a running llm or a2a node. Cancelling its context stops it at the next step; a
// destructive call that is under way is completed first.
type leaf struct {
	parent  parent
	journal *journal
	node    contract.Node
	path    []int
	inTree  bool           // inside a composite node: its texts carry its name
	values  contract.State // the session state, with the user's message
	state   *contract.NodeState
	// credential is the requester's sealed token. approvers has the tokens of people who
	// approved a call, by the call's message ID (credentials.go).
	credential string
	approvers  map[string]string

	rounds      int
	clock       run.Stopwatch
	modelIndex  int                      // index of the model in its route
	transferred contract.JSON            // calls that replace the first reply
	lastReply   *contract.GenerateResult // the last reply, until a message has its data
	repair      *contract.Repair         // request to correct the last reply
	toolChoice  toolchoice.Choice        // what is demanded of the next reply
	granted     contract.Limits
	askingCalls []*askingCall  // running calls whose server may ask
	reset       *reset.Cleanup // of the workflow
	scope       string         // turn and node; stays the same after a reset
	claimCounts map[string]int // number of equal destructive calls, by content
	dialogues   delegation.Page
}

// run executes the node. Its result has neither Transcript nor Tree, which the parent has
// already.
func (l *leaf) run(ctx workflow.Context, budget time.Duration) contract.NodeResult {
	l.state.Status, l.state.StartedAt = contract.NodeRunning, run.Now(ctx)
	l.parent.refresh(ctx)
	l.clock.Start(ctx)
	working := l.clock.Limit(ctx, budget, wording.SummaryTimeLimit)
	l.warnEmpty(ctx)
	var r contract.NodeResult
	if l.node.Type == contract.NodeA2A {
		r = l.runPeer(working)
	} else {
		r = l.runModel(working)
	}
	return l.end(ctx, r)
}

// end records how the node has ended.
func (l *leaf) end(ctx workflow.Context, r contract.NodeResult) contract.NodeResult {
	r.Worked, r.Usage, r.Credential, r.Granted = l.clock.Stop(ctx), l.state.Usage, l.credential, l.granted
	finish(ctx, l.state, r)
	return decide.ApplySettings(l.node, decide.WithCount(l.node, r))
}

// finish records in a node's state how it ended.
func finish(ctx workflow.Context, s *contract.NodeState, r contract.NodeResult) {
	s.Status, s.EndedAt, s.Output, s.Usage = contract.NodeStatus(r.Outcome), run.Now(ctx), r.Output, r.Usage
	s.Approvals = nil
}

// interruptedResult is the result of a leaf whose context has ended.
func (l *leaf) interruptedResult() contract.NodeResult {
	if l.clock.Expired {
		return endedWith(contract.OutcomeFailed, wording.TimedOut(l.clock.Budget))
	}
	return endedWith(contract.OutcomeCancelled, wording.TextStopped)
}

func endedWith(o contract.Outcome, text string) contract.NodeResult {
	return contract.NodeResult{Outcome: o, Output: contract.Inline(text)}
}
