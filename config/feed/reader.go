package feed

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// block is how long Redis waits for something new before it answers that there is
	// nothing. A connection that is dead and does not say so is noticed 10 s later.
	block = 2 * time.Second
	// perStream spaces out reads: each names all streams, which costs more than an
	// entry does. Of 1000 streams at most 100 times a second.
	perStream = 10 * time.Microsecond
	beginning = "0-0"
	atOnce    = -1 // does not wait
)

// read follows the streams of the rooms until the link is closed.
func (l *link) read() {
	wait := leastPause
	for {
		began := time.Now()
		err := l.follow()
		l.hub.loseLive()
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

// follow reads until something fails.
func (l *link) follow() error {
	if _, err := l.next(nil, []string{beginning}, atOnce); err != nil {
		return err
	}
	l.health.set(reading, nil)
	for woken := beginning; ; {
		rooms, after, others := l.hub.split()
		if len(others) > 0 {
			if err := l.enter(others); err != nil {
				return err
			}
			continue
		}
		found, err := l.next(rooms, append(after, woken), block)
		if err != nil {
			return err
		}
		if entries := found[l.wake]; len(entries) > 0 {
			woken = entries[len(entries)-1].ID
		}
		l.give(rooms, found)
		if !l.pause(time.Duration(len(rooms)) * perStream) {
			return l.ctx.Err()
		}
	}
}

// enter finds out where the streams of rooms end, and makes the rooms live.
func (l *link) enter(rooms []*room) error {
	ends := make([]*redis.XMessageSliceCmd, len(rooms))
	_, err := l.client.Pipelined(l.ctx, func(p redis.Pipeliner) error {
		for i, r := range rooms {
			ends[i] = p.XRevRangeN(l.ctx, streamOf(r.id), "+", "-", 1)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("find the ends of streams: %w", err)
	}
	for i, r := range rooms {
		after := beginning
		if entries := ends[i].Val(); len(entries) > 0 {
			after = entries[0].ID
		}
		l.hub.enter(r, after)
	}
	return nil
}

// next waits for what is new in the streams of rooms, or a knock.
func (l *link) next(rooms []*room, after []string, wait time.Duration) (map[string][]redis.XMessage, error) {
	streams := make([]string, 0, 2*len(after))
	for _, r := range rooms {
		streams = append(streams, streamOf(r.id))
	}
	streams = append(append(streams, l.wake), after...)
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

// give passes on what was found. As many entries as a stream keeps may have been
// preceded by others.
func (l *link) give(rooms []*room, found map[string][]redis.XMessage) {
	for _, r := range rooms {
		entries := found[streamOf(r.id)]
		if len(entries) == 0 {
			continue
		}
		news, lost := decode(r.id, entries)
		if len(entries) >= MaxLen {
			news, lost = nil, true
		}
		l.hub.deliver(r, news, entries[len(entries)-1].ID, lost)
	}
}
