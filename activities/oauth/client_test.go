package oauth_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"agent-stop-and-go/activities/oauth"
)

func TestClientCredentialsNeedNobody(t *testing.T) {
	for method, sent := range map[string]func(r *http.Request) string{
		"client_secret_basic": func(r *http.Request) string { id, secret, _ := r.BasicAuth(); return id + ":" + secret },
		"client_secret_post": func(r *http.Request) string {
			return r.PostForm.Get("client_id") + ":" + r.PostForm.Get("client_secret")
		},
	} {
		t.Run(method, func(t *testing.T) {
			w := newWorld(t)
			w.issuer = func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = []string{method} }
			c := newShared(t).worker(t, w.credentials())
			if got := token(t, c); got != "" {
				t.Errorf("a token before anything was refused: %q", got)
			}
			got, err := c.Renew(t.Context(), "", "", oauth.Refusal{Scopes: []string{"write"}})
			if err != nil || got != "access-1" || token(t, c) != "access-1" {
				t.Fatalf("got %q, %v", got, err)
			}
			r := w.at("/token")[0]
			if sent(r) != "robot:robot-secret" || r.PostForm.Get("scope") != "write" || len(w.at("/register")) != 0 {
				t.Errorf("sent %v with %v", r.PostForm, r.Header)
			}
		})
	}
}

