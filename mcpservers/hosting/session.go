package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrNoSession is returned for an unknown session: never issued, ended or expired.
var ErrNoSession = errors.New("no such session")

// SessionStore stores the sessions of a server. [NewMemoryStore] keeps them in memory,
// [OpenSessions] in a file. Implementations are safe for concurrent use. For an unknown ID
// every method returns [ErrNoSession], except Delete, which does nothing.
type SessionStore interface {
	// Create adds a session used at now. The id is new.
	Create(ctx context.Context, id string, now time.Time) error
	// Use records a use of the session at now. If its last use was before idleSince, the
	// session is unknown. To save writes, a store may skip a use shortly after another, unless
	// idleSince is zero.
	Use(ctx context.Context, id string, now, idleSince time.Time) error
	// Delete deletes a session and its values.
	Delete(ctx context.Context, id string) error
	// Expire deletes the sessions last used before idleSince and returns their ids.
	Expire(ctx context.Context, idleSince time.Time) ([]string, error)
	// Trim deletes the least recently used sessions until most are left, and returns their ids.
	Trim(ctx context.Context, most int) ([]string, error)
	// Count returns the number of sessions.
	Count(ctx context.Context) (int, error)
	// Value returns the last value of SetValue, nil if there is none.
	Value(ctx context.Context, id, key string) ([]byte, error)
	// SetValue stores a value under a key; nil removes it.
	SetValue(ctx context.Context, id, key string, value []byte) error
	Close() error
}

// Session is the session of one client. It begins with initialize and ends when the client ends
// it, after an idle time, or (SSE, stdio) when the connection closes. Tools store values of the
// client in it. With a store in a file it survives a restart.
type Session struct {
	id    string
	store SessionStore
}

// ID returns the ID, which is always issued by the server.
func (s *Session) ID() string { return s.id }

// Get decodes the value of key into v and reports whether there is one.
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

// Set stores v as JSON. If calls are concurrent the last one wins.
func (s *Session) Set(ctx context.Context, key string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode session value %s: %w", key, err)
	}
	return s.store.SetValue(ctx, s.id, key, text)
}

// Delete removes the value of key.
func (s *Session) Delete(ctx context.Context, key string) error {
	return s.store.SetValue(ctx, s.id, key, nil)
}

type sessionKey struct{}

func withSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session of the running tool, prompt or resource handler. Over HTTP,
// clients of protocol 2026-07-28 have none, because that protocol has no sessions.
func SessionFrom(ctx context.Context) (*Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(*Session)
	return s, ok
}
