package activities

import (
	"context"
	"errors"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// openCaller opens the sealed token the activity was called with. A token that cannot be opened
// is empty, and problem says why.
func openCaller(ctx context.Context, store credential.Store, ring *credential.Keyring, conversationID string, now func() time.Time) (caller credential.Token, problem string) {
	sealed := credential.FromContext(ctx)
	if sealed == "" {
		return credential.Token{}, ""
	}
	sealed, err := credential.Fetch(ctx, store, sealed)
	if errors.Is(err, credential.ErrUnreadable) {
		err = credential.ErrUnreadable // the cause does not belong in a transcript
	}
	if err == nil {
		caller, err = ring.Open(conversationID, sealed, now())
	}
	if err != nil {
		return caller, "the caller's token " + err.Error()
	}
	return caller, ""
}

// noteWithout is the note of a call that carries no token although its server is given one.
func noteWithout(given bool, token, problem string) string {
	if !given || token != "" || problem == "" {
		return ""
	}
	return "Called without authorization: " + problem + "."
}

// bearerFailure is the failure of a call that was not made because its token could not be got.
func bearerFailure(err error, unavailable, refused contract.Kind) error {
	if bearer.Temporary(err) {
		return fail(unavailable, err.Error(), 0)
	}
	return fail(refused, err.Error(), 0)
}
