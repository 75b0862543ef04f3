package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// Deltas listens to models.
type Deltas interface {
	// Begin is told that a reply is being made. It returns what takes the reply's
	// deltas, in order and from one goroutine, without blocking; nil takes none.
	// What an earlier attempt at the same draft said is void. The message with the
	// Draft supersedes all of it.
	Begin(ctx context.Context, d Draft) func(llm.Delta)
}

// Draft is a reply that is being made.
type Draft struct {
	ConversationID string
	Name           string // that the first message of the reply has as its Draft
	Node           string // empty for an agent that is one node
	Model          string // as configured
	Attempt        int    // from 1
}

// listen tells who listens that a reply is being made.
func (m *Models) listen(ctx context.Context, in contract.GenerateInput) func(llm.Delta) {
	if m.Deltas == nil || in.Draft == "" {
		return nil
	}
	d := Draft{ConversationID: in.ConversationID, Name: in.Draft, Node: in.Node, Model: in.Model, Attempt: 1}
	if activity.IsActivity(ctx) {
		d.Attempt = int(activity.GetInfo(ctx).Attempt)
	}
	return m.Deltas.Begin(ctx, d)
}
