// Package outbound makes HTTP clients for addresses that others choose (redirects, agent
// cards, webhooks), and reads server-sent events of bounded size.
//
//	client := outbound.Client(outbound.Options{Trusted: []string{agent.URL}, Redirects: 5})
//
// Addresses that the operator has configured are trusted. Every other address may point at
// something that only this machine can reach, so private, loopback, link-local and other
// special addresses are refused unless Options.Reach allows them. Link-local addresses, where
// clouds serve the credentials of a machine, are always refused. The address is checked when
// it is dialled, after its name was resolved, so a name that resolves to a public address first
// and to a private one later does not help. A refusal is an error that wraps ErrRefused, and
// nothing was sent.
//
// Behind a proxy (HTTPS_PROXY and its like) the proxy resolves names, so only numeric
// addresses are checked; the proxy itself is trusted.
//
//	client.go   the client, and which redirects it follows
//	guard.go    checks addresses when dialling
//	address.go  which addresses are special
//	events.go   server-sent events, one at a time; bounds for streams that others decode
package outbound
