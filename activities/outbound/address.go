package outbound

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// special are the networks that are not the public internet and that netip has no
// name for.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // shared by providers and clouds
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
	netip.MustParsePrefix("::/96"),           // IPv4 in the old way
	netip.MustParsePrefix("64:ff9b:1::/48"),  // translated, local
	netip.MustParsePrefix("100::/64"),        // discard
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("fec0::/10"),       // site-local
}

// Networks whose addresses hold one of IPv4, and where in them.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// Special tells whether an address is anything but one of the public internet.
func Special(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	switch b := ip.As16(); {
	case translated.Contains(ip):
		return Special(netip.AddrFrom4([4]byte(b[12:16])))
	case sixToFour.Contains(ip):
		return Special(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return !ip.IsGlobalUnicast() || ip.IsPrivate() ||
		slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// SameHost tells whether two URLs are of one host and port.
func SameHost(a, b *url.URL) bool { return authority(a) == authority(b) }

// authority is host:port, as net/http dials it.
func authority(u *url.URL) string {
	port := map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	return net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), port, "80"))
}
