// Package agui makes a stream of AG-UI events of a conversation, for one reader or for
// several who have received the same. It is pure: states and pieces of drafts go in,
// events come out.
//
// # Where to look
//
//	events.go    the events; what is optional is left out, never null
//	items.go     messages of the transcript as they are sent, with their AG-UI IDs
//	values.go    notices, decisions, and what goes with a result
//	snapshot.go  the messages as a client holds them that has received all
//	state.go     what goes in; the state that clients see, and its changes
//	legacy.go    the same for clients that are older than 1.0
//	withheld.go  calls that such a client must not make yet
//	outcome.go   how a run ends: interrupts, calls that the client has to make
//	toolcall.go  the call that an approval is about
//	drafts.go    replies while they are being made
//	write.go     runs, steps, and how an item is written
//	position.go  what a reader has received, as the ID of events
//	stream.go    the Stream itself
//	share.go     when one Stream does for several readers
//
// # IDs
//
// A message is known by its Draft, or else by its ID. The calls of a reply are in the
// message of its first part: ID-0, ID-1 and so on. Where that has no Draft, a call is
// known by the ID of its message. A call that its turn left without a result gets one
// when the turn is over (ID-result), so that no client waits for it or takes it for its
// own to make.
//
// # Provisional and durable
//
// What a draft says is shown at once and may turn out wrong: pieces are lost, another
// attempt says something else, arguments are coerced, the reply never comes. What was
// shown is compared with what settles. Where one continues the other only the rest is
// sent; otherwise MESSAGES_SNAPSHOT gives the client all that was sent and takes the rest
// back. Only drafts that Draft has announced to this Stream are shown. A call that is
// taken back is answered just before, for clients count the calls that a run began.
//
// A draft that comes behind a message which is sent later is taken back and shown again
// behind it, so that an agent of one node has its messages in order. Those of nodes
// side by side come as they come.
//
// # Runs
//
// A run is open while there is work; it is opened too when there is something to send.
// A message of another user ends the run of the turn before it. With approvals waiting
// a run ends as an interrupt; those that only wait for the client to make a call are
// pending calls of a success.
//
// # State
//
// The state of a client is the front end's own object with the agent's SharedState as
// the member Namespace. A Stream keeps the front end's object as it was given.
//
// # Older clients
//
// A Legacy stands behind a Stream whose client knows AG-UI 0.0.54 to 0.0.59. It leaves
// out what that does not know, and withholds calls of the client's own tools until the
// client is to make them: those clients make every call without a result that they see
// when a run ends, also one that waits for an approval.
//
// # Positions
//
// An event has an ID where the reader's position changes. It is a record.Cursor; one with a
// tilde says that the reader may hold more than was sent for good: a Stream that
// resumes there begins with a snapshot of what was sent. Without one it goes on right
// behind the position. One that is not of this conversation as it is now leads to a
// snapshot of all messages; notices are sent again then.
//
// # Adding an event
//
// A custom event has a name in events.go and its value in values.go. What is in the record
// is an item: notice makes its event, and write sends it once, with a position. What is in
// no record, such as an Attempt, is sent where it happens, has no position, and may come
// again to a reader who comes back. A turn ends in finish, with a run; so does the turn
// before a user's message (writeUser), and a run that waits for an approval, which has
// pending approvals then. A first Update has all turns before in one run.
//
// The tokens of a turn are in the entries with its number: the Usage of a reply is on its
// first message, that of a summary on its notice. A reply that did not fit its schema is
// in no entry; its tokens are in the Usage of the conversation only.
//
// The client of the tests (client_test.go) counts custom events by the id in their value,
// and has to know those without one. Clients learn of an event from the description of
// followConversation in openapi.yaml. Package endpoint has custom events of its own, about
// the connection and the request: reconnect, refused, skipped (custom in gateway/agui/endpoint/writer.go).
package agui
