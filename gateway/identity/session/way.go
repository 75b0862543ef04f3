package session

import (
	"net/http"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/workflows/contract"
)

// Shown implements identity.Way. A request with an Authorization header is judged by that alone.
func (s *Sessions) Shown(r *http.Request) bool {
	return r.Header.Get("Authorization") == "" && s.Jar.has(r)
}

// Identify implements identity.Way. A request that may change something needs the token of the
// session, or it is an *identity.Forgery.
func (s *Sessions) Identify(r *http.Request) (contract.Identity, error) {
	session, err := s.Jar.Session(r)
	if err != nil {
		return contract.Identity{}, &identity.Refused{Reason: "the session of this browser has ended: log in again"}
	}
	caller, err := s.Caller(session)
	if err == nil && changes(r.Method) && !session.Admits(r.Header.Get(HeaderToken)) {
		return contract.Identity{}, &identity.Forgery{Reason: "the header " + HeaderToken + " does not have the token of this session; GET /auth/session has it"}
	}
	return caller, err
}

// Token returns the access token of the caller, which may be passed on, or "".
func (s *Sessions) Token(r *http.Request) string {
	session, err := s.Jar.Session(r)
	if err != nil {
		return ""
	}
	return session.AccessToken
}

// changes reports whether requests of a method may change something (RFC 9110 §9.2.1).
func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// String implements identity.Way.
func (s *Sessions) String() string { return "a login with a browser" }
