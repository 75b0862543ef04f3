// Package shorten cuts the results of tools for models.
package shorten

import (
	"fmt"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// Limits of a tool's result in a request to a model, in bytes: maxResult, or less for a small
// window. The recorded and exported result is complete.
const (
	maxResult = 32 << 10
	minResult = 1 << 10
)

// Limit returns the limit of one result for a model with the given window; 0 is an
// unknown window.
func Limit(window int) int {
	if window <= 0 {
		return maxResult
	}
	return min(max(window/2, minResult), maxResult)
}

// Message cuts a tool's result for the model. The note names the blob of the complete
// stored message.
func Message(m, stored contract.Message, limit int) contract.Message {
	if m.Role != contract.RoleTool || m.ToolCall == nil {
		return m
	}
	call := *m.ToolCall
	call.Result.Inline = shorten(call.Result.Inline, stored.ToolCall.Result.Blob, limit)
	m.ToolCall = &call
	m.Content.Inline = shorten(m.Content.Inline, stored.Content.Blob, limit)
	return m
}

func shorten(text string, whole *contract.Blob, limit int) string {
	if len(text) <= limit {
		return text
	}
	begin := Beginning(text, limit)
	where := ""
	if whole != nil {
		where = "; the whole is kept as " + whole.SHA256
	}
	return fmt.Sprintf("%s\n[cut: the result has %d bytes, the first %d are shown%s]", begin, len(text), len(begin), where)
}

// Beginning returns at most limit bytes of a text, cut between characters.
func Beginning(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
