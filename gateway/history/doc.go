// Package history finds the conversation that a chat client continues. Such a client sends the whole
// history of its chat with each request, and no ID. It knows no HTTP and no protocol.
//
// chat.go    Chat: what was said, in a form that is compared; of a record and of a client
// finder.go  Finder: the conversation of a chat, or the ID of a new one
// slots.go   the IDs that conversations of a chat may have, and the memory of the finder
//
// A conversation fits a chat if everything that was said in it is the end of the chat, so that a
// client that edits its history, or goes back in it, gets a new conversation: a fork, whose context
// is the history before. What the gateway itself has added to replies (Mark) does not count, nor do
// spaces.
//
// The ID of a conversation is derived from who asks, from the chat before its first message, from
// that message, and from a number, because the same chat may be begun several times. So every
// gateway finds it again, also after a restart, and nobody finds that of somebody else. A memory of
// chats saves the search; it is checked like everything that the search finds. After Slots chats of
// one caller with the same beginning, further ones have random IDs, which only the memory knows; so
// it is with a fork behind more messages of the user than are tried.
package history
