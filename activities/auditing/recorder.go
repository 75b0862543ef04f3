package auditing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/record/transcript"
)

// Recorder records what happens. A nil Recorder records nothing.
type Recorder struct {
	files  Files
	blobs  transcript.Store
	now    func() time.Time
	logger *slog.Logger
	sender *sender
}

// NewRecorder returns a recorder.
func NewRecorder(f Files, blobs transcript.Store, s Server, logger *slog.Logger) *Recorder {
	return &Recorder{files: f, blobs: blobs, now: time.Now, logger: logger, sender: newSender(s)}
}

// Run sends what is recorded until ctx ends.
func (r *Recorder) Run(ctx context.Context) { r.sender.run(ctx) }

// Record says that an approval opens, and returns when that is in the log, or how it has ended.
func (r *Recorder) Record(ctx context.Context, in audit.Record) (audit.Receipt, error) {
	if r == nil { // the audit was switched off since the approval opened
		return audit.Receipt{}, nil
	}
	if in.Result != nil {
		return audit.Receipt{}, r.decided(ctx, in, in.Result.Decision != contract.Approved && isLate(ctx))
	}
	return audit.Receipt{}, r.opened(ctx, in.Approval)
}

func (r *Recorder) opened(ctx context.Context, in contract.ApprovalInput) error {
	leaves, err := r.leavesOf(ctx, in)
	if err != nil {
		return err
	}
	return r.sender.append(ctx, audit.Entries{Await: leaves})
}

// leavesOf returns the leaves of what an approval shows, and of the call that it is about if nobody
// was asked before.
func (r *Recorder) leavesOf(ctx context.Context, in contract.ApprovalInput) (out []audit.Leaf, err error) {
	content, err := r.shown(ctx, in)
	if err != nil {
		return nil, err
	}
	if in.Reason == contract.ReasonDestructive {
		p := leafOf(audit.KindProposal, in)
		if err := keepText(ctx, r.files, &p, proposed(content)); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	l := leafOf(audit.KindShown, in)
	err = keepText(ctx, r.files, &l, content)
	return append(out, l), err
}

// proposed returns what a proposal has of what is shown: the call.
func proposed(s audit.Shown) audit.Shown {
	return audit.Shown{Arguments: s.Arguments, ArgumentsSHA256: s.ArgumentsSHA256, Requester: s.Requester, Address: s.Address, Definition: s.Definition}
}

// leafOf returns a leaf about an approval, with what all of its kind have.
func leafOf(k audit.Kind, in contract.ApprovalInput) audit.Leaf {
	l := audit.Leaf{
		Kind: k, At: in.CreatedAt, Conversation: in.ConversationID, Agent: in.AgentName, Node: in.Node, Server: in.Server, Tool: in.Tool,
		Call: in.Call, Rule: in.Rule, Policy: in.Policy,
	}
	if in.Call != "" {
		l.Proposal = audit.ProposalID(in.ConversationID, in.Call, in.Server, in.Tool, in.ArgumentsSHA256)
	}
	if k == audit.KindProposal {
		l.ID, l.Proposal = l.Proposal, ""
		return l
	}
	l.ID, l.Approval, l.Reason = audit.ShownID(in.UUID), in.UUID, in.Reason
	return l
}

func (r *Recorder) shown(ctx context.Context, in contract.ApprovalInput) (s audit.Shown, err error) {
	s = audit.Shown{ArgumentsSHA256: in.ArgumentsSHA256, Description: in.Description, Requester: in.Owner.Key(), Approvers: in.Approvers}
	if in.Binding != nil {
		s.Address, s.Definition = in.Binding.Address, in.Binding.SHA256
	}
	s.Arguments, err = r.arguments(ctx, in.Arguments)
	return s, err
}

// arguments reads the arguments of a call. Those that are lost are nil; nothing will run with them.
func (r *Recorder) arguments(ctx context.Context, args contract.JSON) (json.RawMessage, error) {
	raw, err := transcript.ReadJSON(ctx, r.blobs, args)
	if errors.As(err, new(*transcript.Loss)) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the arguments of a call: %w", err)
	}
	return raw, nil
}

// Nobody waits for the store of texts after a no, an expiry or a cancellation for longer than the
// attempts in the workflow's task and textAttempts of the activity behind it, each with textTime.
const (
	textAttempts = 3
	textTime     = 5 * time.Second
)

