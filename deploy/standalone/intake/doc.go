// Package intake imports conversations from files: those that an agent exports, and those of the former
// Agent Stop and Go without Temporal, whose files have a part of the same keys.
//
//	file.go         Read: a file, and what is wrong with it and where
//	messages.go     its messages as those of a conversation
//	waiting.go      the calls that wait for an approval, and whether they can go on here
//	author.go       who wrote them, who cannot be proven
//	start.go        the input of a conversation's workflow
//	importer.go     Importer: imports one file after the other, each wholly or not at all
//
// A file is input: whoever wrote it may have written anything. It can therefore not bring along a
// decision, an identity that counts as proven, a digest, an address in the blob store or a call
// that runs unseen. A call that waited is looked up among the tools of this agent when its
// workflow runs, and waits for a new approval here (package transfer of workflows/contract).
//
// An import that is repeated joins the conversation of the first one: both would have the same
// workflow ID.
package intake
