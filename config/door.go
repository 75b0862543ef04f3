package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
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

func checkDoor(r *report, c *Config) {
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
