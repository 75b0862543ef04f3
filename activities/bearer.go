package activities

import (
	"context"
	"errors"
	"time"

	"agent-stop-and-go/workflows/credential"
)

// openBearer opens the sealed token the activity was called with. A token that
// cannot be opened means a call without one, and a note that says so.
func openBearer(ctx context.Context, store credential.Store, ring *credential.Keyring, conversationID string, now func() time.Time) (bearer, note string) {
	sealed := credential.FromContext(ctx)
	if sealed == "" {
		return "", ""
	}
	sealed, err := credential.Fetch(ctx, store, sealed)
	if errors.Is(err, credential.ErrUnreadable) {
		err = credential.ErrUnreadable // the cause does not belong in a transcript
	}
	var token credential.Token
	if err == nil {
		token, err = ring.Open(conversationID, sealed, now())
	}
	if err != nil {
		return "", "Called without authorization: the caller's token " + err.Error() + "."
	}
	return token.Bearer, ""
}
