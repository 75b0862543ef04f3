package tasklog

import (
	"bytes"
	"encoding/json"
	"time"
)

// kind is the kind of a task: of a workflow or of an activity.
type kind string

const (
	workflowTask kind = "workflow"
	activityTask kind = "activity"
)

// task is a task that a worker holds.
type task struct {
	number int64
	kind   kind
	token  []byte
	until  int64 // when the task times out at the server, in Unix seconds; 0 means never
}

func (t task) expired(now time.Time) bool { return t.until > 0 && now.Unix() > t.until }

// record is a line: a held task, the number of a completed one, a sticky queue that is polled,
// one that is not polled any more, the identity of the poller, or the ID of the log.
type record struct {
	Held   int64  `json:"held,omitempty"`
	Kind   kind   `json:"kind,omitempty"`
	Token  []byte `json:"token,omitempty"`
	Until  int64  `json:"until,omitempty"`
	Done   int64  `json:"done,omitempty"`
	Sticky string `json:"sticky,omitempty"`
	Gone   string `json:"gone,omitempty"`
	Poller string `json:"poller,omitempty"`
	ID     string `json:"id,omitempty"`
}

func held(t task) record {
	return record{Held: t.number, Kind: t.kind, Token: t.token, Until: t.until}
}

func (r record) task() task { return task{r.Held, r.Kind, r.Token, r.Until} }

// lines writes records as text.
func lines(records ...record) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, r := range records {
		if err := e.Encode(r); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
