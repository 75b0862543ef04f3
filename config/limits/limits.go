// Package limits has the settings of what may be spent and taken.
package limits

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Limits are the limits at which the agent stops and asks whether to continue, and those at
// which it refuses callers.
type Limits struct {
	Turn         Limit  `yaml:"turn" jsonschema_description:"What one turn may spend: one message of the user and all work that follows from it."`
	Conversation Limit  `yaml:"conversation" jsonschema_description:"What a conversation may spend."`
	Rates        []Rate `yaml:"rates" jsonschema_description:"How often calls of tools may be made. They are counted durably, over all conversations and workers."`
	Caller       Caller `yaml:"caller" jsonschema_description:"What one caller may take. Whoever takes more gets a 429 with Retry-After. Needs auth: with auth: none nobody is known."`
}

// Limit is how much may be spent. A field that is zero or nil sets no limit.
type Limit struct {
	Tokens int            `yaml:"tokens" jsonschema:"minimum=1,maximum=2000000000" jsonschema_description:"Input and output tokens."`
	Cost   *float64       `yaml:"cost" jsonschema:"exclusiveMinimum=0,maximum=1000000" jsonschema_description:"In the currency of the prices. Calls of models without a price count as free."`
	Calls  int            `yaml:"calls" jsonschema:"minimum=1,maximum=2000000000" jsonschema_description:"Calls of models that were answered."`
	Time   *time.Duration `yaml:"time" jsonschema_description:"Time of work, at least 1s. Waiting for people does not count."`
}

// Caller is how much one caller may take. A field that is zero sets no limit.
type Caller struct {
	Requests      int `yaml:"requests" jsonschema:"minimum=1,maximum=6000000" jsonschema_description:"Requests a minute, in the long run. Gateways with events.redis count together, others each for itself."`
	Burst         int `yaml:"burst" jsonschema:"minimum=1,maximum=6000000" jsonschema_description:"Requests at once, after a pause. Without the key as many as requests."`
	Conversations int `yaml:"conversations" jsonschema:"minimum=1,maximum=100000" jsonschema_description:"Open conversations: those that are not completed. The start of one more is refused; a repeated start of one of them is not."`
}

// Rate returns the requests a minute and those at once.
func (c Caller) Rate() (requests, burst int) { return c.Requests, cmp.Or(c.Burst, c.Requests) }

// Check reports what is wrong with the limits of callers, by their keys.
func (c Caller) Check(known bool, report func(key, problem string)) {
	if c == (Caller{}) {
		return
	}
	if !known {
		report("caller", "needs auth: with auth: none nobody is known, and all callers are one")
	}
	if c.Burst > 0 && c.Requests == 0 {
		report("caller.burst", "needs requests")
	}
}

func (c Caller) String() string {
	var parts []string
	if requests, burst := c.Rate(); requests > 0 {
		parts = append(parts, fmt.Sprintf("%d requests a minute, %d at once", requests, burst))
	}
	if c.Conversations > 0 {
		parts = append(parts, fmt.Sprintf("%d open conversations", c.Conversations))
	}
	return strings.Join(parts, ", ")
}

// Side is the limit of a turn or of a conversation, with its key and its name.
type Side struct {
	Limit
	Path, Name string
}

// Sides returns nil without limits.
func (l *Limits) Sides() []Side {
	if l == nil {
		return nil
	}
	return []Side{{l.Turn, "limits.turn", "a turn"}, {l.Conversation, "limits.conversation", "a conversation"}}
}

// OfCaller returns zero limits if there are none.
func (l *Limits) OfCaller() Caller {
	if l == nil {
		return Caller{}
	}
	return l.Caller
}

// Contract returns the limits of conversations, or nil if nothing of them is limited.
func (l *Limits) Contract() *contract.Limits {
	if l == nil {
		return nil
	}
	out := contract.Limits{Turn: l.Turn.contract(), Conversation: l.Conversation.contract()}
	if out == (contract.Limits{}) {
		return nil
	}
	return &out
}

// contract rounds a cost, but never to 0, which would be no limit.
func (l Limit) contract() contract.Limit {
	out := contract.Limit{Tokens: int64(l.Tokens), Calls: int64(l.Calls)}
	if l.Cost != nil {
		out.Cost = max(1, int64(math.Round(*l.Cost*1e9)))
	}
	if l.Time != nil {
		out.Time = *l.Time
	}
	return out
}

// Text describes a limit in one line, with the texts of a number and of a duration.
func (l Limit) Text(decimal func(float64) string, short func(time.Duration) string) string {
	var parts []string
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(l.Tokens > 0, "%d tokens", l.Tokens)
	if l.Cost != nil {
		add(true, "a cost of %s", decimal(*l.Cost))
	}
	add(l.Calls > 0, "%d calls", l.Calls)
	if l.Time != nil {
		add(true, "%s of work", short(*l.Time))
	}
	return strings.Join(parts, ", ")
}

// Describe lists the limits, with the texts of a number and of a duration. Without any it writes
// nothing.
func (l *Limits) Describe(w io.Writer, decimal func(float64) string, short func(time.Duration) string) {
	var text strings.Builder
	for _, side := range l.Sides() {
		if limit := side.Text(decimal, short); limit != "" {
			fmt.Fprintf(&text, "  %s: %s\n", side.Name, limit)
		}
	}
	for _, r := range l.RateLimits() {
		fmt.Fprintf(&text, "  %s: %s, then %s\n", r.Name, r, r.On)
	}
	if limit := l.OfCaller().String(); limit != "" {
		fmt.Fprintf(&text, "  a caller: %s\n", limit)
	}
	if text.Len() > 0 {
		fmt.Fprintf(w, "\nLimits\n%s", text.String())
	}
}
