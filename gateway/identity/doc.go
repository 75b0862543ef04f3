// Package identity finds out who calls the gateway. It reads requests, and knows nothing of
// conversations, of what a caller may do, or of the router.
//
//	identity.go   Ways: the ways in which callers prove who they are, and the errors
//	grants.go     the scopes of a caller
//	bearer.go     the bearer token of a request
//	keys.go       keys that `agent keys` makes; package keys has their file
//	oidc.go       tokens of an OpenID provider, and what they prove
//	provider.go   what a provider says of itself: discovery
//	keyset.go     the provider's public keys, which are fetched rarely and survive its outages
//	proxy.go      headers of a trusted proxy
//	method.go     what clients must know to log in; schemes.go the same for cards of agents
//
// Package session has the sessions of browsers, which are a way, too; package attempts limits proofs
// that do not hold; package forwarded says which proxies are believed.
//
// A request that shows a proof of one way is judged by that way alone: a token that has expired
// is refused, even if a trusted proxy has added its header.
package identity
