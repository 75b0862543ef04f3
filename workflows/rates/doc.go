// Package rates is the workflow that counts the calls of one rate limit (package rates of
// contract): of all callers, of one caller or of one conversation.
//
// The count is a log of the calls in the last time span of the limit, so that never more calls are
// made in any span of that length. Calls that wait are in a queue: the answer to each says when its turn
// comes if the limit stays as it is, and it asks again then. One that does not ask loses its place.
//
// Activities take room with an update before they make a call, several of a worker in one. A key
// counts once, so that an attempt that follows a lost one is the same call. The workflow completes
// when no call, not even a refused one, has come for the span and a minute; nothing is lost, because
// an empty log is how it begins.
package rates
