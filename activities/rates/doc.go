// Package rates counts calls for the rate limits of the configuration, before they are made.
//
//	rates.go  Limiter: the limits that match a call, in their order
//	batch.go  one update at a time to each workflow that counts, with all calls that wait
//	counter.go  the workflows, with the client of an activity
//
// A call that no limit matches costs nothing. One that a limit matches costs an update of the
// workflow that counts (package rates of workflows), which is durable, and common to all workers. A
// call that cannot be counted is not made.
package rates
