package activities

import (
	"fmt"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// maxShown is how much of a tool's result a model is shown, in bytes. What is
// recorded and exported is whole.
const maxShown = 32 << 10

// shortened cuts what a tool has said for the model. The note names the blob of
// the message as it is stored, where the whole is.
func shortened(m, stored contract.Message) contract.Message {
	if m.Role != contract.RoleTool || m.ToolCall == nil {
		return m
	}
	call := *m.ToolCall
	call.Result.Inline = shown(call.Result.Inline, stored.ToolCall.Result.Blob)
	m.ToolCall = &call
	m.Content.Inline = shown(m.Content.Inline, stored.Content.Blob)
	return m
}

func shown(text string, whole *contract.Blob) string {
	if len(text) <= maxShown {
		return text
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	where := ""
	if whole != nil {
		where = "; the whole is kept as " + whole.SHA256
	}
	return fmt.Sprintf("%s\n[cut: the result has %d bytes, the first %d are shown%s]", text[:end], len(text), end, where)
}
