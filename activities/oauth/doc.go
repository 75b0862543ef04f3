// Package oauth is the agent as an OAuth client: it obtains access tokens of the agent's own for
// tool servers and other agents, as the authorization specification of MCP (2025-11-25) says.
//
//	client, err := oauth.New(oauth.Settings{URL: server.URL, Issuer: issuer, …}, oauth.Options{…})
//	token, err := client.Token(ctx, "")                // the present one, or ""
//	token, err = client.Renew(ctx, "", token, refusal) // after the server has refused it
//
// # How a token is obtained
//
// Nothing is requested before the server refuses a request. The refusal leads to the metadata of
// the server (RFC 9728), this to its authorization server and the metadata of that (RFC 8414, or
// OpenID Connect Discovery). A server without metadata is its own authorization server, as in
// MCP 2025-03-26. The client then is the one in the settings, or the gateway's client metadata
// document if the authorization server reads such documents, or it registers itself (RFC 7591).
//
// With the grant ClientCredentials a token is requested at once, the client being authenticated
// by a secret or by a signed JWT (RFC 7523). With AuthorizationCode a person must log in: Renew
// fails with ErrLogin, BeginLogin returns the address to open in a browser, and FinishLogin takes
// what the authorization server sent back. PKCE (S256) and the resource (RFC 8707) are part of
// every such request. Tokens are refreshed before they expire; a refusal that names more scopes
// (403, insufficient_scope) leads to a new grant of all scopes together.
//
// # Whose tokens
//
// A token belongs to the agent, or with Settings.PerCaller to the subject on whose behalf it is
// used. Tokens and registrations are sealed with the keys for callers' tokens and stored where
// all workers find them. No token, code, verifier or secret is part of an error, and Secrets
// returns those in use so that answers can be masked.
//
// # What the other side may not do
//
// All addresses but the server's own come from others. They must be https, or http on this
// machine if the server is on it, or have the host of Settings.URL or Settings.Issuer; what they
// resolve to is checked when it is dialled (package outbound), and answers are bounded. Metadata
// must be about the very server, and about the very issuer. A refresh token, and the secret of a
// registration, are sent to no other token endpoint than the one they belong to; so is a secret
// of the settings if they name the Issuer. Requests for tokens follow no
// redirects. A token that is refused as soon as it was issued is not replaced at once,
// except by another login of a person, and Settings.Scopes bounds the scopes that a server can make the agent ask for.
//
//	settings.go   the settings, and which addresses are acceptable
//	client.go     tokens: present, renewed, shared
//	refusal.go    what a refusal of the server says
//	discovery.go  metadata of servers and authorization servers
//	registration.go  which client the agent is, and how it proves it
//	token.go      requests to the token endpoint; assertion.go signed JWTs
//	login.go      logins of people
//	grant.go      what is stored; memory.go a store for one process
//	source.go     the tokens for the calls of agents, and of servers that people log in to
package oauth
