package auditing_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// The leaf of a deletion commits to the tombstone, as it is read again, and has nothing that people wrote.
func TestADeletionCommitsToItsTombstone(t *testing.T) {
	tomb := deletion.Tombstone{
		ConversationID: "c", AgentName: "tester", DeletedAt: noon, Cause: deletion.CauseRequest, By: "Alice of accounts",
		Identity:  contract.Identity{Subject: "alice", Issuer: "keys"},
		Decisions: []deletion.Decision{{UUID: "u", Tool: "remove", ArgumentsSHA256: "ab12", Decision: contract.Approved, By: "Bob", DecidedAt: noon}},
	}
	l := auditing.DeletionLeaf(tomb)
	line, err := l.Line()
	if err != nil || strings.Contains(string(line), "accounts") || strings.Contains(string(line), "ab12") {
		t.Errorf("%s, %v", line, err)
	}
	data, err := json.Marshal(tomb)
	if err != nil {
		t.Fatal(err)
	}
	var read deletion.Tombstone
	if err := json.Unmarshal(data, &read); err != nil || read.Sum() != l.Tombstone {
		t.Errorf("read again: %s, recorded: %s, %v", read.Sum(), l.Tombstone, err)
	}
	read.Decisions[0].Decision = contract.Rejected
	if read.Sum() == l.Tombstone {
		t.Error("another decision has the same sum")
	}
}
