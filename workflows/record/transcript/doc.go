// Package transcript keeps conversations small in history and whole for readers.
//
// A contract.Transcript is a chain of chunks in a content-addressed store and a short tail of
// messages inline. Offload moves the tail into the store, Load returns all messages, and Resolve
// replaces the addresses in a message by their values. The only side effects are writes to the
// store, which are idempotent, so a retried activity changes nothing.
//
// # Chunks
//
// A chunk holds messages and the address of the previous chunk. Offload merges the new chunk
// with the previous one unless that is at least twice as large, so each chunk is twice the size
// of the next: a conversation of n messages has O(log n) chunks, each message is rewritten
// O(log n) times, and no chunk grows past 1 MiB by merging.
//
// # Segments
//
// The messages of a composite node are one entry of the surrounding transcript: a
// contract.Segment with its own transcript, which may have segments again. Load expands them.
// The Count of a contract.Head is of messages, that of contract.Offloaded of entries.
//
// # Where to look
//
//	transcript.go  Store; Offload and Load; texts and JSON, and Resolve
//	tail.go        the messages in history: their size, and what replaces them
//	chunk.go       Cache; chunks, and a Projection, whose values are computed once for each chunk
//	loss.go        values that cannot be read, and full stores
//	probe.go       whether two processes have the same store
package transcript
