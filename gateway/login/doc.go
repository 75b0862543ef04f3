// Package login has the HTTP handlers with which people log in with a browser, and what a client must
// know to log in: /auth/*. Package identity/session decides; this one reads requests and writes replies.
package login
