package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// remoteTask is the task that another agent has because of a call. Whoever stops
// waiting for it before it is over has it cancelled there.
type remoteTask struct {
	*leaf
	call  call
	known contract.DelegateResult // what was last heard of it
	// early: the history is of a time when tasks were not followed.
	early bool
	asked int // approvals so far
	// untold is why the agent could not be told of the last approval; "" if it could.
	untold string
	// approved: it was told that a human here approves what it asked for.
	approved bool
	silent   string    // why the last look told nothing of it; "" if it did
	looked   int       // how often, since it last began to work
	work     stopwatch // of the task
	teller   string    // token of who decided what the agent is being told
}

// changeFollow marks histories in which tasks of other agents are followed. In a run
// that has delegated before that, they are not until it continues as new.
const changeFollow = "follow-remote-tasks"

// changeEnd marks histories in which also those tasks are cancelled that wait for a
// login or go on after a refusal, and in which it is by their words that questions
// without an ID are told apart.
const changeEnd = "end-remote-tasks"

func endsTasks(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, changeEnd, workflow.DefaultVersion, 1) == 1
}

// delegate sends a call to another agent and follows its task to the end. When that
// agent asks for an approval, a human here decides, and the answer goes there, as
// often as it asks.
func (l *leaf) delegate(ctx workflow.Context, c call) made {
	t := &remoteTask{leaf: l, call: c, early: workflow.GetVersion(ctx, changeFollow, workflow.DefaultVersion, 1) < 1}
	t.work.start(ctx)
	ran, err := t.begin(ctx, "")
	for {
		switch {
		case ran != nil:
			return made{CallToolResult: contract.CallToolResult{Text: l.kept(ctx, *ran)}}
		case t.isLost(ctx, err):
			ran, err = t.beginAnew(ctx)
		case err != nil:
			return t.leave(ctx, t.trouble(err))
		case t.known.State == contract.TaskAuthRequired:
			return t.login(ctx)
		case t.known.State.Over():
			return made{CallToolResult: wording.Delegated(t.known)}
		case ctx.Err() != nil && !(t.early && t.waits()):
			return t.leave(ctx, t.trouble(ctx.Err()))
		case t.waits():
			var refused *made
			if refused, err = t.ask(ctx); refused != nil {
				return *refused
			}
		case t.left(ctx) <= 0:
			return t.leave(ctx, wording.NotFinished(c.Peer.Name, c.Peer.Patience()))
		default:
			err = t.follow(ctx)
		}
	}
}

// begin sends the message. It is seen through even when the turn is cancelled or the
// node's time is up: only then is the task known, and nothing is at work unseen. An
// agent of today answers within a minute.
//
// ran is the result when the agent has done it all the same, as a person says. grant is the
// approval by which it is sent again, if it is.
func (t *remoteTask) begin(ctx workflow.Context, grant string) (ran *string, err error) {
	sending := ctx
	if !t.early {
		sending = detached(ctx)
	}
	in := contract.DelegateInput{
		MessageID: t.call.message, Arguments: t.call.Arguments, SHA256: t.call.SHA256,
		Destructive: t.call.Peer.Destructive, Claim: t.call.claim, Grant: grant,
	}
	return t.sendUntilKnown(ctx, sending, in, func(why string) string {
		return t.describeUnknown(ctx, t.call.Call, why)
	})
}

// sendUntilKnown sends a message that must not be carried out twice. Where that remains
// open a human decides whether it is sent again; describe says what about. ran is what
// that person says has come of it.
func (t *remoteTask) sendUntilKnown(ctx, sending workflow.Context, in contract.DelegateInput, describe func(why string) string) (ran *string, err error) {
	for {
		err := t.learn(t.send(sending, in, delegateTimeout, attempts))
		if err == nil || ctx.Err() != nil || temporal.IsCanceledError(err) {
			return nil, err
		}
		r, asked := t.askAgain(ctx, in, failure(err), describe)
		if !asked {
			return nil, err
		}
		if ran, err := settled(ctx, err, r); ran != nil || err != nil {
			return ran, err
		}
		in.Grant = r.UUID
	}
}

// settled is what a person makes of a message of which err is known: the result of what it has
// done, or an error if it is not to be sent again. Neither if it is.
func settled(ctx workflow.Context, err error, r contract.ApprovalResult) (ran *string, _ error) {
	switch {
	case ranAllTheSame(r):
		result := wording.RanResult(failure(err).Message, r)
		return &result, nil
	case r.Decision != contract.Approved || ctx.Err() != nil:
		return nil, &declined{err, recordedReason(ctx, r)}
	}
	return nil, nil
}

// askAgain asks a human about a message whose outcome is unknown, and about a destructive
// one that was approved and did not reach the agent. The time does not count as work.
func (t *remoteTask) askAgain(ctx workflow.Context, in contract.DelegateInput, f wording.Failure, describe func(why string) string) (r contract.ApprovalResult, asked bool) {
	defer t.work.pause(ctx)()
	c := contract.Call{Destructive: in.Destructive}
	switch {
	case inDoubt(ctx, c, f) && in.Decision != "":
		r = t.awaitAlone(ctx, t.doubtAbout(ctx, t.call, describe(f.Message)))
		t.tellAs(r)
		return r, true
	case inDoubt(ctx, c, f):
		return t.askAbout(ctx, t.call, describe(f.Message)), true
	case in.Decision == "" && t.call.Destructive && decide.NotReached(c, f) && !t.node.AtOnce && answersDoubt(ctx):
		return t.leaf.ask(ctx, t.call, t.describeNotReached(ctx, t.call.Call, f.Message), contract.ReasonNotReached), true
	}
	return r, false
}

