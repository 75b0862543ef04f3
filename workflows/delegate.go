package workflows

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// hand is the work of an a2a node: it delegates its prompt, or the user's
// message, to another agent.
func (l *leaf) hand(ctx workflow.Context) contract.NodeResult {
	peer := *l.node.Peer
	c, err := l.delegation(ctx, peer)
	switch {
	case ctx.Err() != nil:
		return l.interrupted()
	case err != nil:
		return ended(contract.OutcomeFailed, decide.DelegationFailure(failure(err)))
	}
	made := l.recordCall(ctx, c, l.next())
	if peer.Destructive && !l.node.AtOnce {
		r := l.ask(ctx, made, decide.Describe(made.Call, l.nameInTree()), contract.ReasonDestructive)
		if ctx.Err() != nil {
			return l.interrupted()
		}
		if r.Decision != contract.Approved {
			return ended(contract.OutcomeRejected, decide.AfterRefusal(r.Decision))
		}
	}
	r := l.delegate(ctx, made)
	l.recordResult(ctx, made, r.CallToolResult)
	return l.outcomeOf(ctx, r)
}

// outcomeOf makes a delegation's result the node's.
func (l *leaf) outcomeOf(ctx workflow.Context, r made) contract.NodeResult {
	switch {
	case ctx.Err() != nil:
		return l.interrupted()
	case r.refused != "":
		return ended(contract.OutcomeRejected, decide.AfterRefusal(r.refused))
	case r.AuthRequired != "":
		out := ended(contract.OutcomeFailed, r.login)
		out.AuthRequired = r.AuthRequired
		return out
	case r.IsError:
		return contract.NodeResult{Outcome: contract.OutcomeFailed, Output: r.Text}
	}
	return contract.NodeResult{Outcome: contract.OutcomeDone, Output: r.Text}
}

// delegation is the call that an a2a node makes, with its message filled in.
func (l *leaf) delegation(ctx workflow.Context, peer contract.Peer) (contract.Call, error) {
	in := contract.ComposeInput{Template: l.node.Prompt, Values: l.values.Only(l.node.Keys), Arguments: true}
	if l.node.Prompt.IsZero() {
		message, _ := l.values.Get(contract.KeyUserMessage)
		in = contract.ComposeInput{Parts: []contract.Text{message}, Arguments: true}
	}
	out, err := runLocal(ctx, contract.ActivityCompose, lean(composeTimeout, "message to "+peer.Name), in)
	return contract.Call{
		ID: "delegate", Name: peer.Tool(), Peer: &peer, Destructive: peer.Destructive,
		Arguments: out.Arguments, SHA256: out.SHA256,
	}, err
}

// delegate sends a call to another agent. When that agent asks for an approval,
// a human here decides, and the answer goes there, as often as it asks.
func (l *leaf) delegate(ctx workflow.Context, c call) made {
	a := l.about()
	in := contract.DelegateInput{
		ConversationID: a.conversation, SessionID: a.session, Peer: *c.Peer, MessageID: c.message,
		Arguments: c.Arguments, SHA256: c.SHA256,
	}
	for answers := 1; ; answers++ {
		out, err := l.send(ctx, in, delegateTimeout)
		switch {
		case err != nil:
			f := failure(err)
			if temporal.IsCanceledError(err) {
				f.Message = "the turn was cancelled"
			}
			return made{CallToolResult: decide.DelegationFailed(f)}
		case out.State == contract.TaskAuthRequired:
			return made{
				CallToolResult: contract.CallToolResult{Text: out.Text, IsError: true, AuthRequired: c.Peer.Name, Note: out.Note},
				login:          cmp.Or(out.Text.Short(), decide.TaskAuthRequired(c.Peer.Name)),
			}
		case out.State != contract.TaskInputRequired:
			return made{CallToolResult: decide.Delegated(out)}
		}
		decision := l.askForRemote(ctx, c, out)
		in = contract.DelegateInput{
			ConversationID: a.conversation, SessionID: a.session, Peer: *c.Peer, TaskID: out.TaskID,
			MessageID: contract.NameUUID(c.message, fmt.Sprintf("answer-%d", answers)), Decision: contract.Approved,
		}
		if decision.Decision != contract.Approved || ctx.Err() != nil {
			return l.refuseRemote(ctx, in, decision.Decision)
		}
	}
}

// askForRemote has a human here decide what another agent asks.
func (l *leaf) askForRemote(ctx workflow.Context, c call, out contract.DelegateResult) contract.ApprovalResult {
	description := decide.DescribeProxy(c.Peer.Name, l.nameInTree(), out.Text.Short())
	in := l.approvalFor(ctx, c, description, contract.ReasonRemote)
	in.RemoteTaskID, in.RemoteAgent = out.TaskID, c.Peer.Name
	return l.await(ctx, in)
}

// refuseRemote tells another agent that its request was not approved, also when
// the turn was cancelled meanwhile, so that it does not wait for ever.
func (l *leaf) refuseRemote(ctx workflow.Context, in contract.DelegateInput, d contract.Decision) made {
	in.Decision = contract.Rejected
	told, _ := workflow.NewDisconnectedContext(ctx)
	m := made{CallToolResult: contract.CallToolResult{
		Text: contract.Inline(decide.AfterRefusal(d)), IsError: true,
	}, refused: d}
	if _, err := l.send(told, in, refuseTimeout); err != nil {
		m.Note = decide.RemoteNotTold(in.Peer.Name, failure(err))
	}
	if d == contract.Approved { // and then the turn was cancelled
		m.refused = ""
	}
	return m
}

func (l *leaf) send(ctx workflow.Context, in contract.DelegateInput, timeout time.Duration) (contract.DelegateResult, error) {
	ctx = withCredential(ctx, l.credential)
	return run(ctx, contract.ActivityDelegate, regular(timeout, attempts, decide.DelegateSummary(in)), in)
}
