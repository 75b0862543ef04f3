package outbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"agent-stop-and-go/workflows/contract/network"
)

// ErrRefused is the error of a request that was not sent because only this machine or this
// network can reach its address.
var ErrRefused = errors.New("refused")

// guard is a transport that dials only allowed addresses.
type guard struct {
	*http.Transport
	reach          network.Reach
	trusted        map[string]bool // host:port
	proxies        sync.Map        // host:port
	dialer, strict net.Dialer
}

func newGuard(o Options) *guard {
	base := o.Base
	if base == nil {
		base = http.DefaultTransport.(*http.Transport)
	}
	timeout := cmp.Or(o.DialTimeout, 10*time.Second)
	g := &guard{Transport: base.Clone(), reach: o.Reach, trusted: trusted(o.Trusted)}
	g.dialer = net.Dialer{Timeout: timeout, KeepAlive: 15 * time.Second}
	g.strict = g.dialer
	g.strict.Control = g.refuse
	g.DialContext, g.DialTLSContext = g.dial, nil
	g.TLSHandshakeTimeout = timeout
	g.DisableKeepAlives = o.Fresh || base.DisableKeepAlives
	if proxy := base.Proxy; proxy != nil {
		g.Proxy = func(req *http.Request) (*url.URL, error) { return g.recordProxy(proxy(req)) }
	}
	return g
}

// recordProxy stores a proxy, which may have any address.
func (g *guard) recordProxy(proxy *url.URL, err error) (*url.URL, error) {
	if err == nil && proxy != nil {
		g.proxies.Store(authority(proxy), true)
	}
	return proxy, err
}

// RoundTrip refuses forbidden numeric addresses, also when a proxy would be used. All other
// addresses are checked when they are dialled.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !g.isTrusted(authority(req.URL)) {
		if ip, err := netip.ParseAddr(req.URL.Hostname()); err == nil && !g.reach.Allows(ip) {
			return nil, refused(ip)
		}
	}
	return g.Transport.RoundTrip(req)
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	at := strings.ToLower(address)
	_, proxy := g.proxies.Load(at)
	if proxy || g.isTrusted(at) {
		return g.dialer.DialContext(ctx, network, address)
	}
	return g.strict.DialContext(ctx, network, address)
}

// isTrusted reports whether host:port may have any address.
func (g *guard) isTrusted(address string) bool { return g.trusted[address] }

// refuse is called with each resolved address before it is dialled.
func (g *guard) refuse(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s is no address", ErrRefused, address)
	}
	if !g.reach.Allows(at.Addr()) {
		return refused(at.Addr())
	}
	return nil
}

func refused(ip netip.Addr) error {
	return fmt.Errorf("%w: %s is a private or special address", ErrRefused, ip)
}

func trusted(urls []string) map[string]bool {
	out := map[string]bool{}
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			continue
		}
		at := authority(u)
		out[at] = true
		if host, port, _ := net.SplitHostPort(at); port == "80" {
			out[net.JoinHostPort(host, "443")] = true
		}
	}
	return out
}
