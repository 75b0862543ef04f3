package activities

import (
	"context"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract/credential"
)

// openBearer opens the sealed token the activity was called with. A token that
// cannot be opened means a call without one, and a note that says so.
func openBearer(ctx context.Context, ring *credential.Keyring, conversationID string, now func() time.Time) (bearer, note string) {
	sealed := credential.FromContext(ctx)
	if sealed == "" {
		return "", ""
	}
	token, err := ring.Open(conversationID, sealed, now())
	if err != nil {
		return "", "Called without authorization: the caller's token " + err.Error() + "."
	}
	return token.Bearer, ""
}

// minSecret keeps a word that is hardly a token from being cut out of texts.
const minSecret = 8

// hide replaces a token that another agent has put into its words.
func hide(text, bearer string) string {
	if len(bearer) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, bearer, "[bearer token]")
}
