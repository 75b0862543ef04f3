// Package bearer says which bearer token a call of a tool server or of another agent carries.
//
// A Book has the Source of each server and agent, which its setting `credential` names:
//
//	none      no token: it has no source
//	forward   the caller's own token, as it is
//	exchange  a token for this server that the provider issues for the caller's (RFC 8693)
//	own       a token that the agent has got as an OAuth client of this server
//
// A Source is asked before each call. A server that answers 401, or 403 with a challenge for
// more scopes, has not made the call: the source is asked once more, with what the server
// answered, and the call is sent again with another token, at most twice. A server that refuses a
// token that was just issued for it needs a person, or other settings: nothing repeats by itself.
//
// A source that cannot continue without a person fails with a *LoginRequired: the call then waits
// for that person as an approval, and is made after it. A *Refused is final. Any other error is
// temporary.
//
// No token of a Source may reach history, a log, an error or an answer: Token hides itself from
// JSON and from fmt, and the caller masks it in what the server answers.
package bearer
