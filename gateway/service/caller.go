package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/google/uuid"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// Caller is who sends a request, as far as the front end knows.
type Caller struct {
	// Session is the session that conversations of the caller are listed under. OwnSession
	// reports whether the caller named it; otherwise it was made up for the request.
	Session    string
	OwnSession bool
	// Token is the bearer token for tools and other agents, or "".
	Token string
	// Subject is the name under which the caller decides, or "".
	Subject string
	// BaseURL is the address at which the caller reaches the gateway, without a slash at
	// the end.
	BaseURL string
}

// key is an idempotency key as its caller's own, as far as the caller is known: by token
// and session. Without either it is the key.
func (c Caller) key(key string) string {
	session := ""
	if c.OwnSession {
		session = c.Session
	}
	if key == "" || c.Token == "" && session == "" {
		return key
	}
	return contract.Hash([]byte(c.Token)) + " " + session + " " + key
}

// ConversationID is the ID of a new conversation: random without a key, otherwise always
// the same for that key of the caller.
func (c Caller) ConversationID(key string) string {
	if key == "" {
		return uuid.NewString()
	}
	return contract.NameUUID("create", c.key(key))
}

// RequestID is random without a key. Otherwise it is derived from what the request is
// about, the operation, the caller and the key, so the same key may serve for other
// operations.
func (c Caller) RequestID(subject, operation, key string) string {
	if key == "" {
		return uuid.NewString()
	}
	return contract.NameUUID(subject, operation+" "+c.key(key))
}

// Note is what people write about something they do.
type Note struct{ Reason, By string }

const (
	// MaxReason is how long a reason may be, in bytes.
	MaxReason = 2000
	maxBy     = 200
)

// Note completes a note with the caller's name, and keeps long ones out of history.
func (c Caller) Note(n Note) (Note, error) {
	if n.By == "" {
		n.By = c.Subject
	}
	if len(n.Reason) > MaxReason || len(n.By) > maxBy {
		return n, Errorf(contract.KindInvalid, "reason may have %d bytes and by %d", MaxReason, maxBy)
	}
	return n, nil
}

// seal returns the caller's token sealed for a conversation, or "".
func (s *Service) seal(c Caller, conversationID string) (string, error) {
	if c.Token == "" || s.keyring == nil {
		return "", nil
	}
	sealed, err := s.keyring.Seal(conversationID, credential.NewToken(c.Token))
	if err != nil {
		return "", fmt.Errorf("seal the caller's token: %w", err)
	}
	return sealed, nil
}

// Fingerprint tells a repeated request from another one: a hash of its operation and of its
// body of JSON, without the accidents of formatting.
func Fingerprint(operation string, body []byte) string {
	h := sha256.New()
	io.WriteString(h, operation+"\n") //nolint:errcheck // a hash never fails
	h.Write(CanonicalJSON(body))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// CanonicalJSON is JSON with sorted keys and without spaces. Other text stays as it is.
func CanonicalJSON(body []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return body
	}
	out, err := json.Marshal(v) // sorts keys
	if err != nil {
		return body
	}
	return out
}

// KeyReused is the error of a request under a key that was used for a different one.
func KeyReused() *Error {
	return Errorf(contract.KindKeyReused, "Idempotency-Key was used for a different request")
}
