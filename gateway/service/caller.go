package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/google/uuid"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/credential"
)

// Caller is what the front end knows of the sender of a request.
type Caller struct {
	// Session is the session under which the caller's conversations are listed. OwnSession
	// reports whether the caller named it; otherwise it was generated for this request.
	Session    string
	OwnSession bool
	// Identity is what is proven of the caller. It is zero if the gateway has no authentication.
	Identity contract.Identity
	// Token is the bearer token for tools and other agents, or "".
	Token string
	// Subject is the name under which the caller decides, or "".
	Subject string
	// BaseURL is the URL at which the caller reaches the gateway, without a slash at the end.
	BaseURL string
}

// Authenticated reports whether the caller proved who it is.
func (c Caller) Authenticated() bool { return c.Identity.Authenticated() }

// acting returns the identity as the record of an action has it: without groups, and with the
// first of the scopes that the caller has.
func (c Caller) acting(scopes ...string) contract.Identity {
	i := c.Identity
	i.Groups, i.Scopes = nil, nil
	for _, scope := range scopes {
		if c.Identity.Has(scope) {
			i.Scopes = []string{scope}
			break
		}
	}
	return i
}

// key makes an idempotency key the caller's own: by identity, otherwise by token and session.
// Without any of them the key is returned unchanged.
func (c Caller) key(key string) string {
	if key != "" && c.Authenticated() {
		return c.Own(key)
	}
	session := ""
	if c.OwnSession {
		session = c.Session
	}
	if key == "" || c.Token == "" && session == "" {
		return key
	}
	return contract.Hash([]byte(c.Token)) + " " + session + " " + key
}

// Own makes an ID that a client chose the caller's own. Without authentication it returns the
// ID unchanged: then nobody is somebody else.
func (c Caller) Own(id string) string {
	if !c.Authenticated() {
		return id
	}
	return contract.Hash([]byte(c.Identity.Key())) + " " + id
}

// NewID returns the ID of a new conversation: random without a key, otherwise derived from the key
// and the caller, so that a request that is sent again means the same conversation.
func (s *Service) NewID(ctx context.Context, c Caller, key string) (string, error) {
	if key == "" {
		return uuid.NewString(), nil
	}
	return s.OwnID(ctx, "create", c.key(key))
}

// OwnID returns the ID of the conversation to which a client has given a name, in a space of names of
// one kind. Agents that share a namespace have different IDs for a name: it depends on the task
// queue, except for the default one. Conversations from before it did keep their IDs.
func (s *Service) OwnID(ctx context.Context, space, name string) (string, error) {
	former := contract.NameUUID(space, name)
	if s.queue == "" || s.queue == contract.DefaultTaskQueue {
		return former, nil
	}
	switch _, err := s.backend.Owner(ActingItself(ctx), former); {
	case err == nil, IsKind(err, deletion.KindDeleted):
		return former, nil
	case !IsKind(err, contract.KindNotFound):
		return "", err
	}
	return contract.NameUUID(space, s.queue+"\n"+name), nil
}

// NamedID is OwnID for a space of names that is as old as the queue in the IDs. It asks nobody.
func (s *Service) NamedID(space, name string) string {
	if s.queue == "" || s.queue == contract.DefaultTaskQueue {
		return contract.NameUUID(space, name)
	}
	return contract.NameUUID(space, s.queue+"\n"+name)
}

// RequestID is random without a key. Otherwise it is derived from the subject, the operation,
// the caller and the key, so the same key may be used for other operations.
func (c Caller) RequestID(subject, operation, key string) string {
	if key == "" {
		return uuid.NewString()
	}
	return contract.NameUUID(subject, operation+" "+c.key(key))
}

// Note is the reason for an action, and who takes it. OnBehalfOf is the name that an
// authenticated caller claims to act for.
type Note struct{ Reason, By, OnBehalfOf string }

const (
	// MaxReason is the greatest length of a reason in bytes.
	MaxReason = 2000
	maxBy     = 200
)

// Note adds the caller's name to a note without one, and refuses notes that are too long for
// history. The name of an authenticated caller is proven: another name is only claimed.
func (c Caller) Note(n Note) (Note, error) {
	switch proven := c.Identity.Subject; {
	case c.Authenticated() && n.By != "" && n.By != proven:
		n.By, n.OnBehalfOf = proven, n.By
	case c.Authenticated():
		n.By = proven
	case n.By == "":
		n.By = c.Subject
	}
	if len(n.Reason) > MaxReason || len(n.By) > maxBy || len(n.OnBehalfOf) > maxBy {
		return n, Errorf(contract.KindInvalid, "reason may have %d bytes and by %d", MaxReason, maxBy)
	}
	return n, nil
}

// sealed returns what is sealed with the caller's messages: the token and who has sent it.
func (s *Service) sealed(c Caller) credential.Token {
	t := credential.NewToken(c.Token)
	if t.Bearer != "" || s.sealCallers {
		t.Caller = c.Identity.Key()
	}
	return t
}

// seal returns the caller's token sealed for a conversation, or "".
func (s *Service) seal(c Caller, conversationID string) (string, error) {
	token := s.sealed(c)
	if token == (credential.Token{}) || s.keyring == nil {
		return "", nil
	}
	sealed, err := s.keyring.Seal(conversationID, token)
	if err != nil {
		return "", fmt.Errorf("seal the caller's token: %w", err)
	}
	return sealed, nil
}

// Fingerprint is a hash of an operation and its JSON body, independent of formatting. It
// distinguishes a repeated request from a different one.
func Fingerprint(operation string, body []byte) string {
	h := sha256.New()
	io.WriteString(h, operation+"\n") //nolint:errcheck // a hash never fails
	h.Write(CanonicalJSON(body))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// CanonicalJSON returns JSON with sorted keys and without spaces. Other text is returned
// unchanged.
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

// KeyReused returns the error for a key that was used for a different request.
func KeyReused() *Error {
	return Errorf(contract.KindKeyReused, "Idempotency-Key was used for a different request")
}
