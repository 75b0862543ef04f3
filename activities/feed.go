package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// Feed publishes events to the subscribers of conversations.
type Feed interface {
	// Publish sends an event, in order within a conversation. It does not block, and events
	// that are not received in time are lost.
	Publish(contract.Event)
}

// publish sends an event if there is a feed.
func publish(f Feed, n contract.Event) {
	if f != nil {
		f.Publish(n)
	}
}

// publishDeltas starts a draft and returns a function that publishes its deltas, or nil if
// there is no feed.
func (m *Models) publishDeltas(ctx context.Context, in contract.GenerateInput, left *allowance) func(llm.Delta) {
	if m.Feed == nil || in.DraftID == "" {
		return nil
	}
	draft := generation.Draft{ID: in.DraftID, Node: in.Node, Model: in.Model, Attempt: 1, Until: left.until(time.Now())}
	if activity.IsActivity(ctx) {
		draft.Attempt = int(activity.GetInfo(ctx).Attempt)
	}
	n := contract.Event{ConversationID: in.ConversationID, Draft: &draft}
	if in.Node == "" {
		n.Transcript = &in.Transcript
	}
	m.Feed.Publish(n)
	return func(d llm.Delta) {
		m.Feed.Publish(contract.Event{ConversationID: in.ConversationID, Delta: &generation.Delta{
			DraftID: in.DraftID, Kind: d.Kind, Call: d.Call, Tool: d.Name, Text: d.Text,
		}})
	}
}
