// Package outbound makes HTTP clients for addresses that others choose: where a
// redirect leads, what an agent card says, where a webhook is to go.
//
//	client := outbound.Client(outbound.Options{Trusted: []string{agent.URL}, Redirects: 5})
//
// What the one who runs the agent has configured is trusted. Everything else may
// point at what only this machine can reach, so private, loopback, link-local and
// other special addresses are refused, as far as Options.Reach does not allow them. It
// never allows link-local addresses, where clouds keep the credentials of a machine.
// The address is looked at when it is dialled, after its name has been resolved: a
// name that is public at first and private a moment later gets no further. A
// refusal is an error that wraps ErrRefused, and nothing has been sent then.
//
// client.go makes the client and decides which redirects are followed, guard.go
// dials, address.go knows which addresses are special.
//
// Behind a proxy (HTTPS_PROXY and its like) the proxy resolves names, so only
// addresses written as numbers are looked at; the proxy itself is trusted.
package outbound
