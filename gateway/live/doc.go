// Package live follows conversations for all who read them. It knows no HTTP and no protocol.
//
// Followers has one follower for each conversation that somebody reads, from the first reader to
// the last. The follower takes news from a Feed, and reads the conversation when there may be
// something new: when news say so without saying what, and now and then in any case. A Reader has
// no goroutine and no timer of its own: it gets Items, and takes them when it wakes. One that
// does not keep up is sent away to begin anew (ErrSlow). Readers to whom the same is written leave
// that to a SharedStream.
//
// What comes with news is not in the conversation's history yet. Readers who must not get what
// may come to something else, such as those of tasks, join with JoinLasting: they get what
// was read, and cost no more reads than one for each change.
//
//	followers.go  Followers, Join and Leave; the Feed and the Pace
//	follower.go   the loop that reads and listens for one conversation
//	read.go       what was read, and what came with news
//	reader.go     Reader and Item
//	drafts.go     replies that are being made, for readers who come meanwhile
//	shared.go     SharedStream
package live
