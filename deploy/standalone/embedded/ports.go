package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

const loopback = "127.0.0.1"

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// reachable is the address at which this process reaches a port of its own, that listens on an
// IP address.
func reachable(host string, port int) string {
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		return hostPort(port)
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// listen binds a port; 0 picks a free one. The remedy is appended to the error if the port is
// taken.
func listen(host string, port int, remedy string) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	return l, bindError(port, err, remedy)
}

func bindError(port int, err error, remedy string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is already in use: %s", port, remedy)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", hostPort(port), err)
	}
	return nil
}

// claim is a port that nobody else gets until close is called.
type claim struct {
	port  int
	close func() error
}

// reserve returns the ports of the server: the given one (0 picks a free one) and n free ones.
// The server binds them itself, before release is called. Where a claim prevents that too, the
// claims are given up at once: if another process takes a port in between, the start fails.
func reserve(port, n int) (ports []int, release func(), err error) {
	var claims []claim
	release = func() {
		for _, c := range claims {
			_ = c.close() // nothing was ever received
		}
	}
	for want := port; len(claims) <= n; want = 0 {
		c, err := claimPort(want)
		if err != nil {
			release()
			return nil, nil, bindError(want, err, "stop the other process or set temporal.port in the YAML")
		}
		claims, ports = append(claims, c), append(ports, c.port)
	}
	if !claimsAdmitServer {
		release()
		claims = nil
	}
	return ports, release, nil
}
