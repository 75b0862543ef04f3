package gateway

import (
	"context"
	"errors"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Kinds of trouble with what is stored.
const (
	KindLost    contract.Kind = "lost"     // a stored value is missing or damaged
	KindNoSpace contract.Kind = "no_space" // a disk is full
)

const noSpaceText = "no space is left on the disk; nothing that was recorded is lost. Free some space and send the request again, with the same Idempotency-Key if it had one"

// roomy is a Store that finds out whether it has room.
type roomy interface {
	// Room fails as Put does when there is none.
	Room(ctx context.Context) error
}

// withCause looks for why Temporal does not answer. A server whose disk is full does not
// say so: its clients try again until their time is over. The embedded one and the blob
// store have the same disk.
func (g *Gateway) withCause(ctx context.Context, err error) error {
	if g.room == nil || !isKind(err, KindUnavailable) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roomTimeout)
	defer cancel()
	if transcript.NoSpace(g.room.Room(ctx)) {
		return (&Error{Kind: KindNoSpace, Text: noSpaceText}).because(err)
	}
	return err
}

const roomTimeout = 2 * time.Second

// explained returns the error that the caller is told about: of trouble with what is
// stored, what it is. Others stay as they are.
func explained(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if loss, ok := transcript.LossIn(err); ok {
		return (&Error{Kind: KindLost, Text: loss.Error()}).because(err)
	}
	if transcript.NoSpace(err) {
		return (&Error{Kind: KindNoSpace, Text: noSpaceText}).because(err)
	}
	return err
}
