package identity_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
)

func proxyWay() *identity.Proxy {
	return &identity.Proxy{
		From:   []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		Header: "X-Subject", GroupsHeader: "X-Groups",
		Grants: identity.Grants{Scopes: []string{contract.ScopeRead}, Groups: map[string][]string{"ops": {contract.ScopeOperate}}},
	}
}

func TestHeadersOfAProxy(t *testing.T) {
	for name, tc := range map[string]struct {
		from   string
		header http.Header
		want   contract.Identity
		err    string
	}{
		"the proxy": {from: "10.1.2.3:40000", header: http.Header{"X-Subject": {"alice"}, "X-Groups": {"ops, staff,"}},
			want: contract.Identity{Subject: "alice", Issuer: "proxy", Groups: []string{"ops", "staff"}, Scopes: []string{"read", "operate"}}},
		"by IPv4 in IPv6": {from: "[::ffff:10.1.2.3]:40000", header: http.Header{"X-Subject": {"alice"}},
			want: contract.Identity{Subject: "alice", Issuer: "proxy", Scopes: []string{"read"}}},
		"by IPv6": {from: "[::1]:40000", header: http.Header{"X-Subject": {"alice"}},
			want: contract.Identity{Subject: "alice", Issuer: "proxy", Scopes: []string{"read"}}},
		"somebody else":       {from: "192.0.2.1:40000", header: http.Header{"X-Subject": {"alice"}, "X-Forwarded-For": {"10.1.2.3"}}, err: "does not say who calls"},
		"no address":          {from: "@", header: http.Header{"X-Subject": {"alice"}}, err: "does not say who calls"},
		"nobody":              {from: "10.1.2.3:40000", header: http.Header{"X-Groups": {"ops"}}, err: "does not say who calls"},
		"an empty name":       {from: "10.1.2.3:40000", header: http.Header{"X-Subject": {" "}}, err: "names nobody"},
		"a second name":       {from: "10.1.2.3:40000", header: http.Header{"X-Subject": {"mallory", "alice"}}, err: "2 times"},
		"a second group list": {from: "10.1.2.3:40000", header: http.Header{"X-Subject": {"alice"}, "X-Groups": {"ops", "staff"}}, err: "2 times"},
		"a name of control characters": {from: "10.1.2.3:40000", header: http.Header{"X-Subject": {"alice\u202e"}},
			err: "printable"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr, r.Header = tc.from, tc.header
			got, err := identity.Ways{proxyWay()}.Identify(r)
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && err != nil {
				t.Fatalf("got %+v, %v, want error %q", got, err, tc.err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestManyGroups(t *testing.T) {
	way := proxyWay()
	way.Grants.Known = []string{"known"}
	var groups []string
	for i := range 200 {
		groups = append(groups, fmt.Sprint("g", i))
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "10.0.0.1:1"
	r.Header = http.Header{"X-Subject": {"alice"}, "X-Groups": {strings.Join(append(groups, "ops", "known", "ops"), ",")}}
	got, err := identity.Ways{way}.Identify(r)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"known", "ops"}, got.Groups); d != "" {
		t.Error(d)
	}
}

func TestKeysOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	text, err := keys.Add(path, "ci", []string{contract.ScopeConverse}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	reader := keys.NewReader(path, slog.New(slog.DiscardHandler))
	defer reader.Close()
	ways := identity.Ways{identity.NewKeys(reader), proxyWay()}
	got, err := ways.Identify(ask(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(contract.Identity{Subject: "ci", Issuer: "keys", Scopes: []string{"converse"}}, got); d != "" {
		t.Error(d)
	}
	for name, r := range map[string]*http.Request{
		"another key":                ask(text[:len(text)-1] + "x"),
		"a key and a proxy's header": behindProxy(ask(keys.Prefix + "nonsense")),
		"two keys":                   twice(ask(text)),
	} {
		var refused *identity.Refused
		if caller, err := ways.Identify(r); !errors.As(err, &refused) {
			t.Errorf("%s: got %+v, %v", name, caller, err)
		}
	}
	if _, err := ways.Identify(httptest.NewRequest(http.MethodGet, "/", nil)); !errors.Is(err, identity.ErrNothingShown) {
		t.Errorf("without anything: %v", err)
	}
}

func behindProxy(r *http.Request) *http.Request {
	r.RemoteAddr = "10.0.0.1:1"
	r.Header.Set("X-Subject", "alice")
	return r
}

func twice(r *http.Request) *http.Request {
	r.Header.Add("Authorization", r.Header.Get("Authorization"))
	return r
}

// Directories name groups by their whole path.
func TestAGroupWithALongNameLocksNobodyOut(t *testing.T) {
	long := strings.Repeat("a long path/", 20)
	way := proxyWay()
	way.Grants.Groups[long] = []string{contract.ScopeApprove}
	r := behindProxy(httptest.NewRequest(http.MethodGet, "/", nil))
	r.Header.Set("X-Groups", "staff,"+long)
	got, err := identity.Ways{way}.Identify(r)
	want := contract.Identity{Subject: "alice", Issuer: "proxy", Groups: []string{"staff"}, Scopes: []string{"read", "approve"}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}
