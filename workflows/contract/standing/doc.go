// Package standing has the wire types of standing grants: approvals that count for later calls, too.
// One is given with an approval whose rules offer it (package grant), for calls with the same
// arguments, and ends with its time, its uses, or when it is revoked.
//
//	terms.go  what a grant is for: Propose, Covers and, in words, Text
//	state.go  the workflow that keeps the grants of an agent and counts their uses
//
// There is one workflow of type Grants for each task queue, that is for each agent. The activity that
// returns a reply of the model reads its memo for calls whose rules offer grants, and takes a use with
// an update if a grant covers the call. All other calls cost nothing.
package standing
