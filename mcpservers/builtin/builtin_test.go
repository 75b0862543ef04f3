package builtin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/builtin"
)

func TestOnlyAddressesOfTheInternetArePublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "127.0.0.1": false, "::1": false, "10.1.2.3": false, "192.168.0.1": false, "172.16.0.1": false,
		"169.254.169.254": false, "fe80::1": false, "fd00::1": false, "0.0.0.0": false, "::": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "192.0.0.192": false, "168.63.129.16": false, "198.18.0.1": false, "fec0::1": false, "::ffff:10.0.0.1": false,
	} {
		if got := builtin.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestFetchReadsPagesAndNothingInside(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			fmt.Fprint(w, "ééé")
		}
	}))
	defer s.Close()
	open := builtin.NewFetcher(func(netip.Addr) bool { return true })
	if got, err := builtin.Fetch(open, t.Context(), builtin.FetchInput{URL: s.URL, MaxLength: 5}); err != nil || got.Text != "éé" || !got.Cut || got.Status != 200 {
		t.Errorf("%+v %v", got, err)
	}
	for url, want := range map[string]string{s.URL + "/loop": "more than five redirects", "file:///etc/passwd": "must begin with http", "x": "must begin with http"} {
		if got, err := builtin.Fetch(open, t.Context(), builtin.FetchInput{URL: url}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v", url, got, err)
		}
	}
	if got, err := builtin.Fetch(builtin.NewFetcher(builtin.Public), t.Context(), builtin.FetchInput{URL: s.URL}); err == nil || !strings.Contains(err.Error(), "is not an address of the Internet") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWhatIsNotBuiltInIsAnError(t *testing.T) {
	if tools, err := builtin.Tools([]string{"fetch", "echo", "echo"}); err != nil || len(tools) != 2 {
		t.Errorf("%v %v", tools, err)
	}
	for _, name := range []string{"sqlite", "x"} {
		if _, err := builtin.Tools([]string{name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
	}
}
