// Package login logs a terminal in at an OpenID provider, by the device authorization grant (RFC 8628), and keeps
// the tokens.
//
// device.go   the login; which of its tokens an agent accepts
// store.go    the tokens of each agent, in a file of its own that only the user can read
// source.go   the token for a request, refreshed when it is due
package login
