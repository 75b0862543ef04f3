package contract_test

import (
	"strings"
	"testing"

	. "agent-stop-and-go/workflows/contract"
)

func TestSameIdentity(t *testing.T) {
	alice := Identity{Subject: "alice", Issuer: "keys", Groups: []string{"ops"}}
	for name, tt := range map[string]struct {
		other Identity
		want  bool
	}{
		"issuer and subject":   {Identity{Subject: "alice", Issuer: "keys", Scopes: []string{ScopeRead}}, true},
		"another issuer":       {Identity{Subject: "alice", Issuer: "proxy"}, false},
		"no issuer":            {Identity{Subject: "alice"}, false},
		"another subject":      {Identity{Subject: "Alice", Issuer: "keys"}, false},
		"nobody":               {Identity{}, false},
		"nobody of the issuer": {Identity{Issuer: "keys"}, false},
	} {
		if got := alice.Same(tt.other); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if (Identity{}).Same(Identity{}) {
		t.Error("nobody is the same caller as nobody")
	}
}

func TestKeyOfIdentity(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, tt := range []struct {
		identity Identity
		want     string
	}{
		{Identity{}, ""},
		{Identity{Issuer: "keys"}, ""},
		{Identity{Subject: "key:ci", Issuer: "keys"}, "keys key:ci"},
		{Identity{Subject: "o'hara \\ \"x\" %", Issuer: "https://login.example.com"}, "https://login.example.com o%27hara%20%5C%20%22x%22%20%25"},
	} {
		if got := tt.identity.Key(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.identity, got, tt.want)
		}
	}
	a, b := Identity{Subject: long, Issuer: "proxy"}.Key(), Identity{Subject: long[:198] + "e", Issuer: "proxy"}.Key()
	if len(a) > 255 || len(b) > 255 || a == b {
		t.Errorf("long keys: %q and %q", a, b)
	}
}
