// Package agui turns a conversation into a stream of AG-UI events, for one reader or for
// several that have received the same. It is pure: states and pieces of drafts go in, events
// come out.
//
// # Where to look
//
//	events.go    the events; absent members are omitted, never null
//	items.go     entries of the record as items with AG-UI IDs
//	values.go    the values of custom events, and the metadata of results
//	snapshot.go  the messages of a client that has received everything
//	state.go     the input; the state that clients see, and its changes
//	legacy.go    events for clients older than 1.0
//	withheld.go  calls that such a client must not make yet
//	outcome.go   how a run ends: interrupts, calls that the client has to make
//	toolcall.go  the call that an approval is about
//	drafts.go    replies while they are generated
//	write.go     runs, steps, and how an item is written
//	position.go  how much a reader has received, as the ID of events
//	stream.go    Stream
//	share.go     when one Stream can serve several readers
//
// # IDs
//
// The ID of a message is its DraftID or, without one, its own ID. The calls of a reply belong
// to the message of its first part and have the IDs ID-0, ID-1 and so on. If that message has no
// DraftID, a call has the ID of its own message. A call without a result gets one when its turn
// ends (ID-result), so that no client waits for it or makes the call itself.
//
// # Provisional and durable
//
// Pieces of a draft are sent at once and may turn out wrong: pieces get lost, another attempt
// gives another text, arguments are coerced, the reply never comes. What was sent is compared
// with the recorded message. If the message continues it, only the rest is sent; otherwise
// MESSAGES_SNAPSHOT replaces the client's messages by the recorded ones. Only drafts that were
// announced to this Stream with Draft are sent. Before a snapshot removes a call, the call gets
// a result, because clients keep the calls that a run began.
//
// If a message is sent while a draft that belongs after it is shown, the draft is removed by a
// snapshot and sent again after the message. So the messages of an agent of one node are in
// order. Messages of parallel nodes are sent as they come.
//
// # Runs
//
// A run is open while there is work; it is also opened to send something else. A user's message
// ends the run of the turn before it, unless the client sent that message. If approvals wait, a
// run ends as an interrupt; approvals that only wait for the client to make a call are the
// pending calls of a success.
//
// # State
//
// The state of a client is the front end's own object, with the agent's SharedState as the
// member Namespace. A Stream returns the front end's members unchanged.
//
// # Older clients
//
// A Legacy rewrites the events of a Stream for clients of AG-UI 0.0.54 to 0.0.59. It removes
// members that those do not know, and withholds calls of the client's own tools until the client
// has to make them: those clients make every call that has no result when a run ends, even one
// that waits for an approval.
//
// # Positions
//
// An event has an ID if the reader's position changes with it. The ID is a record.Cursor. With a
// tilde it says that the reader may hold more than the recorded messages: a Stream that resumes
// there starts with a snapshot of what was sent. Without a tilde the Stream continues after the
// position. If the position does not fit the conversation, the Stream starts with a snapshot of
// all messages and sends notices again.
//
// # Adding an event
//
// Every custom event has its name in events.go. An event for an entry of the record is an item:
// notice (values.go) makes its event, and write sends it once, with a position. An event without
// an entry, such as an Attempt, is sent when it happens and has no position; a reader that
// resumes may get it again. A turn ends in finish, together with a run; so does the turn before
// a user's message (writeUser), and a run that waits for an approval, which then has pending
// approvals. The first Update puts all earlier turns into one run.
//
// The tokens of a turn are in the entries with its number: the Usage of a reply is on its first
// message, that of a summary on its notice. A reply that did not fit its schema has no entry;
// its tokens are only in the Usage of the conversation.
//
// The client in the tests (client_test.go) counts custom events by the id in their value; it
// must know the events without one. Clients learn about an event from the description of
// followConversation in openapi.yaml.
package agui
