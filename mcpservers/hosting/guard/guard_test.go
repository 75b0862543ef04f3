package guard_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting/guard"
)

const (
	overLoopback = "127.0.0.1:8080"
	overNetwork  = "192.0.2.7:8080"
)

// request returns a request that came to a local address. Headers are "Name: value".
func request(method, local, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/conversations", nil)
	r.Host = host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local)))))
}

func status(rules guard.Rules, r *http.Request) int {
	if refused := rules.Check(r); refused != nil {
		return refused.Status
	}
	return http.StatusOK
}

func TestHosts(t *testing.T) {
	rules := guard.Rules{Hosts: []string{"agents.example.com", "fd00:0::2", "[fd00::1]", "0.0.0.0"}}
	for host, want := range map[string]int{
		"localhost": 200, "LocalHost:9": 200, "localhost.": 200, "app.localhost:8080": 200, "127.0.0.1": 200, "127.5.5.5:1": 200,
		"[::1]:9": 200, "[::ffff:127.0.0.1]": 200, "127.0.0.1.": 200,
		"agents.example.com": 200, "AGENTS.example.com.:443": 200, "[fd00::2]": 200, "[FD00:0::1]:80": 200, "[fd00::2%eth0]": 200, "0.0.0.0:8080": 200,
		"192.0.2.7": 200, "192.0.2.7:80": 200, "[::ffff:192.0.2.7]": 200, // the local address

		"": 421, "evil.example": 421, "localhost.evil.example": 421, "evillocalhost": 421, "agents.example.com.evil.example": 421,
		"192.0.2.8": 421, "[fd00::3]": 421, "[]": 421, "fd00": 421, "fd00::2": 421, "127.1": 421, "0x7f.0.0.1": 421, "2130706433": 421,
		"localhost:x": 421, "localhost:80@evil.example": 421, "evil.example@localhost": 421, "localhost/": 421, "localhost#": 421,
		"localhost, evil.example": 421, "evil.example, localhost": 421, " localhost": 421, "localhost\x00": 421, "%6cocalhost": 421,
		"[::1": 421, "::1": 421, "[::1]evil": 421, "[evil%]": 421, "\u017focalhost": 421, "loca\u200blhost": 421, "*": 421,
	} {
		if got := status(rules, request("GET", overNetwork, host)); got != want {
			t.Errorf("Host %q: %d, expected %d", host, got, want)
		}
	}
}

func TestAnAddressThatIsNotTheConnectionsIsRefused(t *testing.T) {
	for local, want := range map[string]int{"192.0.2.7:1": 200, "[::ffff:192.0.2.7]:1": 200, "192.0.2.9:1": 421, overLoopback: 421, "[fe80::1%2]:1": 421} {
		if got := status(guard.Rules{}, request("GET", local, "192.0.2.7:8080")); got != want {
			t.Errorf("at %s: %d, expected %d", local, got, want)
		}
	}
	if got := status(guard.Rules{}, request("GET", "[fe80::1%2]:1", "[fe80::1]:8080")); got != 200 {
		t.Errorf("an address with a zone: %d", got)
	}
}

func TestForwardedNamesDoNotCount(t *testing.T) {
	for _, header := range []string{"X-Forwarded-Host: localhost", "Forwarded: host=localhost", "X-Original-Host: localhost"} {
		if got := status(guard.Rules{}, request("GET", overLoopback, "evil.example", header)); got != 421 {
			t.Errorf("%s: %d", header, got)
		}
	}
	if got := status(guard.Rules{}, request("GET", overLoopback, "localhost", "X-Forwarded-Host: evil.example")); got != 200 {
		t.Errorf("%d", got)
	}
}

