package hosting

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// expire removes idle sessions until ctx ends.
func (s *sessions) expire(ctx context.Context) {
	ticker := time.NewTicker(max(time.Duration(s.options.SessionIdle)/4, 10*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.sweep(ctx, now)
		}
	}
}

func (s *sessions) sweep(ctx context.Context, now time.Time) {
	s.useBusy(ctx, now)
	expired, err := s.options.Sessions.Expire(ctx, now.Add(-time.Duration(s.options.SessionIdle)))
	if err != nil && ctx.Err() == nil {
		s.options.Log.Error("expire sessions", "err", err)
	}
	for _, id := range expired {
		s.options.Log.Info("session expired", "mcp_session", id)
		s.forget(ctx, id)
	}
}

func (s *sessions) useBusy(ctx context.Context, now time.Time) {
	for _, id := range s.busy() {
		_ = s.options.Sessions.Use(ctx, id, now, time.Time{}) // deleted sessions remain deleted
	}
}

// limit deletes the sessions that were idle for longest if there are too many, down to 90% of
// the limit.
func (s *sessions) limit(ctx context.Context) {
	s.limitMu.Lock()
	defer s.limitMu.Unlock()
	most := s.options.MaxSessions
	n, err := s.options.Sessions.Count(ctx)
	if err == nil && n <= most {
		return
	}
	s.useBusy(ctx, time.Now())
	idlest, trimErr := s.options.Sessions.Trim(ctx, most-most/10)
	if err = errors.Join(err, trimErr); err != nil {
		s.options.Log.Error("limit sessions", "err", err)
	}
	if len(idlest) > 0 {
		s.options.Log.Warn("too many sessions, the idlest are forgotten", "sessions", n, "forgotten", len(idlest))
	}
	for _, id := range idlest {
		s.forget(ctx, id)
	}
}

func (s *sessions) busy() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.active))
}

func (s *sessions) isBusy(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.active[id]) > 0
}

// forget makes mcp-go drop its state of a session, with a DELETE request.
func (s *sessions) forget(ctx context.Context, id string) {
	header := http.Header{}
	header.Set(server.HeaderKeySessionID, id)
	s.stream.Handle(discardWriter{}, &server.HTTPRequest{Method: http.MethodDelete, Header: header, Context: ctx})
}

// discardWriter is the response writer of a request that no client sent.
type discardWriter struct{}

func (discardWriter) Header() http.Header         { return http.Header{} }
func (discardWriter) WriteHeader(int)             {}
func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (discardWriter) Flush()                      {}
func (discardWriter) CanStream() bool             { return false }

// issuedSession tells mcp-go that the session of a request is valid, and no other.
type issuedSession struct{ session *Session }

func (issuedSession) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return issuedSession{}
	}
	session, _ := SessionFrom(r.Context())
	return issuedSession{session}
}

func (i issuedSession) Generate() string {
	if i.session == nil {
		return ""
	}
	return i.session.id
}

func (i issuedSession) Validate(id string) (terminated bool, err error) {
	if i.session == nil || i.session.id != id {
		return false, ErrNoSession
	}
	return false, nil
}

// Terminate keeps the session, because mcp-go also calls it when the process ends.
func (issuedSession) Terminate(string) (notAllowed bool, err error) { return false, nil }
