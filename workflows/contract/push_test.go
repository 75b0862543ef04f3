package contract_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestASecretIsSealedForOneWebhook(t *testing.T) {
	seen := map[string]bool{conversationID: true}
	for _, space := range []string{
		contract.PushSeal(conversationID, "https://a"), contract.PushSeal(conversationID, "https://b"), contract.PushSeal(approvalID, "https://a"),
	} {
		if seen[space] {
			t.Errorf("%q is sealed for something else as well", space)
		}
		seen[space] = true
	}
}
