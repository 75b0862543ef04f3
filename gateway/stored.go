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

// exportedText is the problem of a conversation that is shown as it was exported, because
// the disk is full.
const exportedText = "no space is left on the disk; nothing that was recorded is lost. This is the conversation as it was exported last"

// withCause looks for why Temporal does not answer. A server whose disk is full does not
// say so: its clients try again until their time is over.
func (g *Gateway) withCause(ctx context.Context, err error) error {
	if isKind(err, KindUnavailable) && g.full(context.WithoutCancel(ctx)) {
		return (&Error{Kind: KindNoSpace, Text: noSpaceText}).because(err)
	}
	return err
}

// full reports whether the disk of the embedded server is known to be full.
func (g *Gateway) full(ctx context.Context) bool {
	if g.room == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, roomTimeout)
	defer cancel()
	has, err := g.room.get(ctx)
	return err == nil && !has
}

// hasRoom is asked for all requests of roomFresh, because it writes.
func (g *Gateway) hasRoom(ctx context.Context) (bool, error) {
	err := g.Room(ctx)
	if err == nil || transcript.NoSpace(err) {
		return err == nil, nil
	}
	g.Logger.Warn("look for room on the disk", "error", err)
	return true, nil
}

const (
	roomTimeout = 2 * time.Second
	roomFresh   = 5 * time.Second
)

// explained is the error for the caller: of trouble with what is
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
