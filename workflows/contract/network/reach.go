package network

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// MaxWebhookURL is the maximum length of a webhook's URL.
const MaxWebhookURL = 2048

// Reach selects the addresses chosen by others that may be connected to. Link-local addresses
// and the metadata services of clouds are never included.
type Reach string

// The reaches. The zero value is the public Internet.
const (
	ReachPublic   Reach = ""
	ReachLoopback Reach = "loopback" // the public Internet and this machine
	ReachPrivate  Reach = "private"  // every network
)

// Allows reports whether an address is within reach.
func (r Reach) Allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch {
	case metadata(a):
		return false
	case r == ReachPrivate:
		return true
	case r == ReachLoopback && a.IsLoopback():
		return true
	}
	return PublicAddress(a)
}

// never are addresses of metadata services that are not link-local: Amazon's and Google's for
// IPv6, Alibaba's, Oracle's and Azure's.
var never = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"),
}

// metadata reports whether an address is link-local or of a metadata service, also as an IPv4
// address embedded in an IPv6 address.
func metadata(a netip.Addr) bool {
	if inner, ok := embedded(a); ok {
		return metadata(inner)
	}
	return a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || slices.Contains(never, a)
}

// CheckWebhook reports what is wrong with the URL of a webhook. Hosts that are out of reach by
// their address or name are refused; what a name resolves to is checked when it is dialled
// (Reach.Allows).
func CheckWebhook(raw string, reach Reach) error {
	if len(raw) > MaxWebhookURL {
		return fmt.Errorf("the url has more than %d bytes", MaxWebhookURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // err contains the URL, which may contain secrets
		return errors.New("the url is malformed")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the url must begin with http:// or https://")
	case u.User != nil:
		return errors.New("the url must not hold a user or a password; use authentication")
	case u.Hostname() == "":
		return errors.New("the url has no host")
	case !reach.allowsHost(u.Hostname()):
		return errors.New("the url leads to an address that is not public, which is not allowed here")
	}
	return nil
}

func (r Reach) allowsHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return r != ReachPublic
	}
	addr, err := netip.ParseAddr(host)
	return err != nil || r.Allows(addr)
}

// notPublic are networks that are not the public Internet and that netip has no predicate for
// (IANA special-purpose address registries).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared by customers of a provider
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // relays of 6to4, deprecated
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"),     // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"), // documentation
	netip.MustParsePrefix("2002::/16"),     // 6to4, deprecated
	netip.MustParsePrefix("3fff::/20"),     // documentation
}

// public6 has all addresses of the public Internet in IPv6.
var public6 = netip.MustParsePrefix("2000::/3")

// Networks whose addresses embed an IPv4 address.
var (
	compatible = netip.MustParsePrefix("::/96") // deprecated
	translated = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// PublicAddress reports whether an address is on the public Internet: not private, loopback,
// link-local, multicast, unspecified or otherwise reserved. One that NAT64 translates is what it
// is translated to.
func PublicAddress(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		a, _ = embedded(a)
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && (a.Is4() || public6.Contains(a)) &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// embedded returns the IPv4 address that an IPv6 address embeds.
func embedded(a netip.Addr) (inner netip.Addr, ok bool) {
	switch b := a.As16(); {
	case compatible.Contains(a) && a.Is6() && !a.IsLoopback() && !a.IsUnspecified(), translated.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return a, false
}
