package service

import (
	"context"
	"errors"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// Result is the result of a turn.
type Result struct {
	Response        string                    `json:"response"`
	WaitingApproval bool                      `json:"waiting_approval"`
	Approval        *contract.PendingApproval `json:"approval,omitempty"`
	AuthRequired    bool                      `json:"auth_required"`
}

// Reply is the conversation after a request, with the request's result.
type Reply struct {
	Conversation document.Conversation `json:"conversation"`
	Result       *Result               `json:"result,omitempty"`
	// Problem names the parts of the reply that cannot be read although the request was
	// carried out.
	Problem string `json:"problem,omitempty"`
}

// Refusal is an Error with details for the caller.
type Refusal struct {
	Cause        *Error
	Conversation *document.Conversation
	Result       *Result
	Decision     *contract.ApprovalResult
}

func (r *Refusal) Error() string { return r.Cause.Error() }

func (r *Refusal) Unwrap() error { return r.Cause }

// Reply renders a settlement; a refusal is returned as a *Refusal. Parts that cannot be read
// are named in Problem and are not an error, because the request was carried out.
func (s *Service) Reply(ctx context.Context, r Request, set Settlement) (Reply, error) {
	if r.Fingerprint != "" && set.Outcome.Fingerprint != "" && r.Fingerprint != set.Outcome.Fingerprint {
		return Reply{}, KeyReused()
	}
	conversation, lost := s.Render(ctx, set.View, Part{Whole: r.Whole})
	result, unread := s.Result(ctx, set.Outcome.Result)
	if ctx.Err() != nil {
		return Reply{}, ctx.Err()
	}
	problem := ""
	if err := errors.Join(lost, unread); err != nil {
		s.logger.Error("a part of a reply cannot be read", "conversation", r.ConversationID, "error", err)
		problem = "the request was carried out, but " + Problem(err)
	}
	if refused := set.Outcome.Refused; refused != "" && !(r.MayBeCompleted && refused == contract.KindCompleted) {
		cause := &Error{Kind: refused, Text: RefusalText(refused, result)}
		return Reply{}, &Refusal{Cause: cause, Conversation: &conversation, Result: result}
	}
	return Reply{conversation, result, problem}, nil
}

// Refusal returns the error of a settlement that is a refusal, otherwise nil.
func (set *Settlement) Refusal() error {
	if set == nil || set.Outcome.Refused == "" {
		return nil
	}
	var result *Result
	if set.Outcome.Result != nil {
		result = &Result{Response: set.Outcome.Result.Response.Short()}
	}
	return &Error{Kind: set.Outcome.Refused, Text: RefusalText(set.Outcome.Refused, result)}
}

// RefusalText returns the reason of a refusal.
func RefusalText(kind contract.Kind, r *Result) string {
	response := ""
	if r != nil {
		response = ": " + r.Response
	}
	switch kind {
	case contract.KindBusy:
		return "too many requests" + response
	case contract.KindTooLarge:
		return "the request is too large" + response
	case contract.KindInvalid: // a message that does not answer the waiting question
		return "invalid answer" + response
	case contract.KindDecided:
		return "The question has an answer already."
	case contract.KindWaiting:
		return "Conversation is waiting for approval. Please respond to the pending approval first."
	}
	return "Conversation is completed."
}

// Result loads a result. What cannot be read is left out, and the error says why. It returns
// nil for a result that the workflow no longer has; the conversation still contains its
// messages.
func (s *Service) Result(ctx context.Context, r *contract.Result) (*Result, error) {
	if r == nil {
		return nil, nil
	}
	out := &Result{WaitingApproval: r.WaitingApproval, AuthRequired: r.AuthRequired}
	var err error
	if out.Response, err = transcript.ReadText(ctx, s.blobs, r.Response); err != nil {
		out.Response = document.Lost
	}
	if r.Approval == nil {
		return out, err
	}
	pending, failed := s.Pending(ctx, *r.Approval)
	if failed == nil {
		out.Approval = &pending
	}
	return out, errors.Join(err, failed)
}
