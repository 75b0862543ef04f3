// Package feed carries events of conversations from publishers to subscribers: within a process,
// or between processes with Redis.
//
//	f, err := feed.Open(feed.Options{Redis: url, OneProcess: true})
//	defer f.Close()
//	events, stop := f.Subscribe(id)
//	f.Publish(contract.Event{ConversationID: id})
//
// An event is delivered at most once and may be lost; only the conversation itself is durable.
// But a subscriber never gets events with a gap: the events of one publisher arrive in order and
// without a missing one, or the channel is closed. The subscriber must then read the conversation
// and subscribe again.
//
// In Redis every conversation has a stream of about MaxLen entries, which expires after Expiry.
// Pieces of a draft that wait to be sent are joined. Views of conversations are not sent: a
// subscriber in another process only learns that something has changed. Streams of several
// conversations are read with one command, so a Redis Cluster does not work.
//
// A process has one connection for reading, however many subscriptions it has, and one for
// writing. While Redis is unreachable no events are carried, no caller waits, and the log says so
// once. The channels of subscribers are closed when the outage begins, and later for every
// conversation with a lost event.
package feed
