package feed

import (
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"

	"agent-stop-and-go/workflows/contract"
)

// The fields of an entry of a stream: news as JSON, or a mark that something before
// it was lost.
const (
	fieldNews = "news"
	fieldLost = "lost"
)

func (e entry) encode() ([]byte, error) {
	n := e.news
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

// decode returns the news up to the first loss. What cannot be read is lost too.
func decode(id string, entries []redis.XMessage) (news []contract.Event, lost bool) {
	for _, e := range entries {
		text, ok := e.Values[fieldNews].(string)
		var n contract.Event
		if !ok || json.Unmarshal([]byte(text), &n) != nil {
			return news, true
		}
		n.ConversationID = id
		news = append(news, n)
	}
	return news, false
}
