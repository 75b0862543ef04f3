// Package transcript keeps conversations small in history and whole for readers.
//
// A contract.Transcript is a chain of segments in a content-addressed store and
// a short tail of messages inline. Offload moves the tail into the store, Load
// brings all messages back, and Resolve replaces the addresses in a message by
// the values. Everything here is free of side effects but for the store, whose
// writes are idempotent, so a retried activity changes nothing.
//
// # Segments
//
// A segment holds messages and the address of the segment before it. Offload merges
// the new segment with the previous one unless that is at least twice as large,
// so each segment is twice the size of the one after it: a conversation of n
// messages has O(log n) segments, each message is rewritten O(log n) times, and
// no segment grows past 1 MiB by merging.
//
// # Segments of nodes
//
// The messages of a composite node are one entry among those around it: a
// contract.Segment with a transcript of its own, which may hold others again. Load
// puts their messages in place. Counts of a contract.Head are of messages,
// contract.Offloaded.Count is of entries.
//
// # Where to look
//
//	transcript.go  Store; Offload, Load, Backward; texts and JSON, and Resolve
//	loss.go        what cannot be read back, and stores without space
//	probe.go       whether two processes have the same store
package transcript
