package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
	"agent-stop-and-go/workflows/record"
)

// StateOfCall returns the conversation in which a call of the client's waits, or has waited.
func StateOfCall(ctx context.Context, s *service.Service, uuid string) (*record.State, error) {
	subject, err := s.Subject(ctx, uuid)
	if service.IsKind(err, contract.KindNotFound) {
		return nil, service.Errorf(contract.KindInvalid, "no call waits for that result, and none has: %s", service.Printable(uuid))
	}
	if err != nil {
		return nil, err
	}
	return s.State(ctx, subject.ConversationID)
}

// Result returns the decision that brings the result of a client's call, or the one that has brought
// one before.
func (d Desk) Result(s *record.State, uuid, text string) (service.Decision, *contract.ApprovalResult, error) {
	content, requestID, err := resultOf(uuid, text)
	if err != nil {
		return service.Decision{}, nil, err
	}
	if len(content) > clienttool.MaxResult {
		return service.Decision{}, nil, service.Errorf(contract.KindTooLarge, "the result of a call is too large: as JSON it may have %d bytes", clienttool.MaxResult)
	}
	waits := func(p contract.PendingApproval) bool { return p.UUID == uuid && p.Reason == contract.ReasonClientTool }
	if slices.ContainsFunc(s.Document.PendingApprovals, waits) {
		return service.Decision{UUID: uuid, Signal: contract.DecideSignal{
			Approved: true, Via: d.Via, Content: contract.JSON{Raw: content}, RequestID: requestID,
		}}, nil, nil
	}
	for _, m := range s.Messages {
		if m.Approval != nil && m.Approval.UUID == uuid && m.Approval.RequestID == requestID {
			return service.Decision{}, m.Approval, nil
		}
	}
	return service.Decision{}, nil, service.Errorf(contract.KindDecided, "the call of that result does not wait any more: %s", service.Printable(CallID(contract.PendingApproval{UUID: uuid})))
}

// resultOf returns the content of the decision that brings a result, and its ID.
func resultOf(uuid, text string) (content json.RawMessage, requestID string, err error) {
	content, err = json.Marshal(clienttool.Result{Content: text})
	return content, contract.NameUUID(uuid, "result "+contract.Hash(content)), err
}

// IsResult reports whether a decision has brought a text as the result of a call.
func IsResult(r contract.ApprovalResult, text string) bool {
	_, requestID, err := resultOf(r.UUID, text)
	return err == nil && r.RequestID == requestID
}

// requestOf is the ID of a decision by code. A yes and a no by one code are not the same request.
func requestOf(uuid string, c passcode.Command) string {
	return contract.NameUUID(uuid, fmt.Sprintf("code %s %t", c.Code, c.Approved))
}

// DecidedBy returns the decision that a command has made before, or nil.
func DecidedBy(s *record.State, c passcode.Command) *contract.ApprovalResult {
	for _, m := range s.Messages {
		if m.Approval != nil && m.Approval.RequestID == requestOf(m.Approval.UUID, c) {
			return m.Approval
		}
	}
	return nil
}

// Answer returns the decision that answers an approval, or the same one that was sent before. It is
// an error to decide otherwise what is decided.
func (d Desk) Answer(s *record.State, uuid string, approve bool, reason string, c service.Caller) (service.Decision, *contract.ApprovalResult, error) {
	requestID := contract.NameUUID(uuid, fmt.Sprintf("answer %t", approve))
	for _, p := range s.Document.PendingApprovals {
		switch {
		case p.UUID != uuid:
		case !passcode.Takes(p):
			return service.Decision{}, nil, service.Errorf(contract.KindInvalid, "this takes more than a yes or a no; decide it at %s", Link(c, uuid))
		case approve && !passcode.Whole(p):
			return service.Decision{}, nil, service.Errorf(contract.KindInvalid, "not all of this is shown here; approve it at %s", Link(c, uuid))
		default:
			return c.YesOrNo(p, approve, reason, d.Via, requestID), nil, nil
		}
	}
	for _, m := range s.Messages {
		if m.Approval != nil && m.Approval.UUID == uuid {
			if m.Approval.RequestID == requestID {
				return service.Decision{}, m.Approval, nil
			}
			return service.Decision{}, nil, service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(*m.Approval))
		}
	}
	return service.Decision{}, nil, service.Errorf(contract.KindInvalid, "no approval %s waits", service.Printable(uuid))
}
