package embedded

import (
	"fmt"
	"net/netip"
	"os"
	"syscall"
)

// claimsAdmitServer reports whether the server can listen on a port that is claimed.
const claimsAdmitServer = true

// claimPort binds a port on loopback without listening. Linux then gives it neither to
// connections nor to whoever asks for any free port, but a listener that names it may share it
// (SO_REUSEADDR in socket(7), which Go sets for listeners).
func claimPort(port int) (claim, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return claim{}, os.NewSyscallError("socket", err)
	}
	got, err := bindShared(fd, port)
	if err != nil {
		_ = syscall.Close(fd)
		return claim{}, err
	}
	return claim{got, func() error { return syscall.Close(fd) }}, nil
}

func bindShared(fd, port int) (int, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: netip.MustParseAddr(loopback).As4()})
	if err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	v4, ok := address.(*syscall.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("bound to %T, not to an IPv4 address", address)
	}
	return v4.Port, nil
}
