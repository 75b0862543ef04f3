package config

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Limits are the limits at which the agent stops and asks whether to continue.
type Limits struct {
	Turn         Limit `yaml:"turn" jsonschema_description:"What one turn may spend: one message of the user and all work that follows from it."`
	Conversation Limit `yaml:"conversation" jsonschema_description:"What a conversation may spend."`
}

// Limit is how much may be spent. A field that is zero or nil sets no limit.
type Limit struct {
	Tokens int            `yaml:"tokens" jsonschema:"minimum=1,maximum=2000000000" jsonschema_description:"Input and output tokens."`
	Cost   *float64       `yaml:"cost" jsonschema:"exclusiveMinimum=0,maximum=1000000" jsonschema_description:"In the currency of the prices. Calls of models without a price count as free."`
	Calls  int            `yaml:"calls" jsonschema:"minimum=1,maximum=2000000000" jsonschema_description:"Calls of models that were answered."`
	Time   *time.Duration `yaml:"time" jsonschema_description:"Time of work, at least 1s. Waiting for people does not count."`
}

func checkLimits(r *report, l *Limits) {
	for _, side := range l.sides() {
		if side.Time != nil {
			checkDuration(r, side.path+".time", *side.Time, time.Second)
		}
	}
}

// side is the limit of a turn or of a conversation.
type side struct {
	Limit
	path, name string
}

// sides returns nil without limits.
func (l *Limits) sides() []side {
	if l == nil {
		return nil
	}
	return []side{{l.Turn, "limits.turn", "a turn"}, {l.Conversation, "limits.conversation", "a conversation"}}
}

// contract returns nil if nothing is limited.
func (l *Limits) contract() *contract.Limits {
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

func (l Limit) String() string {
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

func describeLimits(w io.Writer, l *Limits) {
	if l.contract() == nil {
		return
	}
	fmt.Fprintln(w, "\nLimits")
	for _, side := range l.sides() {
		if text := side.String(); text != "" {
			fmt.Fprintf(w, "  %s: %s\n", side.name, text)
		}
	}
}
