// Package access lets callers see and decide only what is theirs. It wraps the backend of a
// service, so every front end and every route is behind it, and no handler has to ask.
//
//	access.go      conversations: who sees them
//	approvals.go   approvals: who sees and who decides them
//	lists.go       lists, which have only what the caller may see
//	rules.go       the rules of approvals that were asked for before the configuration changed
//	owners.go      the owners of conversations, which never change and are kept
//
// A context says for whom it works (service.ActingFor). One that says nothing sees nothing: a
// handler that forgets to say it fails in its first test.
//
// What somebody may not see does not exist for them: the error is that of an unknown ID. What a
// caller may do at all, the scopes of a route, is decided before, by the routes.
package access
