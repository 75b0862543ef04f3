package agui

import (
	"encoding/json"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// An interrupt says which arguments may be changed: in the schema of its answer, and by their paths.
func TestAnInterruptSaysWhatMayBeEdited(t *testing.T) {
	p := contract.PendingApproval{UUID: "u", ToolName: "pay", Reason: contract.ReasonDestructive, Edit: []string{"amount", "to.city", "to.zip"}}
	got, err := json.Marshal(interrupt(p, "c"))
	const want = `{"id":"u","reason":"tool_call","toolCallId":"c","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},` +
		`"editedArgs":{"type":"object","properties":{"amount":{},"to":{"type":"object"}}},"reason":{"type":"string"}},"required":["approved"]},` +
		`"metadata":{"agent-stop-and-go":{"tool":"pay","args":null,"reason":"destructive","edit":["amount","to.city","to.zip"]}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v\nwant %s", got, err, want)
	}
}
