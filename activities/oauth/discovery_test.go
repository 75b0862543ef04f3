package oauth_test

import (
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/activities/oauth"
)

const (
	serverAt = "/.well-known/oauth-protected-resource/mcp"
	issuerAt = "/.well-known/oauth-authorization-server/as"
)

func TestHostileMetadataAreRefused(t *testing.T) {
	server := func(key string, value any) func(*world) {
		return func(w *world) { w.server = func(m map[string]any) { m[key] = value } }
	}
	issuer := func(key string, value any) func(*world) {
		return func(w *world) { w.issuer = func(m map[string]any) { m[key] = value } }
	}
	answer := func(path string, h http.HandlerFunc) func(*world) {
		return func(w *world) { w.answers[path] = h }
	}
	for name, tt := range map[string]struct {
		change func(*world)
		want   string
	}{
		"about another server":       {server("resource", "https://other.example.com/mcp"), "about another server"},
		"without a server":           {server("resource", ""), "about another server"},
		"no authorization server":    {server("authorization_servers", []string{}), "name no authorization server"},
		"a server without https":     {server("authorization_servers", []string{"http://login.example.com"}), "https is required"},
		"a server that is a script":  {server("authorization_servers", []string{"javascript:alert(1)"}), "not an acceptable address"},
		"a server with a password":   {server("authorization_servers", []string{"https://a:b@login.example.com"}), "not an acceptable address"},
		"a private server":           {server("authorization_servers", []string{"https://10.0.0.1"}), "refused"},
		"a server in the cloud":      {server("authorization_servers", []string{"https://169.254.169.254"}), "refused"},
		"another issuer":             {issuer("issuer", "https://login.example.com"), "about another one"},
		"a token endpoint over http": {issuer("token_endpoint", "http://login.example.com/token"), "token_endpoint: not an acceptable address"},
		"a login that is a script":   {issuer("authorization_endpoint", "javascript:alert(1)"), "authorization_endpoint"},
		"a registration elsewhere":   {issuer("registration_endpoint", "ftp://login.example.com"), "registration_endpoint"},
		"a server that fails":        {answer(serverAt, status(http.StatusBadGateway)), "answered 502"},
		"an issuer that fails":       {answer(issuerAt, status(http.StatusBadGateway)), "answered 502"},
		"an issuer without metadata": {answer(issuerAt, status(http.StatusNotFound)), "it has none at the addresses"},
		"huge":                       {answer(serverAt, huge), "larger than 256 KiB"},
		"no JSON":                    {answer(issuerAt, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }), "not the JSON"},
		"redirected for ever":        {answer(serverAt, redirect(serverAt)), "answered 302"},
		"redirected into a network":  {answer(serverAt, redirect("http://10.0.0.1/")), "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.change(w)
			_, err := newShared(t).worker(t, w.credentials()).Renew(t.Context(), "", "", oauth.Refusal{})
			wantError(t, err, tt.want)
			if len(w.at("/token")) != 0 {
				t.Error("the secret was sent")
			}
		})
	}
}

func TestAServerOnTheInternetLeadsToNoPrivateAddress(t *testing.T) {
	w := newWorld(t)
	settings := w.credentials()
	settings.URL = "https://tools.example.com/mcp"
	for _, metadata := range []string{w.url + serverAt, strings.Replace(w.url, "127.0.0.1", "localhost", 1) + serverAt, "https://192.168.0.1/x", "https://[::1]/"} {
		_, err := newShared(t).worker(t, settings).Renew(t.Context(), "", "", oauth.Refusal{Metadata: metadata})
		wantError(t, err, "refused")
	}
	if len(w.requests) != 0 {
		t.Errorf("%d requests were sent", len(w.requests))
	}
}

func TestAnIssuerInTheSettingsIsTheOnlyOne(t *testing.T) {
	w := newWorld(t)
	settings := w.credentials()
	settings.Issuer = w.url + "/other"
	_, err := newShared(t).worker(t, settings).Renew(t.Context(), "", "", oauth.Refusal{})
	wantError(t, err, "names another authorization server than the agent's settings")
	settings.Issuer = w.url + "/as/"
	if _, err := newShared(t).worker(t, settings).Renew(t.Context(), "", "", oauth.Refusal{}); err != nil {
		t.Error(err)
	}
	w.answers[serverAt] = status(http.StatusNotFound)
	if _, err := newShared(t).worker(t, settings).Renew(t.Context(), "", "", oauth.Refusal{}); err != nil {
		t.Errorf("without metadata of the server: %v", err)
	}
}

func TestSecretsDoNotFollowRedirects(t *testing.T) {
	thief, w := newWorld(t), newWorld(t)
	w.answers["/token"] = redirect(thief.url + "/token")
	w.answers["/register"] = redirect(thief.url + "/register")
	_, err := newShared(t).worker(t, w.credentials()).Renew(t.Context(), "", "", oauth.Refusal{})
	wantError(t, err, "answered 307")
	_, err = newShared(t).worker(t, w.tools()).BeginLogin(t.Context(), "", "browser")
	wantError(t, err, "register at")
	if len(thief.requests) != 0 {
		t.Error("the thief was visited")
	}
}

func TestOddTokensAreRefused(t *testing.T) {
	for name, answer := range map[string]map[string]any{
		"another type": {"access_token": "abc", "token_type": "DPoP"},
		"two lines":    {"access_token": "abc\r\nX-Admin: 1", "token_type": "bearer"},
		"too long":     {"access_token": strings.Repeat("a", 20<<10), "token_type": "bearer"},
		"none":         {"token_type": "bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answers["/token"] = func(out http.ResponseWriter, _ *http.Request) { w.write(out, 200, answer) }
			got, err := newShared(t).worker(t, w.credentials()).Renew(t.Context(), "", "", oauth.Refusal{})
			if err == nil || got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestARefusalIsReadFromItsHeader(t *testing.T) {
	for header, want := range map[string]oauth.Refusal{
		``:       {},
		`Basic`:  {},
		`Bearer`: {},
		`Bearer scope="a b a", resource_metadata="https://x/m"`:               {Metadata: "https://x/m", Scopes: []string{"a", "b"}},
		`Basic realm="x", Bearer error="insufficient_scope", scope="w\"x ok"`: {Scopes: []string{"ok"}},
		`Bearer resource_metadata="unterminated`:                              {},
	} {
		resp := &http.Response{StatusCode: 401, Header: http.Header{"Www-Authenticate": {header}}}
		got, refused := oauth.Refused(resp)
		if !refused || got.Metadata != want.Metadata || strings.Join(got.Scopes, " ") != strings.Join(want.Scopes, " ") || got.MoreScopes {
			t.Errorf("%s: %+v", header, got)
		}
		resp.StatusCode = 403
		got, refused = oauth.Refused(resp)
		if refused != strings.Contains(header, "insufficient_scope") || refused != got.MoreScopes {
			t.Errorf("%s with 403: %+v, %v", header, got, refused)
		}
	}
	if _, refused := oauth.Refused(&http.Response{StatusCode: 404}); refused {
		t.Error("404 is no refusal")
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusFound
		if r.Method == http.MethodPost {
			code = http.StatusTemporaryRedirect
		}
		http.Redirect(w, r, to, code)
	}
}

func huge(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"resource":"` + strings.Repeat("a", 300<<10) + `"}`))
}
