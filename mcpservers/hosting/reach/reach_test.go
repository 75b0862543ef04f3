package reach_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/reach"

	"golang.org/x/net/dns/dnsmessage"
)

func TestOnlyAddressesOfTheInternetArePublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "1.1.1.1": true, "2606:2800:220:1::1": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true, "192.0.1.1": true,
		"127.0.0.1": false, "127.255.255.254": false, "::1": false, "::": false, "0.0.0.0": false, "0.1.2.3": false, // this machine
		"10.1.2.3": false, "192.168.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "fd00::1": false, "fc00::1": false, // private
		"169.254.1.1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, // link-local, site-local
		"100.64.0.1": false, "100.127.255.255": false, // shared by customers of a provider
		"224.0.0.1": false, "239.255.255.255": false, "ff02::1": false, "ff0e::1": false, "255.255.255.255": false, // many
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::7f00:1": false, "::ffff:0:7f00:1": false, // IPv4 in IPv6
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::7f00:1": false, "2002:7f00:1::": false, "2001:0:7f00:1::": false, // translated
		"169.254.169.254": false, "fd00:ec2::254": false, "fd20:ce::254": false, "168.63.129.16": false, "100.100.100.200": false, "192.0.0.192": false, // metadata
		"192.0.2.1": false, "198.51.100.1": false, "203.0.113.1": false, "198.18.0.1": false, "2001:db8::1": false, "3fff::1": false, "100::1": false,
		"240.0.0.1": false, "192.88.99.1": false, "4000::1": false,
	} {
		if got := reach.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

// site is a server on loopback that counts what reaches it. It redirects /to?url=URL to that URL.
type site struct {
	*httptest.Server
	port  string
	calls atomic.Int32
}

func newSite(t *testing.T) *site {
	s := new(site)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if to := r.FormValue("url"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	s.port = fmt.Sprint(s.Listener.Addr().(*net.TCPAddr).Port)
	return s
}

func rules(t *testing.T, private ...string) reach.Rules {
	t.Helper()
	r, err := reach.New(private)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func get(t *testing.T, r reach.Rules, url string) error {
	t.Helper()
	client := r.Client(5 * time.Second)
	defer client.CloseIdleConnections()
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// inside are notations of addresses of this machine and its network; P is a port.
var inside = []string{
	"http://127.0.0.1:P/", "http://127.1:P/", "http://127.0.1:P/", "http://2130706433:P/", "http://0x7f000001:P/", "http://0x7f.0.0.1:P/",
	"http://0177.0.0.1:P/", "http://017700000001:P/", "http://127.0.0.1.:P/", "http://0:P/", "http://0.0.0.0:P/", "http://localhost:P/", "http://LOCALHOST.:P/",
	"http://[::1]:P/", "http://[::]:P/", "http://[::ffff:127.0.0.1]:P/", "http://[::ffff:7f00:1]:P/", "http://[0:0:0:0:0:ffff:127.0.0.1]:P/",
	"http://[::127.0.0.1]:P/", "http://[64:ff9b::127.0.0.1]:P/", "http://[::1%25lo]:P/", "http://①②⑦.⓪.⓪.①:P/", "http://127。0。0。1:P/", "http://%31%32%37.0.0.1:P/",
	"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://10.0.0.1/", "http://192.168.1.1/", "http://100.64.0.1/", "http://224.0.0.1/",
	"http://[fe80::1]/", "http://168.63.129.16/", "http://user@127.0.0.1:P/", "http://example.com@127.0.0.1:P/", "http://127.0.0.1:22/",
	"file:///etc/passwd", "gopher://127.0.0.1:P/", "ftp://127.0.0.1:P/", "unix:///var/run/docker.sock", "data:text/plain,x", "//127.0.0.1:P/", "http://", "http:///x",
}

func TestNoNotationReachesTheInside(t *testing.T) {
	s := newSite(t)
	for _, text := range inside {
		if err := get(t, reach.Rules{}, strings.ReplaceAll(text, ":P/", ":"+s.port+"/")); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if n := s.calls.Load(); n != 0 {
		t.Errorf("%d requests came inside", n)
	}
}

// The first host is allowed, and redirects. What it redirects to is checked like any other address.
func TestNoRedirectReachesTheInside(t *testing.T) {
	target, s := newSite(t), newSite(t)
	answers := resolver(t, func(string, int) string { return "127.0.0.1" })
	r := reach.WithResolver(rules(t, "allowed.example"), answers)
	for _, text := range inside {
		if text == "//127.0.0.1:P/" || text == "http:///x" { // relative to the first host, or no redirect at all
			continue
		}
		before := s.calls.Load()
		to := url.QueryEscape(strings.ReplaceAll(text, ":P/", ":"+target.port+"/"))
		if err := get(t, r, "http://allowed.example:"+s.port+"/to?url="+to); err == nil {
			t.Errorf("a redirect to %s was followed", text)
		}
		if s.calls.Load() != before+1 {
			t.Errorf("%s: the first host was not asked", text)
		}
	}
	if n := target.calls.Load(); n != 0 {
		t.Errorf("%d requests came inside", n)
	}
	if err := get(t, r, "http://allowed.example:"+s.port+"/to?url=/to?url=/"); err != nil {
		t.Errorf("a redirect to the same host: %v", err)
	}
	loop := "http://allowed.example:" + s.port + "/loop?url=" + url.QueryEscape("/loop?url="+url.QueryEscape("/x?url=/x"))
	if err := get(t, r, loop); err != nil {
		t.Errorf("three redirects: %v", err)
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }))
	defer endless.Close()
	if err := get(t, rules(t, "127.0.0.1"), endless.URL); err == nil || !strings.Contains(err.Error(), "more than five redirects") {
		t.Errorf("endless redirects: %v", err)
	}
}

// A name may have an allowed address when it is looked up first, and another one when it is looked up
// again. There is one lookup: what is checked is the address that is connected to.
func TestRebindingDoesNotReachTheInside(t *testing.T) {
	s := newSite(t)
	turns := resolver(t, func(_ string, n int) string { return []string{"127.0.0.2", "127.0.0.1"}[n%2] })
	r := reach.WithResolver(rules(t, "127.0.0.2"), turns)
	for i := range 6 { // with 127.0.0.2, where nobody listens, and with 127.0.0.1
		if err := get(t, r, "http://rebind.example:"+s.port+"/"); err == nil || errors.Is(err, reach.ErrRefused) != (i%2 == 1) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := s.calls.Load(); n != 0 {
		t.Errorf("%d requests came inside", n)
	}
}

func TestPrivateHosts(t *testing.T) {
	s := newSite(t)
	answers := map[string]string{"wiki.corp.example.": "127.0.0.1", "corp.example.": "127.0.0.1", "other.example.": "127.0.0.1", "meta.corp.example.": "169.254.169.254", "meta2.corp.example.": "168.63.129.16"}
	names := resolver(t, func(name string, _ int) string { return answers[name] })
	for _, test := range []struct {
		private, url string
		allowed      bool
	}{
		{"wiki.corp.example", "http://wiki.corp.example:P/", true},
		{"WIKI.corp.example.", "http://wiki.CORP.example.:P/", true},
		{"*.corp.example", "http://wiki.corp.example:P/", true},
		{"*.corp.example", "http://corp.example:P/", false},
		{"*.corp.example", "http://other.example:P/", false},
		{"corp.example", "http://wiki.corp.example:P/", false},
		{"wiki.corp.example", "http://127.0.0.1:P/", false},
		{"127.0.0.0/8", "http://wiki.corp.example:P/", true},
		{"127.0.0.1", "http://127.0.0.1:P/", true},
		{"::ffff:127.0.0.1", "http://127.0.0.1:P/", true},
		{"127.0.0.1", "http://[::ffff:127.0.0.1]:P/", true},
		{"127.0.0.2", "http://127.0.0.1:P/", false},
		{"10.0.0.0/8", "http://127.0.0.1:P/", false},
		{"*.corp.example", "http://meta.corp.example/", false},  // link-local
		{"*.corp.example", "http://meta2.corp.example/", false}, // metadata
		{"0.0.0.0/0", "http://meta.corp.example/", false},
		{"169.254.0.0/16", "http://169.254.169.254/", false},
		{"::/0", "http://[2002:a9fe:a9fe::1]/", false}, // embedded
		{"::/0", "http://[::a9fe:a9fe]/", false},
		{"::/0", "http://[2002:a83f:8110::1]/", false},
	} {
		err := get(t, reach.WithResolver(rules(t, test.private), names), strings.ReplaceAll(test.url, ":P/", ":"+s.port+"/"))
		if test.allowed && err != nil || !test.allowed && !errors.Is(err, reach.ErrRefused) {
			t.Errorf("%s with %s: %v", test.url, test.private, err)
		}
	}
}

func TestPortsAreThoseOfTheWeb(t *testing.T) {
	for text, private := range map[string]string{"http://example.com:22/": "", "http://example.com:25/": "", "http://example.com:99999/": "", "http://example.com:0/": "", "http://10.0.0.2:22/": "10.0.0.1"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var r reach.Rules
		if private != "" {
			r = rules(t, private)
		}
		if err := r.CheckURL(u); !errors.Is(err, reach.ErrRefused) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"http://example.com/", "https://example.com:443/", "http://example.com:8080/", "http://10.0.0.1:81/", "http://db.corp:81/"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := rules(t, "10.0.0.1", "db.corp").CheckURL(u); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWrongPrivateHostsAreNamed(t *testing.T) {
	for _, host := range []string{"http://x", "x:80", "x/y", "", "a..b", "*", "10.0.0.0/99", "ex*mple.com"} {
		if _, err := reach.New([]string{"fine.example", host}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", host)) {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// resolver asks a name server of the test, whose answer for a name is an IPv4 address. The function gets
// the number of the lookup.
func resolver(t *testing.T, answer func(name string, n int) string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for n := 0; ; {
			size, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:size]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			if q.Type == dnsmessage.TypeA {
				if address, err := netip.ParseAddr(answer(strings.ToLower(q.Name.String()), n)); err == nil {
					m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: address.As4()}}}
				}
				n++
			}
			packed, err := m.Pack()
			if err != nil {
				continue
			}
			_, _ = conn.WriteTo(packed, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}
