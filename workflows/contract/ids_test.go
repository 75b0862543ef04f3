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
	if got := contract.CatalogueWorkflowID("0123456789ab"); got != "catalogue-0123456789ab" {
		t.Errorf("got %q", got)
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
	// The border between space and name counts.
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
