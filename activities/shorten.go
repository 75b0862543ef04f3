package activities

import (
	"fmt"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// How much of a tool's result a model is shown, in bytes: maxResult, and less where
// that would fill a small window. What is recorded and exported is whole.
const (
	maxResult = 32 << 10
	minResult = 1 << 10
)

// resultLimit is how much a model with a window of so many tokens is shown of one
// result; 0 is a window that is not known.
func resultLimit(window int) int {
	if window <= 0 {
		return maxResult
	}
	return min(max(window/2, minResult), maxResult)
}

// shortenMessage cuts what a tool has said for the model. The note names the blob of
// the message as it is stored, where the whole is.
func shortenMessage(m, stored contract.Message, limit int) contract.Message {
	if m.Role != contract.RoleTool || m.ToolCall == nil {
		return m
	}
	call := *m.ToolCall
	call.Result.Inline = shortenText(call.Result.Inline, stored.ToolCall.Result.Blob, limit)
	m.ToolCall = &call
	m.Content.Inline = shortenText(m.Content.Inline, stored.Content.Blob, limit)
	return m
}

func shortenText(text string, whole *contract.Blob, limit int) string {
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
