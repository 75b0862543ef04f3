// Package rates has the rate limits of calls: how many calls of a tool, of a server or of a class
// may be made in a time, by all or by each caller. The configuration has them, the activity that
// makes a call counts it (package rates of activities), and a workflow for each limit and caller
// keeps the count.
//
//	rates.go    limits, the calls that they match, and what follows when one is reached
//	counter.go  the wire of the workflow that counts
package rates
