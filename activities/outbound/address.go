package outbound

import (
	"cmp"
	"net"
	"net/url"
	"strings"
)

// SameHost reports whether two URLs have the same host and port.
func SameHost(a, b *url.URL) bool { return authority(a) == authority(b) }

// authority is host:port, as net/http dials it.
func authority(u *url.URL) string {
	port := map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	return net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), port, "80"))
}
