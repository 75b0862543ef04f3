package feed

import (
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"

	"agent-stop-and-go/workflows/contract"
)

// The fields of a stream entry: an event as JSON, or a mark that events before it were lost.
const (
	fieldEvent = "news"
	fieldLost  = "lost"
)

func (e entry) encode() ([]byte, error) {
	n := e.event
	if len(e.text) > 0 {
		d := *n.Delta
		d.Text += string(e.text)
		n.Delta = &d
	}
	data, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode news: %w", err)
	}
	return data, nil
}

// decode returns the events up to the first loss. An entry that cannot be decoded counts as a
// loss.
func decode(id string, entries []redis.XMessage) (events []contract.Event, lost bool) {
	for _, e := range entries {
		text, ok := e.Values[fieldEvent].(string)
		var n contract.Event
		if !ok || json.Unmarshal([]byte(text), &n) != nil {
			return events, true
		}
		n.ConversationID = id
		events = append(events, n)
	}
	return events, false
}
