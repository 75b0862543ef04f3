package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/rates"
	"agent-stop-and-go/activities/renewal"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/telemetry"
)

// Peer is a client of other agents.
type Peer interface {
	// Send sends a message and waits a little until its task is done or waits for something;
	// a task that works longer is returned as TaskWorking. After an error that is no
	// *peer.Error, or one of a temporary kind, the message may be sent again with the same
	// MessageID, and as Repeated.
	Send(ctx context.Context, m peer.Message) (peer.Reply, error)
	// Describe adds what a peer's card says to its description. It does not wait for the card.
	Describe(p contract.Peer) string
}

var _ Peer = (*peer.Peers)(nil)

// Peers delegates to other agents. Without a Peer every delegation fails.
type Peers struct {
	Peer    Peer
	Blobs   transcript.Store
	Keyring *credential.Keyring
	// Bearers knows which token a message carries; nil forwards the caller's.
	Bearers *bearer.Book
	// PublicURL is as in Tools.
	PublicURL string
	// Claims prevent that destructive messages are sent twice; nil does not check.
	Claims Claims
	// Switches pause destructive messages; nil pauses none.
	Switches Switches
	// Rates counts the messages that start a task for rate limits; nil has none.
	Rates *rates.Limiter
	// Audit records destructive messages; nil records none.
	Audit Audit
	Now   func() time.Time

	renewed renewal.Offers
}

// Delegate sends a message to another agent, with the caller's credential if there is one.
// Arguments that differ from those shown are refused. A message is repeated only under the same
// ID, by which the agent deduplicates; to an agent without such IDs it is repeated only if it
// certainly did not arrive. A destructive message is repeated only if the agent has declared
// that it deduplicates.
func (p *Peers) Delegate(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	stop := heartbeat.Send(ctx)
	ctx, span := telemetry.StartDelegation(ctx, in.Peer.Name)
	out, again, err := p.delegateOnce(ctx, in)
	span.End(failureKind(err))
	if stop(); again && !isPermanent(err) {
		mayRepeat(ctx)
	}
	return out, err
}

// failureKind returns the kind of an activity's failure, or "".
func failureKind(err error) contract.Kind {
	return telemetry.FailureOf(err, func(e *temporal.ApplicationError) contract.Kind { return contract.Kind(e.Type()) })
}

// isPermanent reports whether a failure is one after which no attempt follows. The message may
// have been sent then. If the worker dies before it has reported such a failure, there is another
// attempt, which must not take the message for one that was not sent.
func isPermanent(err error) bool {
	var known *temporal.ApplicationError
	return errors.As(err, &known) && contract.Kind(known.Type()).Permanent()
}

// delegateOnce is delegate for a message that two activities must not send. If the previous attempt
// ended without a report, every failure means that the message may have been sent.
func (p *Peers) delegateOnce(ctx context.Context, in contract.DelegateInput) (out contract.DelegateResult, again bool, err error) {
	if !in.Destructive {
		if err := p.limit(ctx, in); err != nil {
			return out, !lostAttempt(ctx), err
		}
		return p.delegate(ctx, in)
	}
	defer func() { err = unknownIfLost(ctx, err) }()
	if in.Decision != contract.Rejected && !in.Cancel {
		c := switches.Call{Peer: in.Peer.Name, Tool: in.Peer.Tool()}
		if len(in.Chain) > 0 {
			c.Agent = in.Chain[len(in.Chain)-1]
		}
		if err := paused(ctx, p.Switches, contract.KindPeerUnavailable, c); err != nil {
			return out, !lostAttempt(ctx), err
		}
	}
	if err := p.limit(ctx, in); err != nil {
		return out, !lostAttempt(ctx), unsent(err)
	}
	end := auditing.End(func(error, bool) {})
	if auditing.Effective(in) {
		if end, err = audited(ctx, p.Audit, auditing.Delegation(in)); err != nil {
			return out, !lostAttempt(ctx), err
		}
	}
	out, again, err = p.sendOnce(ctx, in)
	end(unknownIfLost(ctx, err), out.Login != nil) // not deferred: a panic has no outcome
	return out, again, err
}

// unknownIfLost returns the failure of an attempt that follows one without a report.
func unknownIfLost(ctx context.Context, err error) error {
	if known := new(temporal.ApplicationError); lostAttempt(ctx) && errors.As(err, &known) {
		return fail(contract.KindOutcomeUnknown, known.Message(), 0)
	}
	return err
}

