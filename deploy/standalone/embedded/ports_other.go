//go:build !linux

package embedded

import "net"

// claimsAdmitServer reports whether the server can listen on a port that is claimed.
const claimsAdmitServer = false

// claimPort listens on a port on loopback.
func claimPort(port int) (claim, error) {
	l, err := net.Listen("tcp", hostPort(port))
	if err != nil {
		return claim{}, err
	}
	return claim{l.Addr().(*net.TCPAddr).Port, l.Close}, nil
}
