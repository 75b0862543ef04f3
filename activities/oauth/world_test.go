package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/workflows/credential"
)

// world is a tool server and its authorization server, at one address.
type world struct {
	t   *testing.T
	url string
	// answers replace those at a path.
	answers map[string]http.HandlerFunc
	// issuer and server change the metadata.
	issuer, server func(map[string]any)
	// token changes the answer of the token endpoint, or its status.
	token func(form url.Values) (status int, answer map[string]any)

	mu       sync.Mutex
	requests []*http.Request // with parsed forms
	codes    map[string]url.Values
	refresh  map[string]bool
	issued   int
	clients  int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, answers: map[string]http.HandlerFunc{}, codes: map[string]url.Values{}, refresh: map[string]bool{}}
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.mu.Lock()
	w.requests = append(w.requests, r)
	answer := w.answers[r.URL.Path]
	w.mu.Unlock()
	if answer != nil {
		answer(out, r)
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		w.write(out, 200, changed(w.server, map[string]any{
			"resource": w.url + "/mcp", "authorization_servers": []string{w.url + "/as"}, "scopes_supported": []string{"read"},
		}))
	case "/.well-known/oauth-authorization-server/as":
		w.write(out, 200, changed(w.issuer, map[string]any{
			"issuer": w.url + "/as", "authorization_endpoint": w.url + "/authorize", "token_endpoint": w.url + "/token",
			"registration_endpoint": w.url + "/register", "code_challenge_methods_supported": []string{"S256"},
		}))
	case "/register":
		w.mu.Lock()
		w.clients++
		id := fmt.Sprintf("client-%d", w.clients)
		w.mu.Unlock()
		w.write(out, 201, map[string]any{"client_id": id, "client_secret": "secret-of-" + id, "token_endpoint_auth_method": "client_secret_basic"})
	case "/token":
		status, body := w.grant(r.PostForm)
		w.write(out, status, body)
	default:
		http.NotFound(out, r)
	}
}

func changed(change func(map[string]any), m map[string]any) map[string]any {
	if change != nil {
		change(m)
	}
	return m
}

func (w *world) write(out http.ResponseWriter, status int, body any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(body)
}

// grant answers as a strict token endpoint.
func (w *world) grant(form url.Values) (int, map[string]any) {
	if w.token != nil {
		if status, answer := w.token(form); status != 0 {
			return status, answer
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if form.Get("resource") != w.url+"/mcp" {
		return 400, map[string]any{"error": "invalid_target"}
	}
	switch form.Get("grant_type") {
	case "authorization_code":
		asked := w.codes[form.Get("code")]
		delete(w.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("redirect_uri") != form.Get("redirect_uri") {
			return 400, map[string]any{"error": "invalid_grant"}
		}
	case "refresh_token":
		if !w.refresh[form.Get("refresh_token")] {
			return 400, map[string]any{"error": "invalid_grant"}
		}
		delete(w.refresh, form.Get("refresh_token"))
	case "client_credentials":
	default:
		return 400, map[string]any{"error": "unsupported_grant_type"}
	}
	w.issued++
	out := map[string]any{"access_token": fmt.Sprintf("access-%d", w.issued), "token_type": "Bearer", "expires_in": 3600}
	if form.Get("grant_type") != "client_credentials" {
		next := fmt.Sprintf("refresh-%d", w.issued)
		w.refresh[next] = true
		out["refresh_token"] = next
	}
	return 200, out
}

// login plays the person at the address of an authorization request, and returns the answer.
func (w *world) login(address string) oauth.Answer {
	w.t.Helper()
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, w.url+"/authorize?") {
		w.t.Fatalf("the login is at %q", address)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	code := fmt.Sprintf("code-%d", len(w.codes)+w.issued*100)
	w.codes[code] = u.Query()
	return oauth.Answer{State: u.Query().Get("state"), Code: code, Browser: "browser"}
}

// at returns the requests to a path.
func (w *world) at(path string) []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*http.Request
	for _, r := range w.requests {
		if r.URL.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// shared are the store, the keys and the time of the workers of one agent.
type shared struct {
	ring *credential.Keyring
	mu   sync.Mutex
	data map[string][]byte
	time time.Time
}

func newShared(t *testing.T) *shared {
	key, err := credential.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := credential.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	return &shared{ring: ring, data: map[string][]byte{}, time: time.Now()}
}

func (s *shared) LoadRecord(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data[name], nil
}

func (s *shared) SaveRecord(_ context.Context, name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[name] = data
	return nil
}

func (s *shared) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

func (s *shared) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.time = s.time.Add(d)
}

const callback = "https://agent.example.com/oauth/callback"

// worker makes the client of one worker.
func (s *shared) worker(t *testing.T, settings oauth.Settings) *oauth.Client {
	t.Helper()
	c, err := oauth.New(settings, oauth.Options{Agent: "agent", RedirectURL: callback, Store: s, Keyring: s.ring, Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// tools are the settings of the world's server.
func (w *world) tools() oauth.Settings { return oauth.Settings{Name: "tools", URL: w.url + "/mcp"} }

func (w *world) credentials() oauth.Settings {
	s := w.tools()
	s.Grant, s.ClientID, s.Secret = oauth.ClientCredentials, "robot", "robot-secret"
	return s
}

// loggedIn makes a client whose person has logged in, and returns its token.
func loggedIn(t *testing.T, w *world, s *shared, settings oauth.Settings) (*oauth.Client, string) {
	t.Helper()
	c := s.worker(t, settings)
	logIn(t, w, c)
	return c, token(t, c)
}

func logIn(t *testing.T, w *world, c *oauth.Client) {
	t.Helper()
	address, err := c.BeginLogin(t.Context(), "", "browser")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.FinishLogin(t.Context(), w.login(address)); err != nil {
		t.Fatal(err)
	}
}

func token(t *testing.T, c *oauth.Client) string {
	t.Helper()
	token, err := c.Token(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return token
}
