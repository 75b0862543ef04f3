// Package peer delegates to other agents: it is a client of the A2A protocol, and
// is an activities.Peer.
//
//	peers := peer.New(peer.Options{Agents: agents, Logger: logger})
//	defer peers.Close()
//	reply, err := peers.Send(ctx, peer.Message{Peer: p, MessageID: id, Text: "…"})
//
// # Where things are
//
//	peer.go      New, Send, Describe, Close, and who is configured
//	card.go      what an agent card says of ways to talk; card_cache.go keeps cards
//	discover.go  where cards are looked for, and which are believed
//	session.go   one Send in 1.0 or 0.3: start, answer, cancel, ask how it is
//	poll.go      waits for a task: by its stream, or by asking again and again
//	old_dialect.go one Send in the old dialect
//	dialect.go   what is sent, in the words of each protocol
//	wire.go      JSON-RPC over HTTP; stream.go the same as server-sent events
//	answer.go    what comes back, read alike in every protocol
//	send_once.go what must not be carried out twice
//	reply.go     a task as a Reply; files.go, approval_request.go and hitl.go its parts
//	secrets.go   hides credentials in what comes back
//	failure.go   what a failed call means
//
// # Three protocols
//
// An agent is spoken to in A2A 1.0 if its card offers that, else in 0.3. A card that
// says nothing of versions, or no card, means the old dialect of this project: JSON-RPC
// with integer ids, params.taskId, parts with a type, and answers with one artifact.
// That is a guess, and an agent that does not know its method is asked in 1.0 and 0.3
// then. Messages of the official library (a2a-go) are what is sent.
// What comes back is read here and not by its client, which loses what is needed:
// the code of an error, the HTTP status and Retry-After, the difference between a
// request that was not sent and an answer that was lost, and the exact digits of
// numbers in data, which people approve by their digest. It also fails for a whole
// answer with one unknown part, and reads streams and answers without a limit.
//
// # What may be sent again
//
// A message of 1.0 or 0.3 has an ID by which the agent knows it again, so a lost
// answer is KindPeerUnavailable: Temporal sends it once more. The old dialect has
// none: there only a request that certainly was not sent is tried again, and a lost
// answer is KindPeerFailed, which says that the outcome is unknown. So it is when the
// worker stops meanwhile, and when an earlier attempt ended without a word
// (Message.Repeated). Refusals and cancellations are repeated, as they destroy
// nothing. An answer to a question is sent after a look at the task only, so that it
// cannot meet another one: the task must wait, for what has the same ID, or, where
// questions have none, says the same.
//
// A destructive message, and an answer that approves, is sent once: A2A does not oblige
// an agent to know a message ID again. It is sent a second time if not one byte of it was
// sent, or to an agent whose card declares contract.IdempotentMessages. It has failed if
// the agent refused it unread (send_once.go has the codes and statuses); whatever else
// happens is KindOutcomeUnknown. No stream is asked for and no redirect followed. An
// agent without a card is a guess: one that does not know the method is asked in
// the next protocol, which is another request.
//
// # Whom to believe
//
// A card, a redirect and a reply are words of somebody else. A card cannot send
// requests to another host than the configured one, redirects do not lead into private networks
// (package outbound), headers from the configuration go to the URL they
// are configured with and nowhere else, and every reply is bounded (limits are in
// wire.go, answer.go, files.go and approval_request.go). What is about another task than the one
// that was asked for is not believed. Credentials that an agent says back, the
// caller's token and those of the configuration, are replaced by a word. The IDs of
// JSON-RPC answers are not looked at: each comes on the connection of its request.
package peer
