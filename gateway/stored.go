package gateway

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/record/transcript"
)

// exportedText is the problem of a conversation that is shown as it was exported, because
// the disk is full.
const exportedText = "no space is left on the disk; nothing that was recorded is lost. This is the conversation as it was exported last"

// withCause looks for why Temporal does not answer. A server whose disk is full does not
// say so: its clients try again until their time is over.
func (g *Gateway) withCause(ctx context.Context, err error) error {
	if service.IsKind(err, service.KindUnavailable) && g.full(context.WithoutCancel(ctx)) {
		return service.NoSpace(err)
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
