package embedded

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestNobodyElseGetsReservedPorts asks the kernel for any free port, where only a reserved one
// is allowed.
func TestNobodyElseGetsReservedPorts(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	ports, release, err := reserve(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, port := range ports {
		only := allowOnly(port)
		lc := net.ListenConfig{Control: only}
		if l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a listener for any port got %v, %v", l, err)
		}
		dialer := net.Dialer{Control: only}
		if c, err := dialer.DialContext(t.Context(), "tcp", far.Addr().String()); !errors.Is(err, syscall.EADDRNOTAVAIL) {
			t.Errorf("a connection got %v, %v", c, err)
		}
		l, err := net.Listen("tcp", hostPort(port)) // as the server does
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

// allowOnly restricts the ports that the kernel may choose for a socket to one.
func allowOnly(port int) func(network, address string, c syscall.RawConn) error {
	const ipLocalPortRange = 51 // IP_LOCAL_PORT_RANGE of ip(7), from Linux 6.3
	return func(_, _ string, c syscall.RawConn) error {
		var refused error
		err := c.Control(func(fd uintptr) {
			refused = os.NewSyscallError("setsockopt", syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, ipLocalPortRange, port|port<<16))
		})
		return errors.Join(err, refused)
	}
}
