package outbound_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract/network"
)

// serve starts a server that is closed at the end of the test.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// leadTo redirects everything.
func leadTo(target string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) }
}

// seen is a server that records its last request.
type seen struct {
	header http.Header
	body   string
	hits   int
}

func (s *seen) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.header, s.body = r.Header, string(body)
	s.hits++
}

func post(t *testing.T, client *http.Client, to string) (*http.Response, error) {
	t.Helper()
	t.Cleanup(client.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t0ken")
	req.Header.Set("X-Own", "mine")
	req.Header.Set("X-Kept", "kept")
	req.Header.Set("Content-Type", "text/plain")
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	return resp, err
}

func TestAPrivateAddressIsDialledOnlyWhenItIsTrusted(t *testing.T) {
	var s seen
	at := serve(t, s.ServeHTTP)
	name := strings.Replace(at, "127.0.0.1", "localhost", 1)
	for what, tt := range map[string]struct {
		options outbound.Options
		url     string
		ok      bool
	}{
		"nothing is said":          {outbound.Options{}, at, false},
		"by a name":                {outbound.Options{}, name, false},
		"trusted":                  {outbound.Options{Trusted: []string{at + "/path"}}, at, true},
		"trusted by its name":      {outbound.Options{Trusted: []string{name}}, strings.Replace(name, "localhost", "LocalHost", 1), true},
		"trusted on another port":  {outbound.Options{Trusted: []string{"http://127.0.0.1:1"}}, at, false},
		"trusted by another name":  {outbound.Options{Trusted: []string{at}}, name, false},
		"everything is":            {outbound.Options{Reach: network.ReachPrivate}, name, true},
		"this machine is":          {outbound.Options{Reach: network.ReachLoopback}, name, true},
		"a trusted URL that is no": {outbound.Options{Trusted: []string{"::", ""}}, at, false},
	} {
		t.Run(what, func(t *testing.T) {
			before := s.hits
			_, err := post(t, outbound.Client(tt.options), tt.url)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, outbound.ErrRefused) {
				t.Errorf("got %v", err)
			}
			if (s.hits > before) != tt.ok {
				t.Error("the request was sent, or was not")
			}
		})
	}
}

func TestRedirectsAreFollowedOnTheTrustedHost(t *testing.T) {
	var s seen
	mux := http.NewServeMux()
	mux.Handle("/end", &s)
	mux.HandleFunc("/begin", leadTo("/end", http.StatusTemporaryRedirect))
	at := serve(t, mux.ServeHTTP)
	if _, err := post(t, outbound.Client(outbound.Options{Trusted: []string{at}, Redirects: 1}), at+"/begin"); err != nil {
		t.Fatal(err)
	}
	if s.body != "body" || s.header.Get("Authorization") != "Bearer t0ken" || s.header.Get("X-Own") != "mine" {
		t.Errorf("got %q with %v", s.body, s.header)
	}
}

func TestARedirectToAPrivateAddressIsRefused(t *testing.T) {
	var s seen
	inside := serve(t, s.ServeHTTP)
	at := serve(t, leadTo(inside, http.StatusTemporaryRedirect))
	_, err := post(t, outbound.Client(outbound.Options{Trusted: []string{at}, Redirects: 5}), at)
	if !errors.Is(err, outbound.ErrRefused) || s.hits > 0 {
		t.Errorf("got %v after %d requests", err, s.hits)
	}
}

func TestHeadersStayBehindOnAnotherHost(t *testing.T) {
	var s seen
	var back string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if s.ServeHTTP(w, r); r.URL.Path == "/bounce" {
			http.Redirect(w, r, back, http.StatusTemporaryRedirect)
		}
	})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			s.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
	})
	back = at + "/back"
	for _, path := range []string{"/stay", "/bounce"} {
		client := outbound.Client(outbound.Options{Reach: network.ReachPrivate, Redirects: 5, Keep: []string{"x-kept"}})
		if _, err := post(t, client, at+path); err != nil {
			t.Fatal(err)
		}
		if h := s.header; h.Get("Authorization")+h.Get("X-Own") != "" || h.Get("X-Kept") != "kept" || h.Get("Content-Type") != "text/plain" || s.body != "body" {
			t.Errorf("%s: got %q with %v", path, s.body, h)
		}
	}
}

