package endpoint

import (
	"context"
	"slices"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// thread is the conversation of a thread as it was when a run was asked for.
type thread struct {
	view   contract.ConversationView
	state  *record.State
	exists bool
}

// thread reads the conversation with an ID. One that is not there has no messages.
func (ep *Endpoint) thread(ctx context.Context, id string) (thread, error) {
	view, err := ep.service.Conversation(ctx, id, "")
	exists := !service.IsKind(err, contract.KindNotFound)
	if !exists {
		view, err = contract.ConversationView{ID: id, Status: contract.StatusActive}, nil
	}
	if err != nil {
		return thread{}, err
	}
	state, err := ep.service.Record(ctx, view)
	return thread{view, state, exists}, err
}

// userMessages are the IDs by which the user's messages are known.
func (t thread) userMessages() map[string]bool {
	ids := map[string]bool{}
	for _, m := range t.state.Messages {
		if ofUser(m) {
			ids[m.ID], ids[m.DraftID] = true, true
		}
	}
	return ids
}

// lastMessage is the ID of the user's last message.
func (t thread) lastMessage() string {
	for _, m := range slices.Backward(t.state.Messages) {
		if ofUser(m) {
			return m.ID
		}
	}
	return ""
}

// interrupt is an approval that waits; the client's own calls are none.
func (t thread) interrupt(id string) (contract.PendingApproval, bool) {
	n := slices.IndexFunc(t.state.Document.PendingApprovals, func(p contract.PendingApproval) bool {
		return p.UUID == id && p.Reason != contract.ReasonClientTool
	})
	if n < 0 {
		return contract.PendingApproval{}, false
	}
	return t.state.Document.PendingApprovals[n], true
}

// record is the record of a decision that the conversation has.
func (t thread) record(uuid string) *contract.ApprovalResult {
	for _, m := range t.state.Messages {
		if m.Approval != nil && m.Approval.UUID == uuid {
			return m.Approval
		}
	}
	return nil
}
