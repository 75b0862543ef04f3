package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// What a tool of the agent itself has called has run, and rules must know.
func TestWhatACallHasCalledIsEarlier(t *testing.T) {
	got := rules.Earlier([]contract.Message{
		{ID: "1", Role: contract.RoleAssistant, ToolCall: &contract.ToolCall{Name: "ask_model_with_tool"}},
		{ID: "2", Role: contract.RoleTool, ResultOf: "1", ToolCall: &contract.ToolCall{Name: "ask_model_with_tool", Used: "read_secrets"}},
		{ID: "3", Role: contract.RoleTool, ToolCall: &contract.ToolCall{Name: "ask_model_with_tool", IsError: true}},
	})
	want := []verdict.Earlier{{Tool: "ask_model_with_tool"}, {Tool: "read_secrets"}, {Tool: "ask_model_with_tool", Failed: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