// declined is the failure of a message that a person did not want to have sent again.
type declined struct {
	error
	decision contract.ApprovalResult
}

// Unwrap gives the failure.
func (d *declined) Unwrap() error { return d.error }

// follow looks at a task that works: at once, because the activity waits a little
// for news, then ever more rarely. An agent that is not reached may be next time.
func (t *remoteTask) follow(ctx workflow.Context) error {
	if t.looked++; t.looked > 1 {
		pause := min(decide.WorkPause(t.work.elapsed(ctx), t.history(ctx)), max(t.left(ctx), time.Second))
		o := workflow.TimerOptions{Summary: wording.WorkTimerSummary(t.call.Peer.Name)}
		if workflow.NewTimerWithOptions(ctx, pause, o).Get(ctx, nil) != nil {
			return nil // the turn has ended, and the task is as it was
		}
	}
	out, err := t.look(ctx)
	t.silent = t.silence(out, err)
	if err != nil && (ctx.Err() != nil || !failure(err).Kind.Permanent()) {
		return nil
	}
	return t.learn(out, err)
}

func (t *remoteTask) waits() bool { return t.known.State == contract.TaskInputRequired }

// left is how long the task may still work.
func (t *remoteTask) left(ctx workflow.Context) time.Duration {
	return t.call.Peer.Patience() - t.work.elapsed(ctx)
}

func (t *remoteTask) look(ctx workflow.Context) (contract.DelegateResult, error) {
	return t.send(ctx, contract.DelegateInput{}, lookTimeout, attempts)
}

func (t *remoteTask) history(ctx workflow.Context) decide.History {
	info := workflow.GetInfo(ctx)
	return decide.History{Events: info.GetCurrentHistoryLength(), Bytes: info.GetCurrentHistorySize()}
}

// learn keeps what was heard of the task.
func (t *remoteTask) learn(out contract.DelegateResult, err error) error {
	if err == nil {
		out.TaskID, out.ContextID = cmp.Or(out.TaskID, t.known.TaskID), cmp.Or(out.ContextID, t.known.ContextID)
		t.known = out
	}
	return err
}

// send runs the activity with a message about the task.
func (t *remoteTask) send(ctx workflow.Context, in contract.DelegateInput, timeout time.Duration, maximum int32) (contract.DelegateResult, error) {
	in = t.addressed(in)
	ctx = withCredential(ctx, t.token())
	return run(ctx, contract.ActivityDelegate, regular(timeout, maximum, wording.DelegateSummary(in)), in)
}

// addressed is a message with what all messages about the task say.
func (t *remoteTask) addressed(in contract.DelegateInput) contract.DelegateInput {
	a := t.about()
	in.ConversationID, in.SessionID, in.Peer = a.conversation, a.session, *t.call.Peer
	in.Chain = append(slices.Clone(a.chain), a.agent.Name)
	in.TaskID, in.ContextID = t.known.TaskID, t.known.ContextID
	return in
}

// login is the result when the other agent wants the user to log in. The task is
// cancelled: who has logged in sends the message again, and then the work would be done
// twice, once for nobody.
func (t *remoteTask) login(ctx workflow.Context) made {
	name := t.call.Peer.Name
	m := made{
		CallToolResult: contract.CallToolResult{Text: t.known.Text, IsError: true, AuthRequired: name, Note: t.known.Note},
		login:          cmp.Or(t.known.Text.Short(), wording.TaskAuthRequired(name)),
	}
	if t.known.TaskID != "" && !t.early && endsTasks(ctx) {
		m.Note = strings.TrimSpace(m.Note + " " + t.tell(ctx, t.cancellation()))
	}
	return m
}

// trouble says why the task is not waited for any more.
func (t *remoteTask) trouble(err error) string {
	f := failure(err)
	if temporal.IsCanceledError(err) {
		f.Message = wording.CauseTurnCancelled
		if t.leaf.clock.expired {
			f.Message = wording.CauseTimeUp
		}
	}
	text := wording.DelegationFailure(f)
	if d := new(declined); errors.As(err, &d) && d.decision.Decision == contract.Rejected {
		text = strings.TrimSpace(text + " " + d.decision.ReasonText())
	}
	return text
}

// leave is the result when nobody waits for the task any more. It is cancelled
// there, if there is one.
func (t *remoteTask) leave(ctx workflow.Context, why string) made {
	m := made{CallToolResult: contract.CallToolResult{Text: contract.Inline(why), IsError: true}}
	if t.known.TaskID != "" && (!t.early || t.looked > 0) {
		m.Note = t.tell(ctx, t.cancellation())
	}
	return m
}

func (t *remoteTask) cancellation() contract.DelegateInput {
	return contract.DelegateInput{Cancel: true, MessageID: contract.NameUUID(t.call.message, "cancel")}
}

// answerID is the ID of the message with the answer to what the task last asked.
func (t *remoteTask) answerID() string {
	return contract.NameUUID(t.call.message, fmt.Sprintf("answer-%d", t.asked))
}

// answerClaim names the answer by what it answers. After a reset an agent that knows no
// messages again has begun another task, which nobody has answered yet.
func (t *remoteTask) answerClaim() string {
	return contract.NameUUID(t.scope+"\n"+t.call.Peer.Name+"\n"+t.known.TaskID, fmt.Sprintf("answer-%d", t.asked))
}
