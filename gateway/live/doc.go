// Package live follows conversations for everything that reads them: AG-UI streams, A2A task
// streams, web hooks. It knows no HTTP and no protocol.
//
// Followers keeps one follower per conversation, from its first Reader to its last. The
// follower subscribes to the conversation in a Feed, and reads the conversation when it may have
// changed: after an event that does not carry the new state, and at intervals in any case. The
// beginning of a reply carries the messages, because a read would delay the first token. A
// Reader has no goroutine and no timer: the follower puts Items into its buffer and wakes it. A
// reader that does not keep up ends with ErrSlow and must join again. Readers that write the
// same bytes share the work of encoding them through a SharedStream.
//
// Start has a conversation started and subscribes before, because its first reply may begin before
// anybody could join.
//
// A state that arrives with an event is not in the conversation's history yet, and the history
// may turn out different. Readers that must never see such a state, such as those of A2A tasks,
// join with JoinCommitted: they get only states that were read. They cause one read per change,
// however many readers there are.
//
// followers.go  Followers, Start, Join and Leave; the Feed and the Pace
// follower.go   the loop that reads one conversation and handles its events
// read.go       states that were read, and states that came with events
// reader.go     Reader and Item
// drafts.go     unfinished replies, kept for readers that join while they are written
// shared.go     SharedStream
package live