// sendOnce is delegate under a claim, so that no other attempt sends the message.
func (p *Peers) sendOnce(ctx context.Context, in contract.DelegateInput) (out contract.DelegateResult, again bool, err error) {
	name := strings.Join([]string{"message", cmp.Or(in.Claim, in.MessageID), in.Peer.Name, in.SHA256, string(in.Decision), in.Grant}, "\n")
	settle, err := claim(ctx, p.Claims, contract.KindPeerUnavailable, name, p.Now())
	if err != nil {
		return out, !lostAttempt(ctx), err
	}
	out, again, err = p.delegate(ctx, in)
	settle(!lostAttempt(ctx) && (hadNoEffect(err) || out.Login != nil))
	return out, again, err
}

// delegate sends the message. With a temporary error, again reports whether the message may be
// sent again.
func (p *Peers) delegate(ctx context.Context, in contract.DelegateInput) (out contract.DelegateResult, again bool, err error) {
	if p.Peer == nil {
		return out, false, fail(contract.KindPeerFailed, "delegating to other agents is not supported by this version", 0)
	}
	m, err := p.message(ctx, in)
	if err != nil {
		return out, !lostAttempt(ctx), err
	}
	m.Repeated = lostAttempt(ctx)
	reply, note, need, err := p.send(ctx, in.ConversationID, &m)
	if errors.As(err, new(*temporal.ApplicationError)) { // of the token: nothing was sent
		return out, !m.Repeated, err
	}
	if err != nil {
		return out, !m.Repeated, peerFailure(ctx, m, err) // the effect of an earlier attempt remains unknown
	}
	out, err = p.result(ctx, m, reply)
	out.Note, out.Login = note, need
	return out, false, err
}

// send sends a message with the token for its agent. The note is about the token. need is set if
// the message was not sent because it needs a login.
func (p *Peers) send(ctx context.Context, conversationID string, m *peer.Message) (reply peer.Reply, note string, need *login.Need, err error) {
	caller, problem := openCaller(ctx, p.Blobs, p.Keyring, conversationID, p.Now)
	agent := bearer.Server{Name: m.Peer.Name, URL: m.Peer.URL, Agent: true}
	noToken := p.Bearers.Call(ctx, agent, caller, func(token string) *bearer.Refusal {
		m.Bearer, note = token, noteWithout(p.Bearers.Gives(agent), token, problem)
		if reply, err = p.Peer.Send(ctx, *m); err == nil && reply.State == contract.TaskAuthRequired && reply.TaskID == "" {
			return bearer.RefusalOf(reply.Challenges)
		}
		return nil
	})
	if l := bearer.Login(noToken); l != nil {
		return peer.Reply{State: contract.TaskAuthRequired, Text: l.Error()}, note, bearer.NeedOf(noToken, agent, caller, p.PublicURL), nil
	}
	if noToken != nil {
		return reply, note, nil, bearerFailure(noToken, contract.KindPeerUnavailable, contract.KindPeerFailed)
	}
	if err == nil {
		reply = p.renew(ctx, *m, reply)
	}
	return reply, note, nil, err
}

// renew lets a task go on that waits for another token of the caller, because that which came with
// it has ended: the agent gets the one of this request. An agent that it does not help refuses it,
// and the task waits as before.
func (p *Peers) renew(ctx context.Context, m peer.Message, waits peer.Reply) peer.Reply {
	asks := waits.State == contract.TaskAuthRequired && waits.Asked != nil && waits.Asked.Reason == contract.ReasonLogin && waits.Asked.UUID != ""
	poll := m.TaskID != "" && m.Decision == "" && !m.Cancel
	task := m.Peer.URL + "\n" + m.TaskID
	if !asks || !poll || m.Bearer == "" || !p.renewed.Take(task, m.Bearer) {
		return waits
	}
	m.MessageID = contract.NameUUID(waits.Asked.UUID, contract.Hash([]byte(m.Bearer)))
	m.Renews, m.Decision, m.Asked = true, contract.Approved, &contract.Origin{UUID: waits.Asked.UUID}
	now, err := p.Peer.Send(ctx, m)
	switch {
	case err == nil && now.TaskID != "":
		return now
	case err != nil && !isRefusal(err):
		p.renewed.Undo(task, m.Bearer) // the next poll sends it again, under the same ID
	}
	return waits
}

