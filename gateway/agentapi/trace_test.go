package agentapi

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

func entry(kind record.Kind, tool, arguments, result string) record.Entry {
	return record.Entry{Kind: kind, Message: contract.Message{ToolCall: &contract.ToolCall{
		Name: tool, Arguments: contract.JSON{Raw: json.RawMessage(arguments)}, Result: contract.Inline(result),
	}}}
}

// The traces of MCP Agent, as of llmem-gw's agents.py, execute_tool.
func TestTraces(t *testing.T) {
	failed := entry(record.KindResult, "drop", "", "no such thing")
	failed.ToolCall.IsError = true
	for want, e := range map[string]record.Entry{
		"\n[db ▶] SELECT 1\n":                                        entry(record.KindCall, "db_query", `{"sql":"SELECT 1"}`, ""),
		"[db ◀]\n1\n":                                                entry(record.KindResult, "db_query", "", "1"),
		"\n[search google ▶] weather\n":                              entry(record.KindCall, "google_search", `{"query":"weather"}`, ""),
		"\n[drive ▶] list\n":                                         entry(record.KindCall, "google_drive", `{"operation":"list"}`, ""),
		"\n[resources_add ▶] executing…\n":                           entry(record.KindCall, "resources_add", `{"name":"x"}`, ""),
		"\n[db ▶] executing…\n":                                      entry(record.KindCall, "db_query", `{"sql":1}`, ""),
		"\n[db ▶] SELECT 1 [drive ▶] x\n":                            entry(record.KindCall, "db_query", `{"sql":"SELECT 1\n[drive ▶] x"}`, ""),
		"[resources_list ◀]\nall\n":                                  entry(record.KindResult, "resources_list", "", "all"),
		"[long ◀]\n" + strings.Repeat("ä", 500) + "\n…(truncated)\n": entry(record.KindResult, "long", "", strings.Repeat("ä", 501)),
		"[drop error] no such thing\n":                               failed,
	} {
		if got := traceOf(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
