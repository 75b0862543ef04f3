package forwarded_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"agent-stop-and-go/gateway/identity/forwarded"
)

var proxies = forwarded.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/64")}

func request(from string, header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr, r.Header = from, header
	return r
}

func TestOnlyKnownProxiesSayWithWhichSchemeAClientHasCome(t *testing.T) {
	https := http.Header{"X-Forwarded-Proto": {"HTTPS"}}
	for name, tc := range map[string]struct {
		from   string
		header http.Header
		want   string
	}{
		"a known proxy":       {"10.1.2.3:1", https, "https"},
		"this machine":        {"127.0.0.1:1", https, "https"},
		"this machine, IPv6":  {"[::1]:1", https, "https"},
		"IPv4 in IPv6":        {"[::ffff:10.1.2.3]:1", https, "https"},
		"somebody":            {"192.0.2.1:1", https, "http"},
		"no address":          {"@", https, "http"},
		"nothing":             {"10.1.2.3:1", nil, "http"},
		"another scheme":      {"10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"javascript"}}, "http"},
		"several at once":     {"10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"https,http"}}, "http"},
		"other headers":       {"10.1.2.3:1", http.Header{"X-Forwarded-Ssl": {"on"}, "X-Url-Scheme": {"https"}}, "http"},
		"a claimed forwarder": {"192.0.2.1:1", http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {"10.1.2.3"}}, "http"},
	} {
		if got := proxies.Scheme(request(tc.from, tc.header)); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
	r := request("192.0.2.1:1", nil)
	r.TLS = &tls.ConnectionState{}
	if got := proxies.Scheme(r); got != "https" {
		t.Errorf("a connection with TLS: got %s", got)
	}
}

func TestTheClientIsTheLastThatIsNoKnownProxy(t *testing.T) {
	for name, tc := range map[string]struct {
		from string
		way  []string
		want string
	}{
		"no proxy":                   {"192.0.2.1:5", []string{"198.51.100.1"}, "192.0.2.1"},
		"one proxy":                  {"10.0.0.1:5", []string{"192.0.2.1"}, "192.0.2.1"},
		"two proxies":                {"10.0.0.1:5", []string{"192.0.2.1, 10.0.0.2"}, "192.0.2.1"},
		"two headers":                {"10.0.0.1:5", []string{"192.0.2.1", "10.0.0.2"}, "192.0.2.1"},
		"a claim before the address": {"10.0.0.1:5", []string{"198.51.100.1, 192.0.2.1"}, "192.0.2.1"},
		"a port":                     {"[fd00::1]:5", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		"this machine":               {"127.0.0.1:5", []string{"192.0.2.1"}, "192.0.2.1"},
		"proxies only":               {"10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"no list":                    {"10.0.0.1:5", nil, "10.0.0.1"},
		"no addresses":               {"10.0.0.1:5", []string{"unknown"}, "10.0.0.1"},
		"a zone":                     {"[fe80::1%eth0]:5", nil, "fe80::1"},
	} {
		if got := proxies.Client(request(tc.from, http.Header{"X-Forwarded-For": tc.way})); got.String() != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
	if got := proxies.Client(request("@", nil)); got.IsValid() {
		t.Errorf("no address: got %s", got)
	}
}
