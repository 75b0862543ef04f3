// Package deletion has the wire types and names of deletions.
//
// A Deletion is a workflow of its own, so that it is finished whatever ends meanwhile. It ends
// the conversation, writes a Tombstone, and then removes everything else: the histories of the
// conversation and of all workflows that it has started, with their rows in lists, and its file.
// Values in the blob store that nothing refers to any more are removed later by an Upkeep, which
// also starts the deletions of old conversations.
package deletion
