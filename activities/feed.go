package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// Feed tells those who watch conversations what is new.
type Feed interface {
	// Publish passes news on, those of one conversation in order. It does not block, and
	// what nobody takes in time is lost.
	Publish(contract.Event)
}

// publish tells a feed, if there is one.
func publish(f Feed, n contract.Event) {
	if f != nil {
		f.Publish(n)
	}
}

// publishDeltas returns what passes on a reply while it is being made; nil when there is
// nobody to hear it.
func (m *Models) publishDeltas(ctx context.Context, in contract.GenerateInput, left *allowance) func(llm.Delta) {
	if m.Feed == nil || in.DraftID == "" {
		return nil
	}
	draft := contract.Draft{ID: in.DraftID, Node: in.Node, Model: in.Model, Attempt: 1, Until: left.until(time.Now())}
	if activity.IsActivity(ctx) {
		draft.Attempt = int(activity.GetInfo(ctx).Attempt)
	}
	m.Feed.Publish(contract.Event{ConversationID: in.ConversationID, Draft: &draft})
	return func(d llm.Delta) {
		m.Feed.Publish(contract.Event{ConversationID: in.ConversationID, Delta: &contract.Delta{
			DraftID: in.DraftID, Kind: d.Kind, Call: d.Call, Tool: d.Name, Text: d.Text,
		}})
	}
}
