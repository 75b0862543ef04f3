package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/auth"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

func keysFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// ask sends a request to a protected handler that answers with the caller.
func ask(guard *auth.Guard, token string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	mux.Handle("/", guard.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, auth.Caller(r.Context())) })))
	mux.Handle(auth.MetadataPath+"/", guard.Metadata())
	r := httptest.NewRequest(http.MethodPost, "http://tools.test/mcp", nil)
	if token == "metadata" {
		r = httptest.NewRequest(http.MethodGet, "http://tools.test"+auth.MetadataPath+"/mcp", nil)
	} else if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

func TestKeysOfTheFileMayCall(t *testing.T) {
	guard, err := auth.New(t.Context(), auth.Settings{Kind: auth.Keys, KeysFile: keysFile(t, "# people\n\nalice "+digest("one")+"\nbob "+strings.ToUpper(digest("two"))+"\n")})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{"one": "alice", "two": "bob"} {
		if got := ask(guard, token); got.Code != 200 || got.Body.String() != want {
			t.Errorf("%s: %d %s", token, got.Code, got.Body)
		}
	}
	for _, token := range []string{"", "three", digest("one"), "one two"} {
		if got := ask(guard, token); got.Code != 401 || got.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d %v", token, got.Code, got.Header())
		}
	}
	if got := ask(guard, "metadata"); got.Code != 404 {
		t.Errorf("metadata: %d", got.Code)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	for want, s := range map[string]auth.Settings{
		"auth \"basic\" is unknown":               {Kind: "basic"},
		"needs auth_keys_file":                    {Kind: auth.Keys},
		"no such file":                            {Kind: auth.Keys, KeysFile: "missing"},
		"has no keys":                             {Kind: auth.Keys, KeysFile: keysFile(t, "# none\n")},
		":1: the second word is not a SHA-256":    {Kind: auth.Keys, KeysFile: keysFile(t, "alice secret\n")},
		":2: alice and bob have the same key":     {Kind: auth.Keys, KeysFile: keysFile(t, "alice "+digest("a")+"\nbob "+digest("a")+"\n")},
		"needs auth_issuer and auth_audience":     {Kind: auth.OIDC, Issuer: "https://a"},
		"must begin with https://":                {Kind: auth.OIDC, Issuer: "http://login.example.com", Audience: "a"},
		"belong to auth: oidc":                    {Kind: auth.None, Audience: "a"},
		"auth_resource: \"x\" is not a URL":       {Kind: auth.None, Resource: "x"},
		"ask http://127.0.0.1:1 for its metadata": {Kind: auth.OIDC, Issuer: "http://127.0.0.1:1", Audience: "a"},
	} {
		if _, err := auth.New(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}

// provider is an OpenID provider.
type provider struct {
	url  string
	key  *rsa.PrivateKey
	asks atomic.Int64 // for its keys
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key}
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	p.url = s.URL
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"%s/keys","id_token_signing_alg_values_supported":["RS256"]}`, p.url, p.url)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.asks.Add(1)
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	return p
}

func (p *provider) token(t *testing.T, kid string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: kid}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"iss": p.url, "aud": "tools", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix(), "scope": "read call"}
	for name, value := range claims {
		all[name] = value
	}
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTokensOfTheProviderMayCall(t *testing.T) {
	p := newProvider(t)
	guard, err := auth.New(t.Context(), auth.Settings{Kind: auth.OIDC, Issuer: p.url, Audience: "tools", Scopes: []string{"call"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(guard, p.token(t, "1", nil)); got.Code != 200 || got.Body.String() != "alice" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := ask(guard, p.token(t, "1", map[string]any{"scope": nil, "scp": []string{"call"}})); got.Code != 200 {
		t.Errorf("scp: %d %s", got.Code, got.Body)
	}
	for name, c := range map[string]struct {
		claims map[string]any
		status int
	}{
		"another audience": {map[string]any{"aud": "others"}, 401},
		"another issuer":   {map[string]any{"iss": "https://evil"}, 401},
		"ended":            {map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}, 401},
		"without a scope":  {map[string]any{"scope": "read"}, 403},
	} {
		got := ask(guard, p.token(t, "1", c.claims))
		if got.Code != c.status || !strings.Contains(got.Header().Get("WWW-Authenticate"), `resource_metadata="http://tools.test/.well-known/oauth-protected-resource/mcp", scope="call"`) {
			t.Errorf("%s: %d %v", name, got.Code, got.Header())
		}
	}
	if got := ask(guard, ""); got.Code != 401 {
		t.Errorf("without a token: %d", got.Code)
	}
	var metadata map[string]any
	got := ask(guard, "metadata")
	if err := json.Unmarshal(got.Body.Bytes(), &metadata); err != nil || metadata["resource"] != "http://tools.test/mcp" || fmt.Sprint(metadata["authorization_servers"]) != "["+p.url+"]" {
		t.Errorf("%d %s %v", got.Code, got.Body, err)
	}
}

func TestAServerMayVerifyTokensItself(t *testing.T) {
	guard := auth.Verified(auth.Settings{Issuer: "https://login.test", Scopes: []string{"files"}}, func(_ context.Context, token string) (auth.Holder, error) {
		switch token {
		case "alice", "others":
			return auth.Holder{Name: "alice", Scopes: strings.Fields(strings.Replace(token, "alice", "files", 1)), Expires: time.Now().Add(time.Hour)}, nil
		case "ended":
			return auth.Holder{Name: "alice", Scopes: []string{"files"}, Expires: time.Now().Add(-time.Hour)}, nil
		case "away":
			return auth.Holder{}, errors.New("the issuer is away")
		}
		return auth.Holder{}, fmt.Errorf("%w: not for us", auth.ErrRefused)
	})
	for token, want := range map[string]int{"alice": 200, "others": 403, "ended": 401, "away": 500, "bob": 401, "": 401} {
		got := ask(guard, token)
		if got.Code != want || want == 200 && got.Body.String() != "alice" {
			t.Errorf("%q: %d %s, want %d", token, got.Code, got.Body, want)
		}
		if want == 401 && !strings.Contains(got.Header().Get("WWW-Authenticate"), `scope="files"`) {
			t.Errorf("%q: %v", token, got.Header())
		}
	}
	if got := ask(guard, "metadata"); got.Code != 200 || !strings.Contains(got.Body.String(), `"https://login.test"`) {
		t.Errorf("metadata: %d %s", got.Code, got.Body)
	}
}

func TestMadeUpTokensDoNotReachTheProvider(t *testing.T) {
	p := newProvider(t)
	guard, err := auth.New(t.Context(), auth.Settings{Kind: auth.OIDC, Issuer: p.url, Audience: "tools"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		if got := ask(guard, p.token(t, fmt.Sprint("unknown-", n), nil)); got.Code != 401 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	if n := p.asks.Load(); n > 1 {
		t.Errorf("100 made-up tokens asked the provider %d times", n)
	}
}
