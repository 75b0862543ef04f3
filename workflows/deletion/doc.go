// Package deletion has the workflow that deletes a conversation. Each of its steps may be
// repeated, and is retried until it succeeds: a process that is killed in the middle delays a
// deletion and never leaves half of one.
//
//	end    refuse it while an approval waits, else stop the turn and end the conversation
//	bury   write the tombstone; from here on the deletion is not refused any more
//	erase  remove histories, rows in lists and the file
//
// Upkeep deletes what has become old in this way, and collects stored values that nothing refers to.
package deletion
