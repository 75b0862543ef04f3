// Package merkle is the audit log on its store: an append-only Merkle tree (RFC 6962, as
// golang.org/x/mod/sumdb/tlog computes it) whose checkpoints are signed notes (C2SP tlog-checkpoint
// and signed-note).
//
// The log is a sequence of batches, the files log/0000000/000, log/0000000/001 and so on. A batch is
// text: a leaf in each line, an empty line, and the checkpoint of the log after it:
//
//	{"id":"shown/1f0c…","kind":"shown","at":"2026-11-26T02:00:00Z",…}
//	{"id":"decision/1f0c…","kind":"decision",…}
//
//	example.com/agents
//	2
//	x5IcJWFGmNQGYhb9n9I0aTDLkXQ7wpDVEqS2qrdP1Bk=
//
//	— example.com/agents 1kQ0Zk…
//
// A batch is created at once, and only where there is none (Store.Create). So a crash leaves no leaf
// without a checkpoint, and of two appenders that do not know of one another one gets the place;
// the other reads what is there and goes behind it. Nothing is ever written twice.
//
//	tree.go     the hashes in memory        batch.go   the text of a batch
//	log.go      Log, which appends          witness.go Witness, which countersigns
//	verify.go   Verify, which names what    sequence.go its rules for the events themselves
//	            was done to a log           export.go  the proofs of a conversation
//	beside.go   its rules for what is   keys.go     keys and checkpoints
//	            kept beside the log
//
// A process that opens a log reads all of it, and keeps 80 bytes a leaf in memory.
package merkle
