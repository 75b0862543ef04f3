package contract

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// MaxWebhookURL is how long the URL of a webhook may be.
const MaxWebhookURL = 2048

// CheckWebhook tells what is wrong with the URL of a webhook. Hosts that say outright
// that they are not public are refused unless private ones are allowed; where a name
// leads is only known when it is dialled (PublicAddress).
func CheckWebhook(raw string, allowPrivate bool) error {
	if len(raw) > MaxWebhookURL {
		return fmt.Errorf("the url has more than %d bytes", MaxWebhookURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // err shows the URL, which may hold secrets
		return errors.New("the url is malformed")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the url must begin with http:// or https://")
	case u.User != nil:
		return errors.New("the url must not hold a user or a password; use authentication")
	case u.Hostname() == "":
		return errors.New("the url has no host")
	case !allowPrivate && privateHost(u.Hostname()):
		return errors.New("the url leads to an address that is not public, which is not allowed here")
	}
	return nil
}

func privateHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && !PublicAddress(addr)
}

// notPublic are the networks that are not the public Internet and that netip has no
// name for (IANA special-purpose address registries).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared by customers of a provider
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), // translated, local
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),     // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"), // documentation
	netip.MustParsePrefix("fec0::/10"),
}

// Networks whose addresses hold one of IPv4.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// PublicAddress reports whether an address is one of the public Internet: not private,
// loopback, link-local, multicast, unspecified or otherwise set apart.
func PublicAddress(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch b := a.As16(); {
	case translated.Contains(a):
		return PublicAddress(netip.AddrFrom4([4]byte(b[12:16])))
	case sixToFour.Contains(a):
		return PublicAddress(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}
