package run

import (
	"crypto/rand"
	"encoding/hex"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// NewUUID returns a random UUID for something with a name: whoever knows the UUID of an approval
// may answer it.
func NewUUID(ctx workflow.Context, name string) string {
	var space string
	encoded := workflow.SideEffect(ctx, func(workflow.Context) any {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails, see crypto/rand.Read
		return hex.EncodeToString(b[:])
	})
	if err := encoded.Get(&space); err != nil { // a string can be decoded
		panic(err)
	}
	return contract.NameUUID(space, name)
}

// OwnUUID returns a UUID that something has brought along, or another one if there is none, or if
// the run was reset: the run before may have used it.
func OwnUUID(ctx workflow.Context, own, other string) (uuid string) {
	if own == "" {
		return other
	}
	encoded := workflow.SideEffect(ctx, func(workflow.Context) any {
		if info := workflow.GetInfo(ctx); info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID {
			return other
		}
		return own
	})
	if err := encoded.Get(&uuid); err != nil { // a string can be decoded
		panic(err)
	}
	return uuid
}