func TestASignedAssertionProvesTheClient(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	settings := w.credentials()
	settings.Secret, settings.KeyID = "", "k1"
	settings.Key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	c := newShared(t).worker(t, settings)
	if _, err := c.Renew(t.Context(), "", "", oauth.Refusal{}); err != nil {
		t.Fatal(err)
	}
	form := w.at("/token")[0].PostForm
	signed, err := jwt.ParseSigned(form.Get("client_assertion"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims jwt.Claims
	if err := signed.Claims(key.Public(), &claims); err != nil {
		t.Fatal(err)
	}
	if err := claims.Validate(jwt.Expected{Issuer: "robot", Subject: "robot", AnyAudience: jwt.Audience{w.url + "/as"}}); err != nil || claims.ID == "" {
		t.Errorf("got %+v, %v", claims, err)
	}
	if form.Has("client_secret") || signed.Headers[0].KeyID != "k1" {
		t.Errorf("got %v", form)
	}
	w.issuer = func(m map[string]any) { m["token_endpoint_auth_signing_alg_values_supported"] = []string{"RS256"} }
	_, err = newShared(t).worker(t, settings).Renew(t.Context(), "", "", oauth.Refusal{})
	wantError(t, err, "accepts no signature of this kind of key")
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	robot := s.worker(t, w.credentials())
	if _, err := robot.Renew(t.Context(), "", "", oauth.Refusal{}); err != nil {
		t.Fatal(err)
	}
	person, _ := loggedIn(t, w, s, w.tools())
	s.pass(time.Hour - 20*time.Second)
	if got := token(t, robot); got != "access-3" {
		t.Errorf("the robot's token is %q", got)
	}
	if got := token(t, person); got != "access-4" {
		t.Errorf("the person's token is %q", got)
	}
	if form := w.at("/token")[3].PostForm; form.Get("refresh_token") != "refresh-2" || form.Get("resource") != w.url+"/mcp" {
		t.Errorf("sent %v", form)
	}
}

func TestARefusedTokenIsReplaced(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	if _, err := c.Renew(t.Context(), "", first, oauth.Refusal{}); !errors.Is(err, oauth.ErrLogin) {
		t.Errorf("a login that the server refuses at once: %v", err)
	}
	s.pass(time.Minute)
	second, err := c.Renew(t.Context(), "", first, oauth.Refusal{})
	if err != nil || second != "access-2" {
		t.Fatalf("got %q, %v", second, err)
	}
	if again, err := c.Renew(t.Context(), "", first, oauth.Refusal{}); err != nil || again != second {
		t.Errorf("another request with the old token got %q, %v", again, err)
	}
	robot := s.worker(t, w.credentials())
	if _, err := robot.Renew(t.Context(), "", "", oauth.Refusal{}); err != nil {
		t.Fatal(err)
	}
	_, err = robot.Renew(t.Context(), "", token(t, robot), oauth.Refusal{})
	wantError(t, err, "refuses a token that was just issued")
}

func TestWorkersShareTokens(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	a, first := loggedIn(t, w, s, w.tools())
	b := s.worker(t, w.tools())
	if got := token(t, b); got != first {
		t.Errorf("the other worker has %q", got)
	}
	s.pass(time.Hour)
	if got := token(t, b); got != "access-2" {
		t.Errorf("b renewed to %q", got)
	}
	if got := token(t, a); got != "access-2" || len(w.at("/token")) != 2 {
		t.Errorf("a has %q after %d requests", got, len(w.at("/token")))
	}
}

func TestARefreshTokenThatAnotherWorkerHasUsedIsNoLoss(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	a, _ := loggedIn(t, w, s, w.tools())
	b := s.worker(t, w.tools())
	token(t, b)
	s.pass(time.Hour)
	w.token = func(form url.Values) (int, map[string]any) { // b is faster by the time that a asks
		w.token = nil
		if got := token(t, b); got != "access-2" {
			t.Errorf("b has %q", got)
		}
		return 0, nil
	}
	if got := token(t, a); got != "access-2" {
		t.Errorf("a has %q", got)
	}
}

func TestALostGrantLeadsToALogin(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	s.pass(time.Minute)
	w.refresh = map[string]bool{}
	if _, err := c.Renew(t.Context(), "", first, oauth.Refusal{}); !errors.Is(err, oauth.ErrLogin) {
		t.Fatalf("got %v", err)
	}
	if got := token(t, c); got != "" {
		t.Errorf("the lost token is still sent: %q", got)
	}
	logIn(t, w, c)
	if got := token(t, c); got != "access-2" || len(w.at("/register")) != 1 {
		t.Errorf("got %q after %d registrations", got, len(w.at("/register")))
	}
}

func TestAnUnknownClientIsRegisteredAgain(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	s.pass(time.Minute)
	w.token = func(form url.Values) (int, map[string]any) {
		if form.Get("grant_type") == "refresh_token" {
			return 401, map[string]any{"error": "invalid_client"}
		}
		return 0, nil
	}
	if _, err := c.Renew(t.Context(), "", first, oauth.Refusal{}); !errors.Is(err, oauth.ErrLogin) {
		t.Fatalf("got %v", err)
	}
	logIn(t, w, c)
	if id, _, _ := w.at("/token")[2].BasicAuth(); id != "client-2" {
		t.Errorf("the login was for %q", id)
	}
}

func TestAnOutageLosesNothing(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	s.pass(time.Hour - time.Second)
	w.token = func(url.Values) (int, map[string]any) { return 503, nil }
	if got := token(t, c); got != first {
		t.Errorf("a valid token was withheld: %q", got)
	}
	s.pass(time.Minute)
	if _, err := c.Token(t.Context(), ""); err == nil || errors.Is(err, oauth.ErrLogin) {
		t.Errorf("got %v", err)
	}
	w.token = nil
	if got := token(t, c); got != "access-2" {
		t.Errorf("after the outage: %q", got)
	}
}

func TestMoreScopesAreAddedToThoseGranted(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c := s.worker(t, w.credentials())
	first, err := c.Renew(t.Context(), "", "", oauth.Refusal{Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	more := oauth.Refusal{Scopes: []string{"write"}, MoreScopes: true}
	second, err := c.Renew(t.Context(), "", first, more)
	if err != nil || w.at("/token")[1].PostForm.Get("scope") != "read write" {
		t.Fatalf("got %v after %v", err, w.at("/token")[1].PostForm)
	}
	_, err = c.Renew(t.Context(), "", second, more)
	wantError(t, err, "scopes that the refused token has")
}

// Only the first challenge says where the metadata of the server are.
func TestMoreScopesAreAskedForWhereTheFirstWere(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	w.answers["/.well-known/oauth-protected-resource/mcp"] = status(404)
	w.answers["/about"] = func(out http.ResponseWriter, _ *http.Request) {
		w.write(out, 200, map[string]any{"resource": w.url + "/mcp", "authorization_servers": []string{w.url + "/as"}})
	}
	c := s.worker(t, w.tools())
	if _, err := c.Renew(t.Context(), "", "", oauth.Refusal{Metadata: w.url + "/about"}); !errors.Is(err, oauth.ErrLogin) {
		t.Fatalf("got %v", err)
	}
	logIn(t, w, c)
	if _, err := c.Renew(t.Context(), "", token(t, c), oauth.Refusal{Scopes: []string{"write"}, MoreScopes: true}); !errors.Is(err, oauth.ErrLogin) {
		t.Fatalf("got %v", err)
	}
	logIn(t, w, c)
	if n := len(w.at("/register")); n != 1 {
		t.Errorf("the agent is registered at %d authorization servers", n)
	}
}

func TestTheSettingsBoundTheScopes(t *testing.T) {
	w := newWorld(t)
	settings := w.credentials()
	settings.Scopes = []string{"read", "list"}
	c := newShared(t).worker(t, settings)
	first, err := c.Renew(t.Context(), "", "", oauth.Refusal{})
	if err != nil || w.at("/token")[0].PostForm.Get("scope") != "read list" {
		t.Fatalf("got %v", err)
	}
	_, err = c.Renew(t.Context(), "", first, oauth.Refusal{Scopes: []string{"admin"}, MoreScopes: true})
	wantError(t, err, `demands the scope "admin", which the settings of the agent do not list`)
}

func TestEachCallerHasATokenOfItsOwn(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	settings := w.tools()
	settings.PerCaller = true
	c := s.worker(t, settings)
	address, err := c.BeginLogin(t.Context(), "ann", "browser")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.FinishLogin(t.Context(), w.login(address)); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]string{"ann": "access-1", "bob": "", "": ""} {
		if got, err := c.Token(t.Context(), subject); err != nil || got != want {
			t.Errorf("%s: %q, %v", subject, got, err)
		}
		if _, err := c.Renew(t.Context(), subject, "", oauth.Refusal{}); subject != "ann" && !errors.Is(err, oauth.ErrLogin) {
			t.Errorf("%s: %v", subject, err)
		}
	}
}

func TestNothingStoredOrReportedShowsASecret(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	secrets := []string{first, "refresh-1", "secret-of-client-1", w.at("/token")[0].PostForm.Get("code_verifier")}
	for name, data := range s.data {
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) || strings.Contains(name, "tools") {
				t.Errorf("%s shows %s", name, secret)
			}
		}
	}
	s.pass(2 * time.Hour)
	w.token = func(form url.Values) (int, map[string]any) {
		return 400, map[string]any{"error": "invalid_request", "error_description": fmt.Sprint("you sent ", form.Get("refresh_token"), " ", form)}
	}
	_, err := c.Token(t.Context(), "")
	if err == nil || strings.Contains(err.Error(), "refresh-1") {
		t.Errorf("got %v", err)
	}
}

func TestTokensAreMaskedWhileAnotherIsRequested(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	s.pass(2 * time.Hour)
	w.token = func(url.Values) (int, map[string]any) {
		if got := c.Secrets(""); len(got) != 1 || got[0] != first {
			t.Errorf("meanwhile %v are masked", got)
		}
		return 0, nil
	}
	second := token(t, c)
	if got := c.Secrets(""); len(got) != 2 || got[0] != second || got[1] != first {
		t.Errorf("afterwards %v are masked", got)
	}
}

func TestRecordsOfALostKeyLeadToALogin(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	loggedIn(t, w, s, w.tools())
	s.ring = newShared(t).ring
	if _, err := s.worker(t, w.tools()).Renew(t.Context(), "", "", oauth.Refusal{}); !errors.Is(err, oauth.ErrLogin) {
		t.Errorf("got %v", err)
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for want, settings := range map[string]oauth.Settings{
		"no http or https URL":    {URL: "stdio"},
		"a client ID and its":     {URL: "https://a", Grant: oauth.ClientCredentials, ClientID: "a"},
		`unknown grant "implicit`: {URL: "https://a", Grant: "implicit"},
		"not in PEM":              {URL: "https://a", ClientID: "a", Key: "key"},
	} {
		_, err := oauth.New(settings, oauth.Options{})
		wantError(t, err, want)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
