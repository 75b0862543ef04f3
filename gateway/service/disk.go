package service

import (
	"context"
	"log/slog"
	"time"

	"agent-stop-and-go/workflows/record/transcript"
)

const (
	roomTimeout = 2 * time.Second
	roomFresh   = 5 * time.Second
)

// disk is the disk of an embedded server.
type disk struct {
	room *cache[bool] // whether there is room; nil if unknown
}

func newDisk(o Options) disk {
	if o.Room == nil {
		return disk{}
	}
	look := func(ctx context.Context) (bool, error) { return hasRoom(ctx, o.Room, o.Logger) }
	return disk{&cache[bool]{load: look, fresh: roomFresh, now: o.Now}} // the check writes, so requests share it
}

func hasRoom(ctx context.Context, room func(context.Context) error, logger *slog.Logger) (bool, error) {
	err := room(ctx)
	if err == nil || transcript.NoSpace(err) {
		return err == nil, nil
	}
	logger.Warn("look for room on the disk", "error", err)
	return true, nil
}

// full reports whether the disk is known to be full.
func (d disk) full(ctx context.Context) bool {
	if d.room == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, roomTimeout)
	defer cancel()
	has, err := d.room.get(ctx)
	return err == nil && !has
}

// WithCause replaces the error of an unavailable Temporal server by NoSpace if the server's
// disk is full. The server itself does not say so: its clients retry until their timeout.
// Other errors are returned unchanged.
func (s *Service) WithCause(ctx context.Context, err error) error {
	if IsKind(err, KindUnavailable) && s.disk.full(context.WithoutCancel(ctx)) {
		return NoSpace(err)
	}
	return err
}
