// Package session has the sessions of browsers whose person has logged in.
//
//	session.go   a session, and what it proves
//	jar.go       sessions as sealed cookies, which package cookie makes
//	way.go       Way: the caller of a request that has such a cookie
//	login.go     the login at an OpenID provider: authorization code with PKCE
//	logout.go    the end of a session, here and at the provider
//
// A session is its cookie, which is sealed with the keys of the agent: nothing is stored, so any gateway with
// the same keys can read it. What must end at once is asked for with each request (the file of the keys) or
// soon (the provider, when the session is renewed). A session that was logged out ends at once at
// the gateway that did it. At the others a copy of its cookie, if somebody has one, ends when it would have to be
// renewed: its refresh token has been revoked.
//
// # Cookies
//
// A cookie is HttpOnly and SameSite=Strict, so neither scripts nor requests of other sites get it; over https its name
// begins with __Host-. A program on another port of the same machine belongs to the same site: every request that
// changes something must have the session's token in a header, which only pages of this origin can read.
//
// A Strict cookie does not come with the first request after the provider has sent the browser
// back. That request is for the page, which everybody gets; its own requests have the cookie. The cookie of a
// login that has begun is SameSite=Lax, and good for nothing else.
package session
