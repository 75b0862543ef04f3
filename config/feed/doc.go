// Package feed carries news of conversations from where they are told to those
// who watch: within a process, or between processes by Redis.
//
//	f, err := feed.Open(feed.Options{Redis: url, OneProcess: true})
//	defer f.Close()
//	news, stop := f.Watch(id)
//	f.Tell(contract.News{ConversationID: id})
//
// News is told at most once and may be lost; what lasts is the conversation. What
// a watcher gets is nevertheless without holes: the news of one teller arrive in
// order and one after another, or the channel is closed. Then the watcher reads the
// conversation and watches again.
//
// Redis carries a stream for each conversation, of about MaxLen entries, which
// expires after Expiry. Pieces of a draft that queue up on the way are joined.
// Views do not go through it: a watcher elsewhere hears only that something has
// changed. Streams of several conversations are read with one command, so that a
// cluster of Redis servers does not do.
//
// A process has one connection that reads, whatever it watches, and one that
// writes. While Redis is away nothing is carried, nobody waits, and the log says
// so once; those who watched when it went are told, and so are those who miss
// something after it is back.
package feed
