package identity

import (
	"errors"
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
)

// IssuerKeys is the issuer of callers with a key.
const IssuerKeys = "keys"

// Keys are the callers with a key of a file.
type Keys struct{ file *keys.Reader }

// NewKeys reads keys from a file, which may change at any time.
func NewKeys(file *keys.Reader) *Keys { return &Keys{file} }

// Shown implements Way.
func (k *Keys) Shown(r *http.Request) bool { return strings.HasPrefix(bearer(r), keys.Prefix) }

// Identify implements Way.
func (k *Keys) Identify(r *http.Request) (contract.Identity, error) {
	return k.Caller(keys.StubOf(bearer(r)))
}

// Caller returns who has shown a key, a *Refused or an *Unavailable.
func (k *Keys) Caller(stub keys.Stub) (contract.Identity, error) {
	key, err := k.file.FindStub(stub)
	switch {
	case errors.Is(err, keys.ErrUnknown), errors.Is(err, keys.ErrExpired):
		return contract.Identity{}, refusef("%v", err)
	case err != nil:
		return contract.Identity{}, &Unavailable{"the file of the keys cannot be read", err}
	}
	return contract.Identity{Subject: key.Name, Issuer: IssuerKeys, Scopes: key.Scopes}, nil
}

func (k *Keys) String() string { return "a key that agent keys add made, as Authorization: Bearer" }
