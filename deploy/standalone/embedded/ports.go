package embedded

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

const loopback = "127.0.0.1"

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// listen binds a port on loopback; 0 picks a free one. The remedy is appended to the error if
// the port is taken.
func listen(port int, remedy string) (net.Listener, error) {
	l, err := net.Listen("tcp", hostPort(port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is already in use: %s", port, remedy)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", hostPort(port), err)
	}
	return l, nil
}

// reserve returns the ports of the server: the given one (0 picks a free one) and n free ones.
// The server binds them itself, so reserve releases them again. If another process takes one in
// between, the server's start fails.
func reserve(port, n int) ([]int, error) {
	ports := make([]int, 0, n+1)
	for want := port; len(ports) <= n; want = 0 {
		l, err := listen(want, "stop the other process or set temporal.port in the YAML")
		if err != nil {
			return nil, err
		}
		defer l.Close() // at the end, so that no port is returned twice
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
