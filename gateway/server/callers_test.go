package server

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway/identity"
)

// A key or token that does not hold is refused even behind a proxy that adds a name, whatever
// the order in the file.
func TestProofsCountBeforeTheHeaderOfAProxy(t *testing.T) {
	proxy := config.AuthWay{Type: config.AuthProxy, From: []string{"192.0.2.1"}, Header: "X-Subject"} // as httptest has it
	c := &config.Config{DataDir: t.TempDir(), Auth: []config.AuthWay{proxy, {Type: config.AuthKeys}}}
	callers, err := callersOf(c, Parts{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ways := callers.ways
	t.Cleanup(ways.Close)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Subject", "alice")
	if caller, err := ways.Identify(r); err != nil || caller.Subject != "alice" {
		t.Fatalf("without a key: got %+v, %v", caller, err)
	}
	r.Header.Set("Authorization", "Bearer asg_revoked")
	var refused *identity.Refused
	if caller, err := ways.Identify(r); !errors.As(err, &refused) {
		t.Errorf("with a key that is not known: got %+v, %v", caller, err)
	}
}

// A proxy that only passes requests on needs no auth: [{type: proxy}] for its headers to count.
func TestTrustedProxiesSayWhereClientsComeFrom(t *testing.T) {
	c := &config.Config{DataDir: t.TempDir(), TrustedProxies: []string{"192.0.2.0/24"}, Auth: []config.AuthWay{{Type: config.AuthKeys}}}
	callers, err := callersOf(c, Parts{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(callers.ways.Close)
	r := httptest.NewRequest(http.MethodGet, "/", nil) // from 192.0.2.1
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	r.Header.Set("X-Forwarded-Proto", "https")
	if got := callers.proxies.Client(r); got.String() != "198.51.100.7" || callers.proxies.Scheme(r) != "https" {
		t.Errorf("from %s, %s", got, callers.proxies.Scheme(r))
	}
	if _, err := callers.ways.Identify(r); !errors.Is(err, identity.ErrNothingShown) {
		t.Errorf("the proxy proves something: %v", err)
	}
}
