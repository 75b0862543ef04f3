package endpoint

import (
	"context"
	"slices"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// thread is the conversation of a thread when a run arrives.
type thread struct {
	view   contract.ConversationView
	state  *record.State
	exists bool
}

// threadOf reads the conversation of a thread. A thread whose ID is the UUID of a conversation
// is that one. Any other ID is the caller's own choice: the conversation's ID is derived from
// both. Without authentication a UUID always is a conversation's, also of one to be started.
func (ep *Endpoint) threadOf(ctx context.Context, caller service.Caller, threadID string) (thread, error) {
	if contract.IsUUID(threadID) {
		t, err := ep.thread(ctx, threadID)
		if err != nil || t.exists || !caller.Authenticated() {
			return t, err
		}
	}
	id, err := ep.service.OwnID(ctx, "ag-ui", caller.Own(threadID))
	if err != nil {
		return thread{}, err
	}
	return ep.thread(ctx, id)
}

// thread reads a conversation. If it does not exist, the thread has no messages.
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

// userMessages returns the IDs of the user's messages, in both forms.
func (t thread) userMessages() map[string]bool {
	ids := map[string]bool{}
	for _, m := range t.state.Messages {
		if turn.ByUser(m) {
			ids[m.ID], ids[m.DraftID] = true, true
		}
	}
	return ids
}

// lastMessage returns the ID of the user's last message, or "".
func (t thread) lastMessage() string {
	for _, m := range slices.Backward(t.state.Messages) {
		if turn.ByUser(m) {
			return m.ID
		}
	}
	return ""
}

// interrupt returns a waiting approval. Calls of the client's own tools are not interrupts.
func (t thread) interrupt(id string) (contract.PendingApproval, bool) {
	n := slices.IndexFunc(t.state.Document.PendingApprovals, func(p contract.PendingApproval) bool {
		return p.UUID == id && p.Reason != contract.ReasonClientTool
	})
	if n < 0 {
		return contract.PendingApproval{}, false
	}
	return t.state.Document.PendingApprovals[n], true
}

// record returns the recorded decision of an approval, or nil.
func (t thread) record(uuid string) *contract.ApprovalResult {
	for _, m := range t.state.Messages {
		if m.Approval != nil && m.Approval.UUID == uuid {
			return m.Approval
		}
	}
	return nil
}
