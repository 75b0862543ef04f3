package guard

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// authority is IPv6 in brackets, where a zone may be, or anything else without
// colons, and then a port.
var authority = regexp.MustCompile(`^(?:\[([0-9A-Fa-f:.]+)(?:%[^\]]*)?\]|([^\[\]:@/?#\\\s]+))(?::[0-9]*)?$`)

// nameOf is the canonical name in host[:port], "" when there is none.
func nameOf(hostport string) string {
	m := authority.FindStringSubmatch(hostport)
	if m == nil {
		return ""
	}
	return canonical(m[1] + m[2])
}

// canonical writes a name or an address in the one form in which they are compared.
func canonical(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	return name
}

// isLoopback reports whether a canonical name is one of loopback.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// localAddress is the address that a request came to, "" when a test made it.
func localAddress(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	return nameOf(local.String())
}

// overLoopback reports whether a request came from this machine. One that a test
// made did.
func overLoopback(r *http.Request) bool {
	local := localAddress(r)
	return local == "" || isLoopback(local)
}
