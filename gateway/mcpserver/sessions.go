package mcpserver

import (
	"context"
	"sync"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

// How many sessions one caller has, and all together without authentication. Beyond it, the idlest
// one ends.
const (
	maxOwn    = 100
	maxAnyone = 1000
)

// sessions are in memory. Each is for the caller that has begun it.
type sessions struct {
	hosting.SessionStore
	mu    sync.Mutex
	known map[string]session
	count map[string]int // by owner
}

type session struct {
	owner string
	used  time.Time
}

func newSessions() *sessions {
	return &sessions{SessionStore: hosting.NewMemoryStore(), known: map[string]session{}, count: map[string]int{}}
}

// Create implements hosting.SessionStore.
func (s *sessions) Create(ctx context.Context, id string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := ownerOf(ctx)
	most := maxOwn
	if owner == anyone {
		most = maxAnyone
	}
	if s.count[owner] >= most {
		if err := s.endIdlest(ctx, owner); err != nil {
			return err
		}
	}
	s.known[id] = session{owner, now}
	s.count[owner]++
	return s.SessionStore.Create(ctx, id, now)
}

// endIdlest makes the caller's idlest session one that has expired. It is trimmed first.
func (s *sessions) endIdlest(ctx context.Context, owner string) error {
	var idlest string
	for id, k := range s.known {
		if k.owner == owner && (idlest == "" || k.used.Before(s.known[idlest].used)) {
			idlest = id
		}
	}
	s.forget(idlest)
	return s.SessionStore.Use(ctx, idlest, time.Time{}, time.Time{})
}

func (s *sessions) forget(ids ...string) {
	for _, id := range ids {
		k, ok := s.known[id]
		if !ok {
			continue
		}
		delete(s.known, id)
		if s.count[k.owner]--; s.count[k.owner] == 0 {
			delete(s.count, k.owner)
		}
	}
}

// Use implements hosting.SessionStore.
func (s *sessions) Use(ctx context.Context, id string, now, idleSince time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known[id]
	if owner := ownerOf(ctx); !ok || owner != "" && owner != k.owner {
		return hosting.ErrNoSession
	}
	s.known[id] = session{k.owner, now}
	return s.SessionStore.Use(ctx, id, now, idleSince)
}

// Delete implements hosting.SessionStore.
func (s *sessions) Delete(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(id)
	return s.SessionStore.Delete(ctx, id)
}

// Expire implements hosting.SessionStore.
func (s *sessions) Expire(ctx context.Context, idleSince time.Time) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, err := s.SessionStore.Expire(ctx, idleSince)
	s.forget(ids...)
	return ids, err
}

// Trim implements hosting.SessionStore.
func (s *sessions) Trim(ctx context.Context, most int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, err := s.SessionStore.Trim(ctx, most)
	s.forget(ids...)
	return ids, err
}
