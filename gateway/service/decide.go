package service

import (
	"context"
	"fmt"

	"agent-stop-and-go/workflows/contract"
)

// Decision is what a caller decides about an approval.
type Decision struct {
	UUID string
	// Subject is what the approval is about; nil has it read where it matters.
	Subject *Subject
	// Signal has no Credential: that is the caller's token.
	Signal contract.DecideSignal
}

// Decide sends a decision. That another one came before it is no error: late reports that,
// and the record tells whose counted. It may be an earlier attempt of this request.
func (s *Service) Decide(ctx context.Context, c Caller, d Decision) (late bool, err error) {
	note, err := c.Note(Note{d.Signal.Reason, d.Signal.By})
	if err != nil {
		return false, err
	}
	ctx, cancel := sending(ctx)
	defer cancel()
	d.Signal.By = note.By
	if d.Signal.Credential, err = s.sealFor(ctx, c, d); err != nil {
		return false, err
	}
	err = s.backend.Decide(ctx, d.UUID, d.Signal)
	if IsKind(err, contract.KindDecided) {
		return true, nil
	}
	return false, err
}

// sealFor is seal for a decision: the token is kept only if it may be used.
func (s *Service) sealFor(ctx context.Context, c Caller, d Decision) (string, error) {
	if c.Token == "" {
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

// DecisionRecord waits for the record of the decision that counted. It fails with ErrClosing when
// the service closes.
func (s *Service) DecisionRecord(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.closing, func() { cancel(ErrClosing) })()
	record, err := s.backend.Decision(ctx, uuid)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return record, err
}

// PublicRecord is a record without what is nobody's business.
func PublicRecord(r contract.ApprovalResult) contract.ApprovalResult {
	r.Credential, r.Content = "", contract.JSON{}
	return r
}

// AlreadyDecided says whose decision counted.
func AlreadyDecided(r contract.ApprovalResult) string {
	text := fmt.Sprintf("approval %s was already %s", r.UUID, r.Decision)
	if r.By != "" {
		text += " by " + Printable(r.By)
	}
	return text
}

// TooLate is the *Refusal of a decision when another one counted.
func (s *Service) TooLate(ctx context.Context, record contract.ApprovalResult) error {
	cause := &Error{Kind: contract.KindDecided, Text: AlreadyDecided(record)}
	refusal := &Refusal{Cause: cause, Decision: &record}
	view, err := s.backend.Conversation(ctx, record.ConversationID, "")
	if err != nil { // the record is what matters
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
