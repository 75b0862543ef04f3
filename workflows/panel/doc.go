// Package panel asks people about a call before it runs: one person, or all whom the rules name, one
// after the other, until somebody refuses.
//
//	panel.go    who is asked, and when
//	revision.go goes on with a call that somebody has approved with changes
//	release.go  asks only those whom the rules of now name, after a release
//	offer.go    what may be granted for later calls
package panel
