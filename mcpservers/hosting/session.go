package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrNoSession says that a session is unknown: never issued, ended or expired.
var ErrNoSession = errors.New("no such session")

// SessionStore keeps the sessions of a server. [NewMemoryStore] forgets them
// with the process, [OpenSessions] keeps them in a file. Implementations are
// safe for concurrent use; every method on an unknown id gives [ErrNoSession],
// except Delete, which is then done already.
type SessionStore interface {
	// Create adds a session used at now. The id is new.
	Create(ctx context.Context, id string, now time.Time) error
	// Use notes that the session was used at now, unless it was last used before
	// idleSince: then it is unknown. To save writes a store may skip a use that
	// follows another closely, unless idleSince is zero.
	Use(ctx context.Context, id string, now, idleSince time.Time) error
	// Delete forgets a session and its values.
	Delete(ctx context.Context, id string) error
	// Expire deletes the sessions last used before idleSince and returns their ids.
	Expire(ctx context.Context, idleSince time.Time) ([]string, error)
	// Trim deletes the sessions used longest ago until most are left, and returns
	// their ids.
	Trim(ctx context.Context, most int) ([]string, error)
	// Count returns how many sessions there are.
	Count(ctx context.Context) (int, error)
	// Value returns what SetValue stored last, nil when there is nothing.
	Value(ctx context.Context, id, key string) ([]byte, error)
	// SetValue stores a value under a key; nil removes it.
	SetValue(ctx context.Context, id, key string, value []byte) error
	Close() error
}

// Session is one client's stay with a server, from initialize until it ends it,
// is silent for too long, or (SSE, stdio) its connection closes. Tools keep in
// it what belongs to that client; with a store in a file it outlives a restart.
type Session struct {
	id    string
	store SessionStore
}

// ID is what the server issued; it never comes from a client.
func (s *Session) ID() string { return s.id }

// Get decodes the value under key into v and reports whether there is one.
func (s *Session) Get(ctx context.Context, key string, v any) (bool, error) {
	text, err := s.store.Value(ctx, s.id, key)
	if err != nil || text == nil {
		return false, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return false, fmt.Errorf("decode session value %s: %w", key, err)
	}
	return true, nil
}

// Set stores v, as JSON, under key. Of concurrent calls the last one wins.
func (s *Session) Set(ctx context.Context, key string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode session value %s: %w", key, err)
	}
	return s.store.SetValue(ctx, s.id, key, text)
}

// Delete removes the value under key.
func (s *Session) Delete(ctx context.Context, key string) error {
	return s.store.SetValue(ctx, s.id, key, nil)
}

type sessionKey struct{}

func withSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session a tool, prompt or resource handler runs for.
// Clients of protocol 2026-07-28 over HTTP have none, by design of that protocol.
func SessionFrom(ctx context.Context) (*Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(*Session)
	return s, ok
}
