// Package grant has what lets a person approve a call and not be asked again: a standing grant for
// later calls that are the same.
//
//	grant.go     what a rule offers, what a person chooses of it, and what the record of a call says
//	arguments.go when the arguments of two calls are the same
//
// The workflow that keeps standing grants is in package standing of contract.
package grant
