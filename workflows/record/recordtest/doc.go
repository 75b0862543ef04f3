// Package recordtest makes random conversations, for tests of readers of a record. They have
// turns of one node or of a tree, written as the workflows write them: drafts in several
// attempts, calls with and without results, approvals, cancellations, logins, and replies that
// a dead worker has to make again. A seed always makes the same conversation.
//
//	conversation.go  New and NewTask; turns, and the State after each step
//	leaf.go          the steps of a node in a turn
//	draft.go         replies while they are generated
//	store.go         Store, and Spread, which puts a transcript into it in pieces
package recordtest
