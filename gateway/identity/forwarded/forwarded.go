// Package forwarded reads what proxies say of the connections that they pass on: X-Forwarded-Proto
// and X-Forwarded-For. A client can write these headers too, so only proxies are believed that are
// known, and programs on this machine.
package forwarded

import (
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks of known proxies.
type Proxies []netip.Prefix

// Known reports whether a known proxy, or a program on this machine, has sent a request.
func (p Proxies) Known(r *http.Request) bool {
	from, ok := address(r.RemoteAddr)
	return ok && p.has(from)
}

func (p Proxies) has(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Scheme returns the scheme with which the client has come: http or https.
func (p Proxies) Scheme(r *http.Request) string {
	if r.TLS != nil || p.Known(r) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https"
	}
	return "http"
}

// Client returns the address of the client: the last one on the way here that is not a known
// proxy. It is the zero Addr if the connection has no address.
func (p Proxies) Client(r *http.Request) netip.Addr {
	client, ok := address(r.RemoteAddr)
	if !ok {
		return netip.Addr{}
	}
	way := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(way) - 1; i >= 0 && p.has(client); i-- {
		before, ok := address(strings.TrimSpace(way[i]))
		if !ok {
			break
		}
		client = before
	}
	return client
}

// address returns the address in a text, which may have a port.
func address(text string) (netip.Addr, bool) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap().WithZone(""), true
	}
	a, err := netip.ParseAddr(text)
	return a.Unmap().WithZone(""), err == nil
}
