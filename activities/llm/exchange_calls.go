package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

func (t *turn) call(c contract.ToolCall) {
	t.Calls = append(t.Calls, PastCall{ID: c.ID, Name: c.Name, Arguments: object(c.Arguments.Raw)})
	t.answered = append(t.answered, false)
}

// answer gives the result to the first call with its ID that has none.
func (t *turn) answer(c contract.ToolCall, result string, media []Media) bool {
	for i := range t.Calls {
		if t.Calls[i].ID == c.ID && !t.answered[i] && (c.ID != "" || t.Calls[i].Name == c.Name) {
			t.Calls[i].Result, t.Calls[i].IsError, t.Calls[i].Media, t.answered[i] = result, c.IsError, media, true
			return true
		}
	}
	return false
}

// result pairs a result with its call: in its own reply if it names one, else in
// the latest one that waits for it.
func (x *exchange) result(m contract.Message) {
	if m.ToolCall == nil {
		return
	}
	text := join(m.ToolCall.Result.Short(), m.Content.Short())
	for i := len(x.turns) - 1; i >= 0; i-- {
		t := x.turns[i]
		if (m.Reply == "" || t.reply == "" || m.Reply == t.reply) && t.answer(*m.ToolCall, text, x.media[m.ID]) {
			return
		}
	}
	orphan := fmt.Sprintf("Tool %q returned:\n%s", m.ToolCall.Name, text)
	x.turns = append(x.turns, &turn{Turn: Turn{Role: contract.RoleUser, Text: orphan}})
}

// finish settles calls without results, gives every call of a turn an ID of its
// own, and merges adjacent texts.
func (x *exchange) finish() []Turn {
	var out []Turn
	for _, t := range x.turns {
		t.settle()
		if n := len(out); n > 0 && mergeable(out[n-1], t.Turn) {
			out[n-1].Text, out[n-1].Native = join(out[n-1].Text, t.Text), nil
			out[n-1].Media = append(slices.Clip(out[n-1].Media), t.Media...)
			continue
		}
		out = append(out, t.Turn)
	}
	return out
}

func (t *turn) settle() {
	used := map[string]bool{}
	for i := range t.Calls {
		c := &t.Calls[i]
		if !t.answered[i] {
			c.NotRun, c.Result = true, NotRun
			if t.rejected != nil {
				c.Result = strings.TrimSpace(Rejected + " " + t.rejected.ReasonText())
			}
		}
		for n := i; c.ID == "" || used[c.ID]; n++ {
			c.ID, t.Native = numberedID(n), nil
		}
		used[c.ID] = true
	}
}

// numberedID has the nine characters that every provider takes.
func numberedID(n int) string {
	digits := strconv.Itoa(n + 1)
	return "call00000"[:max(0, 9-len(digits))] + digits
}

func mergeable(a, b Turn) bool {
	return a.Role == b.Role && len(a.Calls) == 0 && len(b.Calls) == 0
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// object returns raw if it is a JSON object, else an empty one.
func object(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); isObject(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

func isObject(raw []byte) bool {
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}