func isLate(ctx context.Context) bool {
	if !activity.IsActivity(ctx) {
		return false
	}
	info := activity.GetInfo(ctx)
	return !info.IsLocalActivity && info.Attempt > textAttempts
}

// decided records a decision, and what was shown unless that is in the log. late means that texts
// that cannot be kept are left out.
func (r *Recorder) decided(ctx context.Context, record audit.Record, late bool) error {
	in, d := record.Approval, *record.Result
	texts, cancel := context.WithTimeout(ctx, textTime)
	defer cancel()
	var leaves []audit.Leaf
	if !record.Recorded {
		shown, err := r.leavesOf(texts, in)
		if err := r.unlessLate(late, in, err); err != nil {
			return err
		}
		if leaves = shown; err != nil {
			leaves = []audit.Leaf{leafOf(audit.KindShown, in)} // without its text
		}
	}
	if d.Revision != nil && len(d.Revision.Changes) > 0 {
		changed, err := r.edited(texts, in, d)
		if err != nil {
			return err
		}
		leaves = append(leaves, changed)
	}
	if d.Revision != nil && d.Revision.Released {
		leaves = append(leaves, released(in, d))
	}
	l := leafOf(audit.KindDecision, in)
	l.Policy = cmp.Or(d.Policy, l.Policy)
	l.ID, l.At, l.Decision = audit.DecisionID(in.UUID), d.DecidedAt, d.Decision
	l.Actor, l.For = audit.ActorOf(d.Identity, d.Via), audit.DeputizedBy(d.For)
	if d.Revision != nil && d.Revision.Released { // nobody's yes
		l.Actor.Channel = d.Via
	}
	if text := (audit.Decided{By: d.By, OnBehalfOf: d.OnBehalfOf, Reason: d.Reason, Chain: d.Chain}); text.By+text.OnBehalfOf+text.Reason != "" || len(text.Chain) > 0 {
		if err := r.unlessLate(late, in, keepText(texts, r.files, &l, text)); err != nil {
			return err
		}
	}
	return r.sender.record(ctx, append(leaves, l))
}

// released says that the approval ended because an operator has released the call.
func released(in contract.ApprovalInput, d contract.ApprovalResult) audit.Leaf {
	l := leafOf(audit.KindRelease, in)
	l.ID, l.At, l.Actor = audit.ReleaseID(in.UUID, d.Revision.Policy), d.DecidedAt, audit.ActorOf(d.Identity, "")
	if l.Actor.Channel == "" {
		l.Actor.Channel = contract.ChannelSignal
	}
	l.Rule, l.Policy, l.What = d.Revision.Verdict.Rule, d.Revision.Policy, string(d.Revision.Verdict.Outcome)
	return l
}

// edited says with which changes a call was approved.
func (r *Recorder) edited(ctx context.Context, in contract.ApprovalInput, d contract.ApprovalResult) (audit.Leaf, error) {
	l := leafOf(audit.KindEdit, in)
	l.ID, l.At, l.Actor, l.For = audit.EditID(in.UUID), d.DecidedAt, audit.ActorOf(d.Identity, d.Via), audit.DeputizedBy(d.For)
	l.Proposal = audit.ProposalID(in.ConversationID, in.Call, in.Server, in.Tool, d.Revision.SHA256)
	l.Rule, l.Policy = d.Revision.Verdict.Source()
	text := audit.Edited{ShownSHA256: in.ArgumentsSHA256, ArgumentsSHA256: d.Revision.SHA256}
	var err error
	if text.Shown, err = r.arguments(ctx, in.Arguments); err != nil {
		return l, err
	}
	if text.Arguments, err = r.arguments(ctx, d.Revision.Arguments); err != nil {
		return l, err
	}
	return l, keepText(ctx, r.files, &l, text)
}

// unlessLate returns err, or logs it if the decision is recorded without the text.
func (r *Recorder) unlessLate(late bool, in contract.ApprovalInput, err error) error {
	if err == nil || !late {
		return err
	}
	r.logger.Error("a decision is in the audit log without a text", "approval", in.UUID, "error", err)
	return nil
}

// Call is a call that is about to be sent.
type Call struct {
	Conversation, Agent, Server, Tool string
	// Key is the idempotency key.
	Key       string
	Arguments contract.JSON
	SHA256    string
	// Rule and Policy are those that have allowed it.
	Rule, Policy string
	// Grant is the standing grant because of which it runs, or "".
	Grant string
}

