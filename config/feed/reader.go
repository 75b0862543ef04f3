package feed

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// block is how long Redis waits for new entries before it answers without any. A dead
	// connection is noticed 10 s later.
	block = 2 * time.Second
	// perStream spaces out reads. Every read names all streams, which costs more than an
	// entry: 1000 streams are read at most 100 times a second.
	perStream = 10 * time.Microsecond
	beginning = "0-0"
	noWait    = -1 // does not wait
)

// read reads the streams of the topics until the link is closed.
func (l *link) read() {
	wait := leastPause
	for {
		began := time.Now()
		err := l.follow()
		l.hub.dropReady()
		if l.ctx.Err() != nil {
			return
		}
		l.health.set(reading, err)
		if time.Since(began) > mostPause {
			wait = leastPause
		}
		if !l.pause(wait) {
			return
		}
		wait = min(2*wait, mostPause)
	}
}

// follow reads until an error.
func (l *link) follow() error {
	if _, err := l.next(nil, []string{beginning}, noWait); err != nil {
		return err
	}
	l.health.set(reading, nil)
	for woken := beginning; ; {
		topics, after, others := l.hub.split()
		if len(others) > 0 {
			if err := l.findEnds(others); err != nil {
				return err
			}
			continue
		}
		found, err := l.next(topics, append(after, woken), block)
		if err != nil {
			return err
		}
		if entries := found[l.wakeStream]; len(entries) > 0 {
			woken = entries[len(entries)-1].ID
		}
		l.deliver(topics, found)
		if !l.pause(time.Duration(len(topics)) * perStream) {
			return l.ctx.Err()
		}
	}
}

// findEnds finds the ends of the streams of topics, and makes the topics ready.
func (l *link) findEnds(topics []*topic) error {
	ends := make([]*redis.XMessageSliceCmd, len(topics))
	_, err := l.client.Pipelined(l.ctx, func(p redis.Pipeliner) error {
		for i, r := range topics {
			ends[i] = p.XRevRangeN(l.ctx, streamOf(r.id), "+", "-", 1)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("find the ends of streams: %w", err)
	}
	for i, r := range topics {
		after := beginning
		if entries := ends[i].Val(); len(entries) > 0 {
			after = entries[0].ID
		}
		l.hub.setReady(r, after)
	}
	return nil
}

// next waits for new entries in the streams of topics, or in the wake stream.
func (l *link) next(topics []*topic, after []string, wait time.Duration) (map[string][]redis.XMessage, error) {
	streams := make([]string, 0, 2*len(after))
	for _, r := range topics {
		streams = append(streams, streamOf(r.id))
	}
	streams = append(append(streams, l.wakeStream), after...)
	replies, err := l.client.XRead(l.ctx, &redis.XReadArgs{Streams: streams, Block: wait}).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("read: %w", err)
	}
	found := map[string][]redis.XMessage{}
	for _, reply := range replies {
		found[reply.Stream] = reply.Messages
	}
	return found, nil
}

// deliver passes the entries on. If there are as many as a stream keeps, earlier ones may
// have been removed.
func (l *link) deliver(topics []*topic, found map[string][]redis.XMessage) {
	for _, r := range topics {
		entries := found[streamOf(r.id)]
		if len(entries) == 0 {
			continue
		}
		events, lost := decode(r.id, entries)
		if len(entries) >= MaxLen {
			events, lost = nil, true
		}
		l.hub.deliver(r, events, entries[len(entries)-1].ID, lost)
	}
}