// isRefusal reports whether an error of Send is one after which the message is not sent again.
func isRefusal(err error) bool {
	var known *peer.Error
	return errors.As(err, &known) && known.Kind.Permanent()
}

// mayRepeat reports to the next attempt, with the failure of this one, that this attempt ended
// properly.
func mayRepeat(ctx context.Context) {
	if activity.IsActivity(ctx) {
		activity.RecordHeartbeat(ctx, activity.GetInfo(ctx).Attempt)
	}
}

// lostAttempt reports whether the previous attempt ended without a report: its worker died, or
// its answer was lost here. Its message may have been sent.
func lostAttempt(ctx context.Context) bool {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).Attempt <= 1 {
		return false
	}
	var last int32
	known := activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &last) == nil
	return !known || last != activity.GetInfo(ctx).Attempt-1
}

// message builds the message. Its errors are made by fail.
func (p *Peers) message(ctx context.Context, in contract.DelegateInput) (peer.Message, error) {
	m := peer.Message{
		Peer: in.Peer, MessageID: in.MessageID, TaskID: in.TaskID, ContextID: in.ContextID, Continues: in.Continues, Decision: in.Decision,
		By: in.By, Reason: in.Reason, Cancel: in.Cancel, Chain: in.Chain, SessionID: in.SessionID, Destructive: in.Destructive,
	}
	switch {
	case in.TaskID == "":
		return m, p.fill(ctx, in, &m)
	case in.Decision == "":
		return m, nil
	case in.Decision != contract.Approved && in.Decision != contract.Rejected:
		return m, fail(contract.KindInvalid, fmt.Sprintf("%q is no decision for agent %s", in.Decision, in.Peer.Name), 0)
	}
	m.Asked = in.Asked
	content, err := transcript.ReadJSON(ctx, p.Blobs, in.Content)
	if err != nil {
		return m, fail(contract.KindBlob, err.Error(), 0)
	}
	m.Content = content
	if m.Question, err = transcript.ReadText(ctx, p.Blobs, in.Question); err != nil {
		return m, fail(contract.KindBlob, err.Error(), 0)
	}
	return m, nil
}

// fill adds the text that starts a task.
func (p *Peers) fill(ctx context.Context, in contract.DelegateInput, m *peer.Message) error {
	if len(in.Chain) > contract.MaxHops {
		return fail(contract.KindPeerFailed, fmt.Sprintf(
			"the work has come through %d agents (%s); agents delegate at most %d times, so that none keep calling one another",
			len(in.Chain), contract.ChainText(in.Chain), contract.MaxHops), 0)
	}
	args, err := transcript.ReadJSON(ctx, p.Blobs, in.Arguments)
	if err != nil {
		return fail(contract.KindBlob, err.Error(), 0)
	}
	if sum, err := toolbox.Digest(args); err != nil || sum != in.SHA256 {
		return fail(contract.KindDigest, fmt.Sprintf("the message to agent %s is not the one that was shown", in.Peer.Name), 0)
	}
	var problem string
	if m.Text, problem = messageIn(args); problem != "" {
		return fail(contract.KindInvalid, fmt.Sprintf("the message to agent %s: %s", in.Peer.Name, problem), 0)
	}
	return nil
}

// messageIn extracts the message from a delegation's arguments. If there is none, problem says
// why in one line.
func messageIn(args json.RawMessage) (message, problem string) {
	var object map[string]any
	if err := json.Unmarshal(args, &object); err != nil {
		return "", "the arguments are not a JSON object"
	}
	switch value := object["message"].(type) {
	case nil:
		return "", `"message" is required: expected string`
	case string:
		if strings.TrimSpace(value) != "" {
			return value, ""
		}
		return "", `"message" must not be empty`
	}
	return "", `"message": expected string`
}

var peerStates = []contract.TaskState{
	contract.TaskWorking, contract.TaskCompleted, contract.TaskFailed, contract.TaskRejected, contract.TaskCanceled,
	contract.TaskInputRequired, contract.TaskAuthRequired,
}

