package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"

	"agent-stop-and-go/workflows/contract/network"
)

// Names returns the host names of the agent besides those of loopback: host, the host of
// public_url, and allowed_hosts.
func (c *Config) Names() []string {
	names := []string{c.Host}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		names = append(names, u.Hostname())
	}
	return append(names, c.AllowedHosts...)
}

// Proxies returns the networks whose forwarding headers are believed: trusted_proxies, and the proxies
// that prove who calls.
func (c *Config) Proxies() []netip.Prefix {
	out := networks(c.TrustedProxies)
	for _, way := range c.Auth {
		if way.Type == AuthProxy {
			out = append(out, way.Networks()...)
		}
	}
	return out
}

// networks returns networks and addresses, which are networks of one address.
func networks(texts []string) (out []netip.Prefix) {
	for _, text := range texts {
		if n, err := network.Parse(text); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// checkNetworks refuses the network of everybody, for whom it has a problem.
func checkNetworks(r *report, path string, texts []string, everybody string) {
	for i, text := range texts {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch n, err := network.Parse(text); {
		case err != nil:
			r.at(at, "%s: must be an IP address or a network such as 10.0.0.0/8", quote(text))
		case n.Bits() == 0:
			r.at(at, "%s: %s; name the network of the proxy", quote(text), everybody)
		}
	}
}

func checkDoor(r *report, c *Config) {
	checkNetworks(r, "trusted_proxies", c.TrustedProxies, "lets everybody choose the address that counts as theirs")
	for i, name := range c.AllowedHosts {
		checkAllowedHost(r, fmt.Sprintf("allowed_hosts[%d]", i), name)
	}
	for i, origin := range c.AllowedOrigins {
		checkOrigin(r, fmt.Sprintf("allowed_origins[%d]", i), origin)
	}
}

// checkAllowedHost refuses everything that is not a name, including "*": if every name were
// allowed, a web page could use a name of its own.
func checkAllowedHost(r *report, path, name string) {
	if net.ParseIP(name) == nil && !hostName.MatchString(name) {
		r.at(path, "%s: must be a host name or an IP address, without scheme, port, path and *", quote(name))
	}
}

var webOrigin = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func checkOrigin(r *report, path, origin string) {
	if !webOrigin.MatchString(origin) {
		r.at(path, "%s: must be scheme://host or scheme://host:port, such as https://chat.example.com", quote(origin))
	}
}
