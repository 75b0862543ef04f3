package contract_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestIsUUIDTakesOnlyTheCanonicalForm(t *testing.T) {
	for _, s := range []string{conversationID, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"} {
		if !contract.IsUUID(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{
		"", "x", strings.ToUpper(conversationID), conversationID + "\n", "\n" + conversationID, " " + conversationID,
		"{" + conversationID + "}", "urn:uuid:" + conversationID, strings.ReplaceAll(conversationID, "-", ""),
		conversationID[1:], conversationID + "0", "../" + conversationID[3:], conversationID[:35] + "\x00",
		conversationID[:35] + "g", conversationID[:35] + "１",
	} {
		if contract.IsUUID(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestWorkflowIDsAreReadableAndReversible(t *testing.T) {
	id := contract.ConversationWorkflowID(conversationID)
	if id != "conversation-"+conversationID {
		t.Errorf("got %q", id)
	}
	if back, ok := contract.ConversationIDOf(id); !ok || back != conversationID {
		t.Errorf("ConversationIDOf(%q) = %q, %t", id, back, ok)
	}
	if got := contract.ApprovalWorkflowID(approvalID); got != "approval-"+approvalID {
		t.Errorf("got %q", got)
	}
	for want, id := range map[contract.CatalogueKind]string{
		contract.WantTools:     "catalogue-0123456789ab",
		contract.WantResources: "catalogue-0123456789ab-resources",
		contract.WantPrompts:   "catalogue-0123456789ab-prompts",
	} {
		if got := contract.CatalogueWorkflowID("0123456789ab", want); got != id {
			t.Errorf("got %q, expected %q", got, id)
		}
	}
}

func TestConversationIDOfRefusesOtherWorkflows(t *testing.T) {
	for _, id := range []string{
		"", "conversation-", "conversation-x", conversationID, contract.ApprovalWorkflowID(conversationID),
		"conversation-conversation-" + conversationID, "conversation-" + conversationID + "/child",
	} {
		if got, ok := contract.ConversationIDOf(id); ok {
			t.Errorf("%q is conversation %q", id, got)
		}
	}
}

func TestNodesAreNamedByTheirPlaceInTheTree(t *testing.T) {
	turn := contract.TurnWorkflowID(conversationID, 3)
	pipeline := contract.NodeWorkflowID(turn, "pipeline", 0)
	loop := contract.NodeWorkflowID(pipeline, "polish", 1)
	inLoop := contract.NodeWorkflowID(contract.IterationWorkflowID(loop, 4), "reviewers", 0)
	if want := "conversation-" + conversationID + "/turn-3/pipeline/polish/iteration-4/reviewers"; inLoop != want {
		t.Errorf("got %q, expected %q", inLoop, want)
	}
	if got, ok := contract.ConversationIDOf(pipeline); ok {
		t.Errorf("node %q is taken for conversation %q", pipeline, got)
	}
}

func TestNamesAreCleanedAndKeptApart(t *testing.T) {
	long := strings.Repeat("x", 100)
	tests := []struct {
		name  string
		index int
		want  string
	}{
		{"writer", 7, "writer"},
		{"A.b_c-9", 0, "A.b_c-9"},
		{"the writer", 2, "the-writer~2"},
		{"the/writer", 3, "the-writer~3"},
		{"../..", 4, "..-..~4"},
		{"Prüfer & Co", 1, "Pr-fer-Co~1"},
		{"作家", 0, "-~0"},
		{"作者", 1, "-~1"},
		{"a\nb\x00", 5, "a-b-~5"},
		{"", 0, ""},
		{long, 1, long},
		{long + "y", 1, long + "~1"},
		{long + "z", 2, long + "~2"},
	}
	for _, tt := range tests {
		if got := contract.NodeWorkflowID("p", tt.name, tt.index); got != "p/"+tt.want {
			t.Errorf("node %q at %d: %q, expected %q", tt.name, tt.index, got, "p/"+tt.want)
		}
	}
}

func TestTheIDOfADeepNodeFitsAndStaysItsOwn(t *testing.T) {
	turn := contract.TurnWorkflowID(conversationID, 12)
	seen := map[string]bool{}
	for _, root := range []string{"a", "b"} {
		id := contract.NodeWorkflowID(turn, root, 0)
		for depth := range 50 {
			name := strings.Repeat("n", 90)
			id = contract.NodeWorkflowID(contract.IterationWorkflowID(id, 2), name, depth)
			if len(id) > 900 || !strings.HasPrefix(id, turn+"/") || !strings.HasSuffix(id, "/"+name) || seen[id] {
				t.Fatalf("depth %d: %q of %d bytes, seen before: %t", depth, id, len(id), seen[id])
			}
			seen[id] = true
		}
	}
}

func TestNameUUIDNeverChanges(t *testing.T) {
	// Computed with another implementation of RFC 9562 §5.5:
	// python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_OID, "a\0b"))'
	tests := []struct{ space, name, want string }{
		{"", "", "ea39eb3c-fa3b-5c9d-a6a6-e156617bae95"},
		{"a", "b", "7b3b400f-4415-5958-a230-454632df1c5d"},
		{conversationID, "message-1", "2b95315a-3de3-5084-8dc0-786746ee5c7d"},
		{"Grüße", "👋", "e8965cc1-8bc6-59ba-9d29-7d1e2359688a"},
	}
	for _, tt := range tests {
		if got := contract.NameUUID(tt.space, tt.name); got != tt.want {
			t.Errorf("NameUUID(%q, %q) = %s, expected %s", tt.space, tt.name, got, tt.want)
		}
	}
	if got := contract.MessageID(conversationID, 1); got != tests[2].want {
		t.Errorf("message 1 has ID %s, expected %s", got, tests[2].want)
	}
}

func TestNameUUIDIsAUUIDOfVersionFive(t *testing.T) {
	for i := range 1000 {
		id := contract.MessageID(conversationID, i)
		if !contract.IsUUID(id) || id[14] != '5' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Fatalf("%s is no UUID of version 5", id)
		}
	}
}

func TestDerivedIDsDoNotCollide(t *testing.T) {
	seen := map[string]string{}
	add := func(id, what string) {
		if other, taken := seen[id]; taken {
			t.Errorf("%s and %s have the same ID", what, other)
		}
		seen[id] = what
	}
	for i := range 5000 {
		add(contract.MessageID(conversationID, i), "message of one conversation")
		add(contract.MessageID(approvalID, i), "message of another")
	}
	// The boundary between space and name matters.
	add(contract.NameUUID("ab", "c"), "ab|c")
	add(contract.NameUUID("a", "bc"), "a|bc")
	add(contract.NameUUID("", "abc"), "|abc")
	add(contract.NameUUID("abc", ""), "abc|")
}

func TestValidSessionID(t *testing.T) {
	for _, s := range []string{"a", "A.b_c-9", strings.Repeat("x", 64)} {
		if !contract.ValidSessionID(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", strings.Repeat("x", 65), "../evil sid", "a b", "a\n", "a\x00", "é", "a/b", "a\r\nX: y"} {
		if contract.ValidSessionID(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}