// Effective reports whether a message may have an effect: it starts destructive work, or approves
// some. Looking at a task, refusing and cancelling have none.
func Effective(in contract.DelegateInput) bool {
	return in.Destructive && !in.Cancel && (in.TaskID == "" || in.Decision == contract.Approved)
}

// Delegation returns the call that a message is.
func Delegation(in contract.DelegateInput) Call {
	c := Call{Conversation: in.ConversationID, Tool: in.Peer.Tool(), Key: in.MessageID, Arguments: in.Arguments, SHA256: in.SHA256}
	if len(in.Chain) > 0 {
		c.Agent = in.Chain[len(in.Chain)-1]
	}
	return c
}

// End says what came of a call: how its activity failed, or whether the far side has answered with
// an error.
type End func(failed error, isError bool)

// activityRef names the attempt that runs.
func activityRef(ctx context.Context) string {
	if !activity.IsActivity(ctx) {
		return ""
	}
	info := activity.GetInfo(ctx)
	return audit.ActivityRef(info.WorkflowExecution.RunID, info.ActivityID, info.Attempt)
}

func outcomeOf(failed error, isError bool) string {
	var known *temporal.ApplicationError
	switch {
	case errors.As(failed, &known):
		return known.Type()
	case failed != nil:
		return string(contract.KindOutcomeUnknown)
	case isError:
		return audit.OutcomeError
	}
	return audit.OutcomeDone
}

// Begin says that a call is about to be sent, and returns when the log has its proposal, usually
// since the approval opened. end says what came of it; it must be called. After an error nothing
// may be sent.
func (r *Recorder) Begin(ctx context.Context, c Call) (end End, err error) {
	if r == nil {
		return func(error, bool) {}, nil
	}
	ref := activityRef(ctx)
	l := audit.Leaf{At: r.now(), Conversation: c.Conversation, Agent: c.Agent, Server: c.Server, Tool: c.Tool, Call: c.Key, Rule: c.Rule, Policy: c.Policy, Grant: c.Grant}
	p, call, outcome := l, l, l
	p.Kind, p.ID = audit.KindProposal, audit.ProposalID(c.Conversation, c.Key, c.Server, c.Tool, c.SHA256)
	call.Kind, call.ID, call.Activity, call.Proposal = audit.KindCall, audit.CallID(ref), ref, p.ID
	outcome.Kind, outcome.ID, outcome.Activity, outcome.Proposal = audit.KindOutcome, audit.OutcomeID(ref), ref, p.ID
	settle := func(what string) {
		outcome.At, outcome.Outcome = r.now(), what
		r.settle(ctx, outcome)
	}
	if err := r.proposalText(ctx, &p, c); err != nil {
		return nil, err
	}
	if err := r.sender.append(ctx, audit.Entries{Await: []audit.Leaf{p}, Then: []audit.Leaf{call}}); err != nil {
		if !errors.As(err, new(*refusedError)) { // the update may still be carried out
			settle(audit.OutcomeNotSent)
		}
		return nil, err
	}
	return func(failed error, isError bool) { settle(outcomeOf(failed, isError)) }, nil
}

// proposalText completes the leaf of a proposal, which has a text if people were asked.
func (r *Recorder) proposalText(ctx context.Context, p *audit.Leaf, c Call) error {
	if t, err := ReadText(ctx, r.files, *p); err == nil {
		p.Text = t.Sum()
		return nil
	}
	args, err := r.arguments(ctx, c.Arguments)
	if err != nil {
		return err
	}
	return keepText(ctx, r.files, p, audit.Shown{Arguments: args, ArgumentsSHA256: c.SHA256})
}

const settleTimeout = 5 * time.Second

// settle records an outcome. If that fails for good, agent audit verify finds the call.
func (r *Recorder) settle(ctx context.Context, l audit.Leaf) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := r.sender.record(ctx, []audit.Leaf{l}); err != nil {
		r.logger.Error("the outcome of a call is not in the audit log", "activity", l.Activity, "outcome", l.Outcome, "error", err)
	}
}

// State says which rules and keys a process uses, with what of each. It starts the Audit.
func (r *Recorder) State(ctx context.Context, k audit.Kind, what, policy, version string) error {
	at := r.now()
	return r.sender.record(ctx, []audit.Leaf{{
		ID: fmt.Sprintf("%s/%s/%s%s/%d", k, what, policy, version, at.UnixMilli()), Kind: k, At: at, What: what, Policy: policy, Version: version,
	}})
}
