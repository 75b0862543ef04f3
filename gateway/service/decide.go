package service

import (
	"context"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// Decision is a caller's decision about an approval.
type Decision struct {
	UUID string
	// Subject is what the approval is about. If it is nil, it is read when needed.
	Subject *Subject
	// Signal has no Credential: Decide sets it from the caller's token.
	Signal contract.DecideSignal
	// Echo is as in Message.
	Echo json.RawMessage
}

// Receipt is what is known of a decision that was sent.
type Receipt struct {
	UUID string
	// Late reports whether the approval was decided before, maybe by an earlier attempt of the
	// same request.
	Late bool

	record *contract.ApprovalResult // nil if not known yet
}

// Decide sends a decision. An earlier decision is not an error: DecisionRecord returns the one
// that counts.
func (s *Service) Decide(ctx context.Context, c Caller, d Decision) (Receipt, error) {
	r := Receipt{UUID: d.UUID}
	note, err := c.Note(Note{d.Signal.Reason, d.Signal.By, d.Signal.OnBehalfOf})
	if err != nil {
		return r, err
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	d.Signal.By, d.Signal.OnBehalfOf = note.By, note.OnBehalfOf
	d.Signal.Identity = c.acting(contract.ScopeApprove, contract.ScopeApproveAll)
	if d.Signal.Credential, err = s.sealFor(ctx, c, d); err != nil {
		return r, err
	}
	if len(d.Echo) > 0 { // if the decision is refused, nothing refers to it, and it is collected
		if d.Signal.Echo, err = transcript.JSON(ctx, s.blobs, d.Echo); err != nil {
			return r, err
		}
	}
	r.record, err = s.backend.Decide(ctx, d.UUID, d.Signal)
	if r.Late = IsKind(err, contract.KindDecided); r.Late {
		return r, nil
	}
	return r, err
}

// Via returns by what a decision of the caller is made: by a protocol or, if it is a yes to a call
// that waits for another token of the caller, and the request has one, by a login.
func (c Caller) Via(protocol string, p contract.PendingApproval, approved bool) string {
	if n := p.Login; n != nil && approved && n.Way == login.AtAgent && c.Token != "" && n.Caller == c.Identity.Key() {
		return login.Via
	}
	return protocol
}

// YesOrNo returns the caller's decision of an approval that takes no more than that, made by a protocol.
func (c Caller) YesOrNo(p contract.PendingApproval, approved bool, reason, protocol, requestID string) Decision {
	return Decision{UUID: p.UUID, Signal: contract.DecideSignal{
		Approved: approved, Reason: reason, Via: c.Via(protocol, p, approved), RequestID: requestID,
	}}
}

// sealFor seals the caller's token for a decision if the token may be used.
func (s *Service) sealFor(ctx context.Context, c Caller, d Decision) (string, error) {
	if s.sealed(c) == (credential.Token{}) {
		return "", nil
	}
	if d.Subject == nil {
		subject, err := s.backend.Subject(ctx, d.UUID)
		if err != nil {
			return "", err
		}
		d.Subject = &subject
	}
	if d.Subject.CallAs == contract.CallAsRequester {
		return "", nil
	}
	return s.seal(c, d.Subject.ConversationID)
}

// DecisionRecord waits for the record of the decision that counts. It fails with ErrClosing
// when the service closes.
func (s *Service) DecisionRecord(ctx context.Context, r Receipt) (contract.ApprovalResult, error) {
	if r.record != nil {
		return *r.record, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.closing, func() { cancel(ErrClosing) })()
	record, err := s.backend.Decision(ctx, r.UUID)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return record, err
}

// AlreadyDecided describes the decision that counts.
func AlreadyDecided(r contract.ApprovalResult) string {
	text := fmt.Sprintf("approval %s was already %s", r.UUID, r.Decision)
	if r.By != "" {
		text += " by " + Printable(r.By)
	}
	return text
}

// TooLate returns the *Refusal of a decision that came after another one.
func (s *Service) TooLate(ctx context.Context, record contract.ApprovalResult) error {
	cause := &Error{Kind: contract.KindDecided, Text: AlreadyDecided(record)}
	refusal := &Refusal{Cause: cause, Decision: &record}
	view, err := s.backend.Conversation(ctx, record.ConversationID, "")
	if err != nil { // the record matters more
		return refusal.because(err)
	}
	conversation, err := s.Render(ctx, view, Part{})
	if err != nil {
		return refusal.because(err)
	}
	refusal.Conversation = &conversation
	return refusal
}

func (r *Refusal) because(err error) *Refusal {
	r.Cause.Err = err
	return r
}
