package service

import (
	"context"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/workflows/contract"
)

// maxSummaries is the number of callers whose summary is kept for a second.
const maxSummaries = 1000

// summaries keeps a summary for each caller. Without authentication there is one.
type summaries struct {
	backend Backend
	now     func() time.Time

	mu  sync.Mutex
	all *lru.Cache[string, *cache[Summary]]
}

func newSummaries(b Backend, now func() time.Time) *summaries {
	all, _ := lru.New[string, *cache[Summary]](maxSummaries) // fails only for sizes below 1
	return &summaries{backend: b, now: now, all: all}
}

func (s *summaries) of(caller contract.Identity) *cache[Summary] {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := caller.Key() + " " + strings.Join(caller.Scopes, " ") // the scopes may change
	if c, ok := s.all.Get(key); ok {
		return c
	}
	load := func(ctx context.Context) (Summary, error) { return s.backend.Summary(ActingFor(ctx, caller), Whose{}) }
	c := &cache[Summary]{load: load, fresh: time.Second, now: s.now}
	s.all.Add(key, c)
	return c
}
