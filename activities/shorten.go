package activities

import (
	"fmt"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// How much of a tool's result a model is shown, in bytes: maxShown, and less where
// that would fill a small window. What is recorded and exported is whole.
const (
	maxShown = 32 << 10
	minShown = 1 << 10
)

// shownOf is how much a model with a window of so many tokens is shown of one
// result; 0 is a window that is not known.
func shownOf(window int) int {
	if window <= 0 {
		return maxShown
	}
	return min(max(window/2, minShown), maxShown)
}

// shortened cuts what a tool has said for the model. The note names the blob of
// the message as it is stored, where the whole is.
func shortened(m, stored contract.Message, limit int) contract.Message {
	if m.Role != contract.RoleTool || m.ToolCall == nil {
		return m
	}
	call := *m.ToolCall
	call.Result.Inline = shown(call.Result.Inline, stored.ToolCall.Result.Blob, limit)
	m.ToolCall = &call
	m.Content.Inline = shown(m.Content.Inline, stored.Content.Blob, limit)
	return m
}

func shown(text string, whole *contract.Blob, limit int) string {
	if len(text) <= limit {
		return text
	}
	begin := beginning(text, limit)
	where := ""
	if whole != nil {
		where = "; the whole is kept as " + whole.SHA256
	}
	return fmt.Sprintf("%s\n[cut: the result has %d bytes, the first %d are shown%s]", begin, len(text), len(begin), where)
}

// beginning is what of a text has at most limit bytes, cut between characters.
func beginning(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
