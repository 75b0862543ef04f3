package feed

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// write sends what is in the outbox until the link is closed.
func (l *link) write() {
	for {
		select {
		case <-l.outbox.signal:
		case <-l.ctx.Done():
			if b := l.outbox.take(); len(b.entries) > 0 {
				_ = l.send(b) // what is lost at the end nobody can be told
			}
			return
		}
		b := l.outbox.take()
		if b.empty() {
			continue
		}
		if err := l.send(b); err != nil {
			l.fail(b, err)
			l.mend()
		}
		l.outbox.wake() // marks may be left
	}
}

func (l *link) fail(b batch, err error) {
	l.outbox.fail(b)
	l.health.set(writing, err)
}

// mend tries to write until that is possible, less and less often.
func (l *link) mend() {
	for wait := leastPause; l.pause(wait); wait = min(2*wait, mostPause) {
		b := l.outbox.take()
		b.knock = true // there is always something to try with
		err := l.send(b)
		if err == nil {
			l.health.set(writing, nil)
			l.outbox.up()
			return
		}
		l.fail(b, err)
	}
}

// send writes all of a batch or nothing: else a later entry could get there and an
// earlier one not.
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
			add(ctx, p, streams, streamOf(e.news.ConversationID), fieldNews, data)
		}
		for _, id := range b.lost {
			add(ctx, p, streams, streamOf(id), fieldLost, "1")
		}
		if b.knock {
			add(ctx, p, streams, l.wake, fieldNews, "1")
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
