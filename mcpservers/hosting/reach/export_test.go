package reach

import "net"

// WithResolver returns the rules with another resolver of names.
func WithResolver(r Rules, resolver *net.Resolver) Rules {
	r.resolver = resolver
	return r
}
