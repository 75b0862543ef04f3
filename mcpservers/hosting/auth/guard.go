package auth

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// MetadataPath is where clients look for the metadata of a server at /mcp, and of others below it.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Guard checks callers. It is safe for concurrent use.
type Guard struct {
	settings Settings
	verify   auth.TokenVerifier
}

// New reads the keys, or asks the provider for its metadata. It returns nil if everybody may call.
func New(ctx context.Context, s Settings) (*Guard, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	switch s.Kind {
	case Keys:
		names, err := readKeys(s.KeysFile)
		if err != nil {
			return nil, err
		}
		return &Guard{s, keyVerifier(names)}, nil
	case OIDC:
		verify, err := tokenVerifier(ctx, s)
		if err != nil {
			return nil, err
		}
		return &Guard{s, verify}, nil
	}
	return nil, nil
}

// readKeys returns names by digest.
func readKeys(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer file.Close()
	names := map[string]string{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s:%d: a line has a name and the SHA-256 digest of a key", path, n)
		}
		if sum, err := hex.DecodeString(words[1]); err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("%s:%d: the second word is not a SHA-256 digest of 64 hexadecimal digits: do not put the key itself here", path, n)
		}
		digest := strings.ToLower(words[1])
		if other, ok := names[digest]; ok {
			return nil, fmt.Errorf("%s:%d: %s and %s have the same key", path, n, other, words[0])
		}
		names[digest] = words[0]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no keys: nobody could call", path)
	}
	return names, nil
}

// keyVerifier looks a digest up: how long that takes says nothing about keys.
func keyVerifier(names map[string]string) auth.TokenVerifier {
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		sum := sha256.Sum256([]byte(token))
		name, ok := names[hex.EncodeToString(sum[:])]
		if !ok {
			return nil, fmt.Errorf("%w: no such key", auth.ErrInvalidToken)
		}
		return &auth.TokenInfo{UserID: name, Expiration: time.Now().Add(time.Hour)}, nil
	}
}

func tokenVerifier(ctx context.Context, s Settings) (auth.TokenVerifier, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &patient{}}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), client)
	provider, err := oidc.NewProvider(ctx, s.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its metadata: %w", s.Issuer, err)
	}
	verifier := provider.VerifierContext(ctx, &oidc.Config{ClientID: s.Audience})
	return func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		verified, err := verifier.Verify(ctx, token)
		if err != nil {
			if strings.Contains(err.Error(), "fetching keys") {
				return nil, errors.New("the keys of the provider cannot be read")
			}
			return nil, fmt.Errorf("%w: not a valid token of %s for %s", auth.ErrInvalidToken, s.Issuer, s.Audience)
		}
		var claims struct {
			Scope string          `json:"scope"`
			SCP   json.RawMessage `json:"scp"`
		}
		if err := verified.Claims(&claims); err != nil {
			return nil, fmt.Errorf("%w: its claims cannot be read", auth.ErrInvalidToken)
		}
		return &auth.TokenInfo{UserID: verified.Subject, Scopes: scopes(claims.Scope, claims.SCP), Expiration: verified.Expiry}, nil
	}, nil
}

// scopes reads the claim of RFC 9068, or scp as some providers have it.
func scopes(text string, scp json.RawMessage) []string {
	var list []string
	if text == "" && json.Unmarshal(scp, &list) != nil {
		_ = json.Unmarshal(scp, &text) // a text, or nothing
	}
	return append(list, strings.Fields(text)...)
}

// Protect calls next for callers that may call. CORS preflights, which carry no token, pass.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			next.ServeHTTP(w, r)
			return
		}
		options := &auth.RequireBearerTokenOptions{Scopes: g.settings.Scopes}
		if g.settings.Kind == OIDC {
			options.ResourceMetadataURL = metadataURL(g.resource(r))
		}
		admitted := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
		auth.RequireBearerToken(g.verify, options)(admitted).ServeHTTP(challenge{w}, r)
	})
}

// challenge adds the header that a 401 needs, if there is nothing else to say. Only refusals are written
// through it.
type challenge struct{ http.ResponseWriter }

func (c challenge) WriteHeader(status int) {
	if status == http.StatusUnauthorized && c.Header().Get("WWW-Authenticate") == "" {
		c.Header().Set("WWW-Authenticate", "Bearer")
	}
	c.ResponseWriter.WriteHeader(status)
}

// Metadata serves the metadata of the server; 404 with keys, which no provider issues.
func (g *Guard) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.settings.Kind != OIDC {
			http.NotFound(w, r)
			return
		}
		auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: g.resource(r), AuthorizationServers: []string{g.settings.Issuer},
			ScopesSupported: g.settings.Scopes, BearerMethodsSupported: []string{"header"},
		}).ServeHTTP(w, r)
	})
}

// resource is the URL of the server as its clients know it.
func (g *Guard) resource(r *http.Request) string {
	if g.settings.Resource != "" {
		return g.settings.Resource
	}
	path := strings.TrimPrefix(r.URL.Path, MetadataPath)
	if path == "" || path == "/message" {
		path = "/mcp"
	}
	return "http://" + r.Host + path
}

func metadataURL(resource string) string {
	scheme, rest, _ := strings.Cut(resource, "://")
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + MetadataPath + "/" + path
}

// Caller returns the name of a key, or the subject of a token; "" if there is none.
func Caller(ctx context.Context) string {
	if info := auth.TokenInfoFromContext(ctx); info != nil {
		return info.UserID
	}
	return ""
}
