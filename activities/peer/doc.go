// Package peer is a client of the A2A protocol, by which work is delegated to other agents.
// Peers implements the interface Peer of package activities.
//
//	peers := peer.New(peer.Options{Agents: agents, Logger: logger})
//	defer peers.Close()
//	reply, err := peers.Send(ctx, peer.Message{Peer: p, MessageID: id, Text: "…"})
//
// # Files
//
//	peer.go         New, Send, Close, and the configured agents
//	message.go the types for callers: Message, Reply, File, Error
//	card.go         the endpoints of an agent card; card_cache.go keeps cards, and Describe
//	discover.go     where cards are looked for, and what of them is used
//	session.go      one Send in 1.0 or 0.3: start, answer, cancel, get
//	poll.go         waits for a task: by its stream, or by polling
//	old_dialect.go  one Send in the old dialect
//	dialect.go      messages in each protocol
//	wire.go         JSON-RPC over HTTP; stream.go the same with server-sent events
//	answer.go       tasks and messages, decoded alike for every protocol
//	send_once.go    messages that must not be carried out twice
//	reply.go        a task as a Reply; files.go, approval_request.go and hitl.go its parts
//	secrets.go      removes credentials from replies
//	failure.go the kinds of failed calls
//
// # Three protocols
//
// An agent is called in A2A 1.0 if its card offers that, else in 0.3. A card without versions,
// or no card, means the old dialect of this project: JSON-RPC with integer ids, params.taskId,
// parts with a type, and answers with one artifact. That is a guess: an agent that does not
// know the method is then called in 1.0 and 0.3.
//
// Messages are those of the official library (a2a-go). Answers are decoded here and not by its
// client, which loses the code of an error, the HTTP status and Retry-After, the difference
// between a request that was not sent and an answer that was lost, and the exact digits of
// numbers in data, which people approve by their hash. It also rejects a whole answer because of
// one unknown part, and reads streams and answers without a limit.
//
// # What is sent again
//
// A message of 1.0 or 0.3 has an ID by which the agent deduplicates, so a lost answer is
// KindPeerUnavailable: Temporal sends the message once more. The old dialect has no such ID:
// only a request that was certainly not sent is repeated, and a lost answer is KindPeerFailed,
// which says that the outcome is unknown. The same holds if the worker stops meanwhile, and if
// an earlier attempt ended without a report (Message.Repeated). Refusals and cancellations are
// repeated, because they destroy nothing. An answer to a question is sent only after reading
// the task, so that it does not answer another question: the task must still wait for the
// question with that ID, or, if questions have no ID, with that text.
//
// A destructive message, and an answer that approves, is sent once, because A2A does not
// require an agent to deduplicate messages. It is sent a second time if not one byte of it was
// sent, or if the agent's card declares contract.IdempotentMessages. It has failed if the agent
// refused it unread (send_once.go has the codes and statuses); everything else is
// KindOutcomeUnknown. No stream is requested and no redirect followed. If an agent without a card
// does not know the method, the next protocol is tried, which is another request.
//
// # What is trusted
//
// Cards, redirects and replies come from others. A card cannot send requests to another host
// than the configured one, redirects do not lead into private networks (package outbound),
// configured headers go only to the URL they are configured for, and every reply is bounded
// (limits are in wire.go, answer.go, files.go and approval_request.go). Data about another task
// than the requested one is ignored. Credentials that an agent repeats, the caller's token and
// the configured ones, are masked. The IDs of JSON-RPC answers are not compared: each answer
// comes on the connection of its request.
package peer