func TestOrigins(t *testing.T) {
	rules := guard.Rules{Hosts: []string{"agents.example.com"}, Origins: []string{"https://chat.example.com", "app://desk"}}
	for _, test := range []struct {
		local, host, origin string
		want                int
	}{
		{overLoopback, "localhost:8080", "http://localhost:8080", 200},
		{overLoopback, "localhost:8080", "http://localhost:3000", 200},
		{overLoopback, "localhost:8080", "http://[::1]", 200},
		{overLoopback, "localhost:8080", "https://agents.example.com", 200}, // a proxy that rewrites Host
		{overLoopback, "localhost:8080", "https://chat.example.com", 200},
		{overLoopback, "localhost:8080", "https://CHAT.example.com", 200},
		{overLoopback, "localhost:8080", "app://desk", 200},
		{overLoopback, "localhost:8080", "http://chat.example.com", 403},
		{overLoopback, "localhost:8080", "https://chat.example.com:8443", 403},
		{overLoopback, "localhost:8080", "https://evil.example", 403},
		{overLoopback, "localhost:8080", "https://localhost.evil.example", 403},
		{overLoopback, "localhost:8080", "http://localhost@evil.example", 403},
		{overLoopback, "localhost:8080", "null", 403},
		{overLoopback, "localhost:8080", "localhost", 403},
		{overLoopback, "localhost:8080", "file://", 403},
		{overLoopback, "localhost:8080", "chrome-extension://localhost", 403},
		{overLoopback, "localhost:8080", "http://127.1", 403},
		{overNetwork, "192.0.2.7:8080", "http://192.0.2.7:8080", 200},
		{overNetwork, "192.0.2.7:8080", "http://192.0.2.8:8080", 403},
		{overNetwork, "192.0.2.7:8080", "http://localhost:8080", 403},
		{overNetwork, "localhost:8080", "http://localhost:3000", 403}, // a published port of a container
		{overNetwork, "localhost:8080", "http://localhost:8080", 200},
	} {
		if got := status(rules, request("POST", test.local, test.host, "Origin: "+test.origin)); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestSecFetchSite(t *testing.T) {
	rules := guard.Rules{Origins: []string{"https://chat.example.com"}}
	const link = "Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document|"
	for _, test := range []struct {
		method, headers string
		want            int
	}{
		{"GET", "Sec-Fetch-Site: none", 200},
		{"POST", "Sec-Fetch-Site: same-origin", 200},
		{"POST", "Sec-Fetch-Site: same-site|Origin: http://localhost:3000", 200},
		{"POST", "Sec-Fetch-Site: same-site|Origin: http://evil.example", 403},
		{"GET", "Sec-Fetch-Site: cross-site", 403},
		{"POST", "Sec-Fetch-Site: cross-site", 403},
		{"POST", "Sec-Fetch-Site: cross-site|Origin: http://localhost:3000", 403},
		{"POST", "Sec-Fetch-Site: cross-site|Origin: https://chat.example.com", 200},
		{"GET", "Sec-Fetch-Site: cross-site|" + link, 200},
		{"HEAD", "Sec-Fetch-Site: cross-site|" + link, 200},
		{"POST", "Sec-Fetch-Site: cross-site|" + link, 403},
		{"GET", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe", 403},
		{"GET", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: object", 403},
		{"GET", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", 403},
		{"OPTIONS", "Sec-Fetch-Site: cross-site|Origin: https://chat.example.com", 200},
		{"OPTIONS", "Sec-Fetch-Site: cross-site|Origin: https://evil.example", 403},
	} {
		if got := status(rules, request(test.method, overLoopback, "localhost", strings.Split(strings.TrimSuffix(test.headers, "|"), "|")...)); got != test.want {
			t.Errorf("%s %s: %d, expected %d", test.method, test.headers, got, test.want)
		}
	}
}

func TestOpenNetwork(t *testing.T) {
	open := guard.Rules{OpenNetwork: true, HostStatus: http.StatusForbidden}
	listed := guard.Rules{OpenNetwork: true, Hosts: []string{"tools"}}
	for _, test := range []struct {
		rules guard.Rules
		local string
		want  int
	}{{open, overNetwork, 200}, {open, overLoopback, 403}, {listed, overNetwork, 421}, {guard.Rules{Hosts: []string{"*"}}, overLoopback, 200}} {
		if got := status(test.rules, request("GET", test.local, "evil.example")); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
	if got := status(open, request("POST", overNetwork, "evil.example", "Origin: http://evil.example")); got != 403 {
		t.Errorf("a rebound page: %d", got)
	}
}

func TestRefusalsNameTheSetting(t *testing.T) {
	for _, test := range []struct{ host, origin, text string }{
		{"evil.example", "", "allowed_hosts"}, {"localhost", "http://evil.example", "allowed_origins"}, {"", "", "(none)"},
		{strings.Repeat("x", 5000) + "\n", "", "…"},
	} {
		refused := guard.Rules{}.Check(request("GET", overLoopback, test.host, "Origin: "+test.origin))
		if refused == nil || !strings.Contains(refused.Text, test.text) || len(refused.Text) > 300 || strings.Contains(refused.Text, "\n") {
			t.Errorf("%.40q: %v", test, refused)
		}
	}
}

func TestIsJSON(t *testing.T) {
	for kind, want := range map[string]bool{
		"application/json": true, "Application/JSON; charset=utf-8": true, "application/json;charset=UTF-8": true, "application/a2a+json": true,
		"": false, "text/plain": false, "text/plain; x=application/json": false, "application/x-www-form-urlencoded": false,
		"multipart/form-data; boundary=x": false, "text/json": false, "text/x+json": false, "application/jsonp": false,
		"application/json, text/plain": false, "text/plain,application/json": false, "application/json;": true,
	} {
		if got := guard.IsJSON(kind); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

func TestHandlerServesWhatIsNotRefused(t *testing.T) {
	served := 0
	h := guard.Rules{}.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	for host, want := range map[string]int{"localhost": 200, "evil.example": 421} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, request("GET", overLoopback, host)); w.Code != want {
			t.Errorf("%s: %d", host, w.Code)
		}
	}
	if served != 1 {
		t.Errorf("served %d times", served)
	}
}

// A browser takes the Host of a page's requests from the page's URL. If a request is served,
// the host of that URL must be a name of the server.
func FuzzAForeignHostIsRefused(f *testing.F) {
	for _, host := range []string{"localhost", "evil.example:80", "127.0.0.1", "[::1]:1", "agents.example.com.", "x.localhost", "192.0.2.7", "%6c", "a@b", "LOCALHOST:"} {
		f.Add(host)
	}
	rules := guard.Rules{Hosts: []string{"agents.example.com"}}
	f.Fuzz(func(t *testing.T, host string) {
		if rules.Check(request("GET", overNetwork, host)) != nil {
			return
		}
		u, err := url.Parse("http://" + host)
		if err != nil {
			t.Skip("no browser goes there")
		}
		if name := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); !isOwnName(name) {
			t.Errorf("Host %q was served, and a browser takes it for %q", host, name)
		}
	})
}

// isOwnName reports whether name is a name of the server. It is deliberately independent of the
// guard's code.
func isOwnName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "agents.example.com" {
		return true
	}
	name, _, _ = strings.Cut(name, "%")
	ip := net.ParseIP(name)
	return ip != nil && (ip.IsLoopback() || ip.Equal(net.IPv4(192, 0, 2, 7)))
}
