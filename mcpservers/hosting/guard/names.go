package guard

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// authority matches an IPv6 address in brackets, with an optional zone, or anything else
// without colons, followed by an optional port.
var authority = regexp.MustCompile(`^(?:\[([0-9A-Fa-f:.]+)(?:%[^\]]*)?\]|([^\[\]:@/?#\\\s]+))(?::[0-9]*)?$`)

// nameOf returns the canonical name in host[:port], "" if there is none.
func nameOf(hostport string) string {
	m := authority.FindStringSubmatch(hostport)
	if m == nil {
		return ""
	}
	return canonical(m[1] + m[2])
}

// canonical returns the form of a name or address that is used for comparison.
func canonical(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	return name
}

// isLoopback reports whether a canonical name is a name of loopback.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// localAddress returns the address that a request came to, "" for requests of tests.
func localAddress(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	return nameOf(local.String())
}

// overLoopback reports whether a request came over loopback. Requests of tests do.
func overLoopback(r *http.Request) bool {
	local := localAddress(r)
	return local == "" || isLoopback(local)
}
