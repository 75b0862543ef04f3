package oauth_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"agent-stop-and-go/activities/oauth"
)

func TestALoginAsksForWhatTheServerWanted(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	w.issuer = func(m map[string]any) { m["scopes_supported"] = []string{"openid", "offline_access"} }
	c := s.worker(t, w.tools())
	if _, err := c.Renew(t.Context(), "", "", oauth.Refusal{Scopes: []string{"read", "write"}}); !errors.Is(err, oauth.ErrLogin) {
		t.Fatalf("got %v", err)
	}
	other := s.worker(t, w.tools()) // another worker begins the login
	address, err := other.BeginLogin(t.Context(), "", "browser")
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(address)
	q := u.Query()
	for name, want := range map[string]string{
		"scope": "read write offline_access", "resource": w.url + "/mcp", "redirect_uri": callback, "client_id": "client-1",
		"code_challenge_method": "S256", "response_type": "code", "prompt": "consent",
	} {
		if q.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if err := c.FinishLogin(t.Context(), w.login(address)); err != nil {
		t.Fatal(err)
	}
	if got := token(t, other); got != "access-1" {
		t.Errorf("got %q", got)
	}
}

func TestAnAnswerThatBelongsToNoLoginIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*oauth.Answer, *shared)
		want   string
	}{
		"another browser": {func(a *oauth.Answer, _ *shared) { a.Browser = "other" }, "not known here, or is over"},
		"another state":   {func(a *oauth.Answer, _ *shared) { a.State = a.State[:80] + "A" }, "not known here, or is over"},
		"a short state":   {func(a *oauth.Answer, _ *shared) { a.State = "x" }, "not known here, or is over"},
		"too late":        {func(_ *oauth.Answer, s *shared) { s.pass(time.Hour) }, "not known here, or is over"},
		"another issuer":  {func(a *oauth.Answer, _ *shared) { a.Issuer = "https://evil.example.com" }, "not from the authorization server"},
		"a refusal":       {func(a *oauth.Answer, _ *shared) { a.Error = "access_denied" }, "access_denied"},
		"no code":         {func(a *oauth.Answer, _ *shared) { a.Code = "" }, "has no code"},
		"a wrong code":    {func(a *oauth.Answer, _ *shared) { a.Code = "code-of-another" }, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), newShared(t)
			c := s.worker(t, w.tools())
			address, err := c.BeginLogin(t.Context(), "", "browser")
			if err != nil {
				t.Fatal(err)
			}
			answer := w.login(address)
			tt.change(&answer, s)
			wantError(t, c.FinishLogin(t.Context(), answer), tt.want)
			if got := token(t, c); got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestALoginIsFinishedOnce(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c := s.worker(t, w.tools())
	old, err := c.BeginLogin(t.Context(), "", "browser")
	if err != nil {
		t.Fatal(err)
	}
	address, err := c.BeginLogin(t.Context(), "", "browser")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, c.FinishLogin(t.Context(), w.login(old)), "is over")
	answer := w.login(address)
	if err := c.FinishLogin(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	wantError(t, c.FinishLogin(t.Context(), answer), "is over")
}

func TestAServerThatNamesItsIssuerMustDoSo(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	w.issuer = func(m map[string]any) { m["authorization_response_iss_parameter_supported"] = true }
	c := s.worker(t, w.tools())
	for issuer, want := range map[string]string{"": "not from the authorization server", w.url + "/as": ""} {
		address, err := c.BeginLogin(t.Context(), "", "browser")
		if err != nil {
			t.Fatal(err)
		}
		answer := w.login(address)
		answer.Issuer = issuer
		if err := c.FinishLogin(t.Context(), answer); want != "" {
			wantError(t, err, want)
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestALoginThatCannotWorkIsNotBegun(t *testing.T) {
	for want, change := range map[string]func(*world, *oauth.Settings){
		"PKCE": func(w *world, _ *oauth.Settings) {
			w.issuer = func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }
		},
		"has no address to log in at": func(w *world, _ *oauth.Settings) {
			w.issuer = func(m map[string]any) { delete(m, "authorization_endpoint") }
		},
		"registers no clients itself": func(w *world, _ *oauth.Settings) {
			w.issuer = func(m map[string]any) { delete(m, "registration_endpoint") }
		},
		"logs in to this server by itself": func(w *world, s *oauth.Settings) { *s = w.credentials() },
	} {
		w := newWorld(t)
		settings := w.tools()
		change(w, &settings)
		_, err := newShared(t).worker(t, settings).BeginLogin(t.Context(), "", "browser")
		wantError(t, err, want)
	}
}

func TestALoginNeedsAnAddressToReturnTo(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, err := oauth.New(w.tools(), oauth.Options{Store: s, Keyring: s.ring})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.BeginLogin(t.Context(), "", "browser")
	wantError(t, err, "public_url")
}

func TestAClientMetadataDocumentReplacesTheRegistration(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	w.issuer = func(m map[string]any) { m["client_id_metadata_document_supported"] = true }
	const document = "https://agent.example.com/oauth/client.json"
	c, err := oauth.New(w.tools(), oauth.Options{RedirectURL: callback, MetadataURL: document, Store: s, Keyring: s.ring})
	if err != nil {
		t.Fatal(err)
	}
	logIn(t, w, c)
	if form := w.at("/token")[0].PostForm; form.Get("client_id") != document || form.Has("client_secret") || len(w.at("/register")) != 0 {
		t.Errorf("got %v", form)
	}
}
