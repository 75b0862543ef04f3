package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record"
)

func (t *turn) call(c contract.ToolCall) {
	t.Calls = append(t.Calls, PastCall{ID: c.ID, Name: c.Name, Arguments: object(c.Arguments.Raw)})
	t.answered = append(t.answered, false)
}

// answer gives a call its result, unless it has one already.
func (c callPlace) answer(result contract.ToolCall, text string, media []Media) bool {
	if c.turn == nil || c.turn.answered[c.index] {
		return false
	}
	call := &c.turn.Calls[c.index]
	call.Result, call.IsError, call.Media, c.turn.answered[c.index] = text, result.IsError, media, true
	return true
}

// change notes what a person has changed about a call: the model has not asked for what has run.
func (x *turnBuilder) change(r contract.ApprovalResult) {
	at, ok := x.places[r.Revision.Call]
	if !ok || len(r.Revision.Changes) == 0 {
		return
	}
	by := ""
	if name := r.ShownBy(); name != "" {
		by = fmt.Sprintf(" (%q)", name)
	}
	text := "This call did not run as it was made. The person who approved it" + by + " has changed its arguments:"
	for _, c := range r.Revision.Changes {
		if text += " " + c.Name + " is " + c.After; c.Before != "" {
			text += " instead of " + c.Before
		}
		text += ";"
	}
	if at.turn.changed == nil {
		at.turn.changed = map[int]string{}
	}
	at.turn.changed[at.index] = Join(at.turn.changed[at.index], strings.TrimSuffix(text, ";")+".")
}

// addResult gives a result to its call. A result without a call becomes a user's text.
func (x *turnBuilder) addResult(e record.Entry) {
	if e.ToolCall == nil {
		return
	}
	text := Join(e.ToolCall.Result.Short(), e.Content.Short())
	if x.calls[e.Answers].answer(*e.ToolCall, text, x.media[e.ID]) {
		return
	}
	orphan := fmt.Sprintf("Tool %q returned:\n%s", e.ToolCall.Name, text)
	x.turns = append(x.turns, &turn{Turn: Turn{Role: contract.RoleUser, Text: orphan}})
}

// finish adds results to calls without one, gives every call of a turn its own ID, and merges
// adjacent texts.
func (x *turnBuilder) finish() []Turn {
	var out []Turn
	for _, t := range x.turns {
		t.settle()
		if n := len(out); n > 0 && mergeable(out[n-1], t.Turn) {
			out[n-1].Text, out[n-1].Native = Join(out[n-1].Text, t.Text), nil
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
			if t.rejected != nil && t.rejected.Via == verdict.Via {
				c.Result = strings.TrimSpace(NotRun + " " + t.rejected.ReasonText())
			} else if t.rejected != nil {
				c.Result = strings.TrimSpace(Rejected + " " + t.rejected.ReasonText())
			}
		} else if t.changed[i] != "" {
			c.Result = Join(t.changed[i], c.Result)
		}
		for n := i; c.ID == "" || used[c.ID]; n++ {
			c.ID, t.Native = NumberedID(n), nil
		}
		used[c.ID] = true
	}
}

// NumberedID returns an ID of the nine characters that every provider accepts.
func NumberedID(n int) string {
	digits := strconv.Itoa(n + 1)
	return "call00000"[:max(0, 9-len(digits))] + digits
}

func mergeable(a, b Turn) bool {
	return a.Role == b.Role && len(a.Calls) == 0 && len(b.Calls) == 0
}

// Join joins two texts with an empty line; an empty text is omitted.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// object returns raw if it is a JSON object, else an empty one.
func object(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); IsObject(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// IsObject reports whether raw is a JSON object, without blanks before it.
func IsObject(raw []byte) bool {
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}
