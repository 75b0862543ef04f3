package feed

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// write sends the contents of the outbox until the link is closed.
func (l *link) write() {
	for {
		select {
		case <-l.outbox.signal:
		case <-l.ctx.Done():
			if b := l.outbox.take(); len(b.entries) > 0 {
				_ = l.send(b) // subscribers cannot learn of a loss at the end
			}
			return
		}
		b := l.outbox.take()
		if b.empty() {
			continue
		}
		if err := l.send(b); err != nil {
			l.fail(b, err)
			l.retry()
		}
		l.outbox.wake() // there may be more marks
	}
}

func (l *link) fail(b batch, err error) {
	l.outbox.fail(b)
	l.health.set(writing, err)
}

// retry tries to write until it succeeds, with growing pauses.
func (l *link) retry() {
	for wait := leastPause; l.pause(wait); wait = min(2*wait, mostPause) {
		b := l.outbox.take()
		b.wake = true // so that there is always something to send
		err := l.send(b)
		if err == nil {
			l.health.set(writing, nil)
			l.outbox.up()
			return
		}
		l.fail(b, err)
	}
}

// send writes a batch as a whole or not at all. Otherwise a later entry could be stored
// without an earlier one.
func (l *link) send(b batch) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, err := l.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		streams := map[string]struct{}{}
		for _, e := range b.entries {
			data, err := e.encode()
			if err != nil {
				return err
			}
			add(ctx, p, streams, streamOf(e.event.ConversationID), fieldEvent, data)
		}
		for _, id := range b.lost {
			add(ctx, p, streams, streamOf(id), fieldLost, "1")
		}
		if b.wake {
			add(ctx, p, streams, l.wakeStream, fieldEvent, "1")
		}
		for stream := range streams {
			p.Expire(ctx, stream, Expiry)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func add(ctx context.Context, p redis.Pipeliner, streams map[string]struct{}, stream, field string, value any) {
	p.XAdd(ctx, &redis.XAddArgs{Stream: stream, MaxLen: MaxLen, Approx: true, Values: []any{field, value}})
	streams[stream] = struct{}{}
}
