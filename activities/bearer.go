package activities

import (
	"context"
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
