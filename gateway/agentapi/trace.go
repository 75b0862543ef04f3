package agentapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// previewLength is how much of a result is shown, in characters.
const previewLength = 500

// known are the tools whose traces have names and texts of their own: the argument that is shown.
var known = map[string]struct{ label, argument string }{
	"db_query":      {"db", "sql"},
	"google_search": {"search google", "query"},
	"ddgs_search":   {"search ddgs", "query"},
	"tavily_search": {"search tavily", "query"},
	"google_drive":  {"drive", "operation"},
}

func labelOf(tool string) string {
	if k, ok := known[tool]; ok {
		return k.label
	}
	return oneLine(tool)
}

// traceOf returns the trace of an entry, "" if it has none.
func traceOf(e record.Entry) string {
	switch {
	case e.Kind == record.KindCall && e.ToolCall != nil:
		return fmt.Sprintf("\n[%s ▶] %s\n", labelOf(e.ToolCall.Name), doing(*e.ToolCall))
	case e.Kind == record.KindResult && e.ToolCall != nil && !e.Missing && e.ToolCall.IsError:
		return fmt.Sprintf("[%s error] %s\n", labelOf(e.ToolCall.Name), preview(e.ToolCall.Result.Inline))
	case e.Kind == record.KindResult && e.ToolCall != nil && !e.Missing:
		return fmt.Sprintf("[%s ◀]\n%s\n", labelOf(e.ToolCall.Name), preview(e.ToolCall.Result.Inline))
	case e.Kind == record.KindDecision && e.Approval.Decision == contract.Rejected:
		return fmt.Sprintf("\n[REJECTED] %s call was denied by user.\n", oneLine(e.Approval.Tool))
	}
	return ""
}

// doing says what a call does.
func doing(call contract.ToolCall) string {
	if k, ok := known[call.Name]; ok {
		var arguments map[string]any
		if json.Unmarshal(call.Arguments.Raw, &arguments) == nil {
			if text, ok := arguments[k.argument].(string); ok && text != "" {
				return oneLine(text)
			}
		}
	}
	return "executing…"
}

// preview returns the beginning of a result.
func preview(text string) string {
	if utf8.RuneCountInString(text) <= previewLength {
		return text
	}
	return string([]rune(text)[:previewLength]) + "\n…(truncated)"
}

// oneLine keeps the text of others from looking like traces of their own.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
