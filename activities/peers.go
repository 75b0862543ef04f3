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

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/credential"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Peer reaches other agents.
type Peer interface {
	// Send delivers a message and waits until its task is done or waits for
	// something. Sending it again with the same MessageID is harmless. An error
	// that is no *PeerError counts as passing.
	Send(ctx context.Context, m PeerMessage) (PeerReply, error)
}

// PeerMessage starts a task with Text, or tells the task of TaskID the Decision
// that it waits for.
type PeerMessage struct {
	Peer      contract.Peer
	MessageID string
	Text      string
	TaskID    string
	Decision  contract.Decision
	// Bearer and SessionID become headers.
	Bearer    string
	SessionID string
}

// PeerReply is what the task came to.
type PeerReply struct {
	State  contract.PeerState
	TaskID string
	Text   string
}

// PeerError is why a message was not delivered, or not accepted.
type PeerError struct {
	Kind contract.Kind // KindPeerUnavailable or KindPeerFailed
	// Message is one plain sentence.
	Message string
	// RetryAfter is how long the agent asked to wait; zero if it did not.
	RetryAfter time.Duration
}

// Error implements error.
func (e *PeerError) Error() string { return e.Message }

// Peers delegates to other agents. Without a Peer every delegation fails.
type Peers struct {
	Peer    Peer
	Blobs   transcript.Store
	Keyring *credential.Keyring
	Now     func() time.Time
}

// Delegate sends a message to another agent, with the caller's own credential
// where there is one. Arguments that are not the ones that were shown are
// refused. Every failure after the message went out may be tried again: the
// message's ID keeps the work from being done twice.
func (p *Peers) Delegate(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	defer heartbeat(ctx)()
	if p.Peer == nil {
		return contract.DelegateResult{}, fail(contract.KindPeerFailed, "delegating to other agents is not supported by this version", 0)
	}
	m, err := p.message(ctx, in)
	if err != nil {
		return contract.DelegateResult{}, err
	}
	var note string
	m.Bearer, note = openBearer(ctx, p.Keyring, in.ConversationID, p.Now)
	reply, err := p.Peer.Send(ctx, m)
	if err != nil {
		return contract.DelegateResult{}, peerFailure(ctx, m, err)
	}
	out, err := p.result(ctx, m, reply)
	out.Note = note
	return out, err
}

// message is what is to be sent. Its errors are made by fail.
func (p *Peers) message(ctx context.Context, in contract.DelegateInput) (PeerMessage, error) {
	m := PeerMessage{
		Peer: in.Peer, MessageID: in.MessageID, TaskID: in.TaskID, Decision: in.Decision, SessionID: in.SessionID,
	}
	if in.TaskID != "" {
		if in.Decision != contract.Approved && in.Decision != contract.Rejected {
			return m, fail(contract.KindInvalid, fmt.Sprintf("%q is no decision for agent %s", in.Decision, in.Peer.Name), 0)
		}
		return m, nil
	}
	args, err := transcript.ReadJSON(ctx, p.Blobs, in.Arguments)
	if err != nil {
		return m, fail(contract.KindBlob, err.Error(), 0)
	}
	if sum, err := toolbox.Digest(args); err != nil || sum != in.SHA256 {
		return m, fail(contract.KindDigest, fmt.Sprintf("the message to agent %s is not the one that was shown", in.Peer.Name), 0)
	}
	var problem string
	if m.Text, problem = delegated(args); problem != "" {
		return m, fail(contract.KindInvalid, fmt.Sprintf("the message to agent %s: %s", in.Peer.Name, problem), 0)
	}
	return m, nil
}

// delegated takes the message out of a delegation's arguments, or tells in one
// line why there is none.
func delegated(args json.RawMessage) (message, problem string) {
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

var peerStates = []contract.PeerState{
	contract.PeerCompleted, contract.PeerFailed, contract.PeerRejected, contract.PeerCanceled,
	contract.PeerInputRequired, contract.PeerAuthRequired,
}

func (p *Peers) result(ctx context.Context, m PeerMessage, r PeerReply) (contract.DelegateResult, error) {
	out := contract.DelegateResult{State: r.State, TaskID: cmp.Or(r.TaskID, m.TaskID)}
	switch {
	case !slices.Contains(peerStates, r.State):
		return out, fail(contract.KindPeerFailed,
			hide(fmt.Sprintf("agent %s answered with the unknown state %q", m.Peer.Name, r.State), m.Bearer), 0)
	case r.State == contract.PeerInputRequired && out.TaskID == "":
		return out, fail(contract.KindPeerFailed, fmt.Sprintf("agent %s asks for a decision and names no task", m.Peer.Name), 0)
	}
	var err error
	if out.Text, err = transcript.Text(ctx, p.Blobs, hide(r.Text, m.Bearer)); err != nil {
		return out, fail(contract.KindPeerUnavailable, fmt.Sprintf("keep the answer of agent %s: %v", m.Peer.Name, err), 0)
	}
	return out, nil
}

func peerFailure(ctx context.Context, m PeerMessage, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	text := hide(err.Error(), m.Bearer)
	var known *PeerError
	if errors.As(err, &known) {
		return fail(known.Kind, text, known.RetryAfter)
	}
	return fail(contract.KindPeerUnavailable, fmt.Sprintf("delegate to agent %s: %s", m.Peer.Name, text), 0)
}
