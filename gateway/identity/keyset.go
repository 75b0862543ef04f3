package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
)

// algorithms are the signatures that are accepted: those with a public key.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

const (
	// fetchPause is the time between two requests for the keys: a caller can send any number of
	// tokens with keys that do not exist.
	fetchPause = 10 * time.Second
	// freshFor is the time after which keys are fetched again, so that a key that the provider
	// has withdrawn ends. Meanwhile the old ones are used.
	freshFor = 10 * time.Minute
	// usableFor is how long keys are used while the provider cannot be reached.
	usableFor = 24 * time.Hour
	maxKeySet = 1 << 20
)

// errNoKey is the error of a token that no key of the provider has signed.
var errNoKey = errors.New("no key of the provider has signed it")

// keySet is the public keys of a provider: a JWK Set (RFC 7517 §5).
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // when keys were fetched
	tried   time.Time
	err     error // of the last try
}

// failureKey is the context key of an *error that receives why a signature was not verified:
// the verifier of go-oidc returns only the text.
type failureKey struct{}

// VerifySignature implements oidc.KeySet.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := s.verify(ctx, token)
	if failure, ok := ctx.Value(failureKey{}).(*error); ok {
		*failure = err
	}
	return payload, err
}

func (s *keySet) verify(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, err
	}
	keys, stale := s.current()
	if payload, ok := signedByOne(jws, keys); ok {
		if stale {
			s.begin(ctx) // the error is kept for those who need the keys
		}
		return payload, nil
	}
	if err := s.fetch(ctx); err != nil {
		return nil, &Unavailable{"the provider of the token cannot be reached", err}
	}
	keys, _ = s.current()
	if payload, ok := signedByOne(jws, keys); ok {
		return payload, nil
	}
	return nil, errNoKey
}

func signedByOne(jws *jose.JSONWebSignature, keys []jose.JSONWebKey) ([]byte, bool) {
	id := jws.Signatures[0].Header.KeyID
	for _, key := range keys {
		if id != "" && key.KeyID != id || key.Use != "" && key.Use != "sig" || !key.IsPublic() {
			continue
		}
		if payload, err := jws.Verify(key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// current returns the keys, and whether newer ones should be fetched.
func (s *keySet) current() (keys []jose.JSONWebKey, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := s.now().Sub(s.fetched)
	if age > usableFor {
		return nil, true
	}
	return s.keys, age > freshFor
}

// fetch gets the keys, unless that was tried a moment ago: then it returns the error of that
// try.
func (s *keySet) fetch(ctx context.Context) error {
	select {
	case result := <-s.begin(ctx):
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin is fetch without waiting.
func (s *keySet) begin(ctx context.Context) <-chan singleflight.Result {
	return s.flight.DoChan("", func() (any, error) {
		if recent, err := s.last(); recent {
			return nil, err
		}
		keys, err := s.request(context.WithoutCancel(ctx))
		s.keep(keys, err)
		return nil, err
	})
}

func (s *keySet) last() (recent bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now().Sub(s.tried) < fetchPause, s.err
}

func (s *keySet) keep(keys []jose.JSONWebKey, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried, s.err = s.now(), err
	if err == nil {
		s.keys, s.fetched = keys, s.tried
	}
}

func (s *keySet) request(ctx context.Context) ([]jose.JSONWebKey, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	reply, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", s.url, reply.Status)
	}
	return decodeKeys(io.LimitReader(reply.Body, maxKeySet))
}

// decodeKeys skips keys of unknown types, as RFC 7517 §5 asks.
func decodeKeys(r io.Reader) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(r).Decode(&set); err != nil {
		return nil, fmt.Errorf("decode the key set: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no key that can be used")
	}
	return keys, nil
}
