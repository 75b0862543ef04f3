package reach

import (
	"net/netip"
	"slices"
)

// notInternet are networks that are not the Internet, and that netip has no predicate for: those of the
// special-purpose address registries of IANA (RFC 6890).
var notInternet = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

// internet6 has all addresses of the Internet in IPv6. The others have those of IPv4: nat64 on networks that
// have only IPv6 (RFC 6052), the rest are not used any more.
var (
	internet6  = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	compatible = netip.MustParsePrefix("::/96")
)

// metadata are services of clouds at addresses that are not link-local: Azure, Alibaba, Oracle, and
// Amazon and Google for IPv6.
var metadata = addresses("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func addresses(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

// canonical returns the IPv4 address of an address that only writes one as IPv6.
func canonical(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		bytes := a.As16()
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return a
}

// Public reports whether an address belongs to the Internet: it is not private, loopback, link-local,
// shared (CGNAT), multicast, unspecified, reserved, of documentation, or of a metadata service.
func Public(a netip.Addr) bool {
	a = canonical(a)
	return a.IsGlobalUnicast() && !a.IsPrivate() && !sensitive(a) && (a.Is4() || internet6.Contains(a)) &&
		!slices.ContainsFunc(notInternet, func(p netip.Prefix) bool { return p.Contains(a) })
}

// sensitive reports whether no name and no network allows an address, also not one that embeds it (6to4, and
// the deprecated ::a.b.c.d).
func sensitive(a netip.Addr) bool {
	switch bytes := a.As16(); {
	case sixToFour.Contains(a):
		a = netip.AddrFrom4([4]byte(bytes[2:6]))
	case compatible.Contains(a):
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || slices.Contains(metadata, a)
}
