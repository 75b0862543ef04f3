// Package tooltoken is the login of people at an authorization server for the tools of an agent: its
// token goes to the agent with what they send. It says nothing about who calls the agent; that is another
// login, with cookies and an end of its own.
//
//	client.go   the OAuth client: authorization code with PKCE, refresh, revocation
//	token.go    Session: the tokens, in a sealed cookie, and a login that has begun
//	login.go    the routes: /login, the callback, /login/renewal, /logout, /api/session
//
// # Refresh
//
// A server takes a refresh token once, so only one request may use it. The page does, with one tab at a
// time, before it sends something with a token that ends soon. No other request renews, and so any
// number of processes with the same keys can serve one browser.
//
// # Pages of others
//
// The cookies are HttpOnly and SameSite=Strict. A request has the token only if its header HeaderSession
// has the one of the session, which only pages of this origin can read; so has a renewal and a logout.
package tooltoken
