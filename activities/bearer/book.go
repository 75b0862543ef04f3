package bearer

import (
	"context"
	"errors"

	"agent-stop-and-go/workflows/contract/redact"
	"agent-stop-and-go/workflows/credential"
)

// Book has the source of each server and agent. A nil Book forwards the caller's token to all;
// the zero value gives none to any.
type Book struct {
	// Default is the source of servers that are not in the book; nil gives them no token.
	Default Source
	entries map[Server]entry
}

type entry struct {
	server Server
	source Source
}

// Add sets the source of a server; nil gives it no token. The book must not be in use.
func (b *Book) Add(s Server, source Source) {
	if b.entries == nil {
		b.entries = map[Server]entry{}
	}
	b.entries[s.key()] = entry{s, source}
}

// key is a server as histories have it: an agent without the parts of its URL that may be secret,
// a tool server by its name alone.
func (s Server) key() Server {
	if s.Agent {
		s.URL = redact.KeptURL(s.URL)
	} else {
		s.URL = ""
	}
	return s
}

func (b *Book) find(s Server) entry {
	if b == nil {
		return entry{s, Forward{}}
	}
	if e, known := b.entries[s.key()]; known {
		return e
	}
	return entry{s, b.Default}
}

// Gives reports whether calls of a server carry a token, if there is one.
func (b *Book) Gives(s Server) bool { return b.find(s).source != nil }

// Token returns the token for a server, or an empty one if it gets none. refusal is as in Request.
func (b *Book) Token(ctx context.Context, s Server, caller credential.Token, refusal *Refusal) (credential.Token, error) {
	e := b.find(s)
	if e.source == nil {
		return credential.Token{}, nil
	}
	return e.source.Token(ctx, Request{Server: e.server, Caller: caller, Refusal: refusal})
}

// maxRenewals bounds the tokens that a call is sent with after the first: one for a token that is
// no longer valid, and one for more scopes.
const maxRenewals = 2

// Call makes a call with the token for a server. send returns the refusal of a server that has
// not made the call because of its token, or nil; then the call is made once more, as long as there
// is another token. The error is that of the source.
func (b *Book) Call(ctx context.Context, s Server, caller credential.Token, send func(token string) *Refusal) error {
	token, err := b.Token(ctx, s, caller, nil)
	for renewals := 0; err == nil; renewals++ {
		refusal := send(token.Bearer)
		if refusal == nil {
			return nil
		}
		refusal.Token, refusal.Again = token, renewals > 0
		token, err = b.Token(ctx, s, caller, refusal)
		if token.Bearer == refusal.Token.Bearer || renewals == maxRenewals {
			return err
		}
	}
	return err
}

// Temporary reports whether the token may be got later, without a person.
func Temporary(err error) bool {
	return err != nil && Login(err) == nil && !errors.As(err, new(*Refused))
}
