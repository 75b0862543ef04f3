// Package exchange gets tokens by exchanging those of callers (RFC 8693).
//
//	provider, err := exchange.NewProvider(exchange.Settings{Issuer: "https://login.example.com", ClientID: "shop", Secret: secret})
//	source := provider.Source(exchange.Target{Audience: "stock"}) // a bearer.Source
//
// The caller's token is the subject_token. The agent's own token, which it gets by the grant
// client_credentials, is the actor_token: the provider adds the agent to the claim act of the token
// that it issues. A token that went through several agents names all of them, the last one outermost:
//
//	{"sub": "alice", "aud": "stock", "act": {"sub": "shop", "act": {"sub": "assistant"}}}
//
// An issued token is used for all calls of the same caller's token until shortly before its end. It is
// kept in memory only. A call after that, be it minutes or weeks later, exchanges again; if the
// caller's token has ended by then, the caller has to log in (bearer.LoginRequired).
//
// provider.go has the provider and its requests; client.go the authentication of the agent there;
// source.go the tokens of one server; failure.go what the provider's errors mean for a call.
package exchange
