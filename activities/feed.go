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
	// Tell passes news on, those of one conversation in order. It does not block, and
	// what nobody takes in time is lost.
	Tell(contract.News)
}

// publish tells a feed, if there is one.
func publish(f Feed, n contract.News) {
	if f != nil {
		f.Tell(n)
	}
}

// publishDeltas returns what passes on a reply while it is being made; nil when there is
// nobody to hear it.
func (m *Models) publishDeltas(ctx context.Context, in contract.GenerateInput, left *allowance) func(llm.Delta) {
	if m.Feed == nil || in.Draft == "" {
		return nil
	}
	draft := contract.Draft{Name: in.Draft, Node: in.Node, Model: in.Model, Attempt: 1, Until: left.until(time.Now())}
	if activity.IsActivity(ctx) {
		draft.Attempt = int(activity.GetInfo(ctx).Attempt)
	}
	m.Feed.Tell(contract.News{ConversationID: in.ConversationID, Draft: &draft})
	return func(d llm.Delta) {
		m.Feed.Tell(contract.News{ConversationID: in.ConversationID, Delta: &contract.Delta{
			Draft: in.Draft, Kind: d.Kind, Call: d.Call, Tool: d.Name, Text: d.Text,
		}})
	}
}
