package network

import "net/netip"

// Parse parses a network, such as 10.0.0.0/8, or an address, which is a network of its own.
func Parse(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Unmap().Prefix(address.Unmap().BitLen())
	}
	network, err := netip.ParsePrefix(text)
	return network.Masked(), err
}