func (p *Peers) result(ctx context.Context, m peer.Message, r peer.Reply) (contract.DelegateResult, error) {
	out := contract.DelegateResult{
		State: r.State, TaskID: cmp.Or(r.TaskID, m.TaskID), ContextID: cmp.Or(r.ContextID, m.ContextID),
		NoEntry: r.State == contract.TaskAuthRequired && r.TaskID == "", Anew: r.Anew,
	}
	switch {
	case !slices.Contains(peerStates, r.State):
		return out, fail(peerFailureKind(m, contract.KindPeerFailed),
			callerMask(m).Text(fmt.Sprintf("agent %s answered with the unknown state %q", m.Peer.Name, r.State)), 0)
	case out.TaskID == "" && (r.State == contract.TaskInputRequired || r.State == contract.TaskWorking):
		return out, fail(peerFailureKind(m, contract.KindPeerFailed), fmt.Sprintf("agent %s is not done and names no task", m.Peer.Name), 0)
	}
	if err := p.keep(ctx, m, r, &out); err != nil {
		return out, fail(peerFailureKind(m, contract.KindPeerUnavailable), fmt.Sprintf("keep the answer of agent %s: %v", m.Peer.Name, err), 0)
	}
	return out, nil
}

// keep stores large values.
func (p *Peers) keep(ctx context.Context, m peer.Message, r peer.Reply, out *contract.DelegateResult) error {
	text := r.Text
	var files []toolbox.Media
	for _, f := range r.Files {
		if f.URL != "" { // only shown to people; it is not fetched
			text = strings.TrimSpace(text + "\n\n" + strings.TrimSpace(f.Name+" "+f.URL))
			continue
		}
		files = append(files, toolbox.Media{Data: f.Data, MIMEType: f.MIMEType, Name: f.Name})
	}
	var err error
	if out.Text, err = transcript.Text(ctx, p.Blobs, callerMask(m).Text(text)); err != nil {
		return err
	}
	if out.Media, err = keep(ctx, p.Blobs, files); err != nil || r.Asked == nil {
		return err
	}
	out.Asked, err = p.origin(ctx, m, *r.Asked)
	return err
}

// origin converts a task's question for our approvals.
func (p *Peers) origin(ctx context.Context, m peer.Message, a contract.ApprovalRequest) (*contract.Origin, error) {
	o := &contract.Origin{Chain: a.Chain, UUID: a.UUID, Tool: a.Tool, Digest: a.Digest, Reason: a.Reason, Description: callerMask(m).Text(a.Description)}
	if len(o.Chain) == 0 {
		o.Chain = []string{m.Peer.Name}
	}
	var err error
	if len(a.Arguments) > 0 {
		o.Arguments, err = transcript.JSON(ctx, p.Blobs, json.RawMessage(callerMask(m).JSON(a.Arguments)))
	}
	if len(a.Schema) > 0 && (a.Reason.Answered() || a.Reason == contract.ReasonUnknownOutcome) {
		if err == nil {
			o.Schema, o.Accepts, err = keepSchema(ctx, p.Blobs, a.Schema)
		}
	}
	return o, err
}

// peerFailure converts an error of Send. A permanent failure stays one if the activity was
// cancelled: a stopping worker cancels too, and after a cancellation the next worker would send
// the message again.
func peerFailure(ctx context.Context, m peer.Message, err error) error {
	var known *peer.Error
	isKnown := errors.As(err, &known)
	if errors.Is(ctx.Err(), context.Canceled) && (!isKnown || !known.Kind.Permanent()) {
		return ctx.Err()
	}
	text := callerMask(m).Text(err.Error())
	switch {
	case isKnown && mustArrive(m):
		return failPatiently(known.Kind, text, known.RetryAfter)
	case isKnown:
		return fail(known.Kind, text, known.RetryAfter)
	}
	return fail(peerFailureKind(m, contract.KindPeerUnavailable), fmt.Sprintf("delegate to agent %s: %s", m.Peer.Name, text), 0)
}

// mustArrive reports whether a message is sent until the agent has received it: no caller waits
// for its result.
func mustArrive(m peer.Message) bool { return m.Cancel || m.Decision == contract.Rejected }

// callerMask hides the caller's token in texts of the agent. An agent with configured
// secrets has hidden those before.
func callerMask(m peer.Message) *mask.Mask { return mask.New(mask.Bearer(m.Bearer)) }

// peerFailureKind is the kind of a failure after the agent has answered.
func peerFailureKind(m peer.Message, kind contract.Kind) contract.Kind {
	if m.Destructive {
		return contract.KindOutcomeUnknown
	}
	return kind
}