func TestRedirectsThatAreNotFollowedAreTheAnswer(t *testing.T) {
	var s seen
	plain := serve(t, s.ServeHTTP)
	secure := httptest.NewTLSServer(leadTo(plain, http.StatusTemporaryRedirect))
	t.Cleanup(secure.Close)
	endless := serve(t, leadTo("/again", http.StatusTemporaryRedirect))
	for what, tt := range map[string]struct {
		url     string
		options outbound.Options
		status  int
	}{
		"none":          {serve(t, leadTo(plain, http.StatusTemporaryRedirect)), outbound.Options{}, http.StatusTemporaryRedirect},
		"too many":      {endless, outbound.Options{Redirects: 5}, http.StatusTemporaryRedirect},
		"another way":   {serve(t, leadTo(plain, http.StatusFound)), outbound.Options{Redirects: 5}, http.StatusFound},
		"out of https":  {secure.URL, outbound.Options{Redirects: 5, Base: secure.Client().Transport.(*http.Transport)}, http.StatusTemporaryRedirect},
		"with new dial": {endless, outbound.Options{Redirects: 2, Fresh: true}, http.StatusTemporaryRedirect},
	} {
		t.Run(what, func(t *testing.T) {
			tt.options.Reach = network.ReachPrivate
			resp, err := post(t, outbound.Client(tt.options), tt.url)
			if err != nil || resp.StatusCode != tt.status || s.hits > 0 {
				t.Errorf("got %v, %v, %d requests arrived", resp, err, s.hits)
			}
		})
	}
}

func TestAProxyIsTrustedButNotWithPrivateAddresses(t *testing.T) {
	var s seen
	proxy, err := url.Parse(serve(t, s.ServeHTTP))
	if err != nil {
		t.Fatal(err)
	}
	client := outbound.Client(outbound.Options{Base: &http.Transport{Proxy: http.ProxyURL(proxy)}})
	if _, err := post(t, client, "http://agent.example/"); err != nil || s.hits != 1 {
		t.Errorf("a name: %v, %d requests", err, s.hits)
	}
	if _, err := post(t, client, "http://169.254.169.254/latest"); !errors.Is(err, outbound.ErrRefused) || s.hits != 1 {
		t.Errorf("an address: %v, %d requests", err, s.hits)
	}
}

func TestARequestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	at := serve(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := outbound.Client(outbound.Options{Reach: network.ReachPrivate}).Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNoReachHasMetadataOfClouds(t *testing.T) {
	for _, host := range []string{
		"169.254.169.254", "169.254.170.2", "[fe80::1]", "[fe80::a9fe:a9fe%25lo]", "[fd00:ec2::254]", "[fd20:ce::254]", "[::ffff:169.254.169.254]",
		"[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::a9fe:a9fe]", "100.100.100.200", "192.0.0.192", "168.63.129.16", "[ff02::1]",
	} {
		for _, reach := range []network.Reach{network.ReachPublic, network.ReachLoopback, network.ReachPrivate} {
			to := "http://" + host + "/latest/meta-data"
			if _, err := post(t, outbound.Client(outbound.Options{Reach: reach}), to); !errors.Is(err, outbound.ErrRefused) {
				t.Errorf("%s with reach %q: got %v", host, reach, err)
			}
			if network.CheckWebhook(to, reach) == nil {
				t.Errorf("%s with reach %q may be a webhook", host, reach)
			}
		}
	}
}

func TestWhatAReachAllows(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": "loopback private", "::1": "loopback private", "::ffff:127.0.0.1": "loopback private", "10.0.0.1": "private", "fd00::1": "private", "100.64.0.1": "private",
		"1.1.1.1": " loopback private", "169.254.1.1": "none",
	} {
		for _, reach := range []network.Reach{network.ReachPublic, network.ReachLoopback, network.ReachPrivate} {
			allowed := strings.Contains(want, string(reach)) && (reach != "" || strings.HasPrefix(want, " "))
			if got := reach.Allows(netip.MustParseAddr(address)); got != allowed {
				t.Errorf("%s with reach %q: %t", address, reach, got)
			}
		}
	}
}
