package hook

import (
	"context"
	"encoding/json"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/transcript"
)

// Conversations reads conversations.
type Conversations interface {
	Conversation(ctx context.Context, conversationID, requestID string) (contract.ConversationView, error)
}

// Reader reads tasks in the form in which web hooks receive them.
type Reader struct {
	Conversations Conversations
	Blobs         transcript.Store
	// Agent is the agent of these conversations.
	Agent contract.Agent
	// PublicURL is the gateway's public URL without a slash at the end.
	PublicURL string
}

// Task returns the body of a notification in a version of the protocol.
func (r *Reader) Task(ctx context.Context, conversationID, version string) (json.RawMessage, error) {
	view, err := r.Conversations.Conversation(ctx, conversationID, "")
	if err != nil {
		return nil, err
	}
	state, err := record.Load(ctx, r.Blobs, view, nil)
	if err != nil {
		return nil, service.Explain(err)
	}
	dialect := protocol.V10
	if version == contract.PushProtocol03 {
		dialect = protocol.V03
	}
	return protocol.Notification(dialect, task.NewSource(*state, r.Agent, r.PublicURL).Task(task.Shape{}))
}
