// Package grants is the workflow Grants: the standing grants of an agent, and how often each was used.
//
//	grants.go its updates; audit.go what the audit log gets of it
//
// An Approval gives a grant, the activity that returns a reply of the model takes a use of it, and a
// gateway revokes it. The memo has the grants that count, so that most replies need nothing else.
package grants
