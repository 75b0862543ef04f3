package outbound

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"agent-stop-and-go/workflows/contract"
)

// ErrPrivate is wrapped by the error of a dial to an address that is not public.
var ErrPrivate = errors.New("it leads to an address that is not public")

// Guard returns a net.Dialer.Control that refuses addresses which are not public
// (contract.PublicAddress) unless private ones are allowed. It sees the address that is
// dialled, so a name that leads elsewhere a moment later deceives nobody. It is of no
// use behind a proxy, which dials itself.
func Guard(allowPrivate bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		if allowPrivate {
			return nil
		}
		at, err := netip.ParseAddrPort(address)
		if err != nil { // a Unix socket, for one
			return fmt.Errorf("%w: %q is no address", ErrPrivate, address)
		}
		if !contract.PublicAddress(at.Addr()) {
			return ErrPrivate
		}
		return nil
	}
}
