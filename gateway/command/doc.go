// Package command carries out the commands of chats, such as !list. It is one for all front ends in
// which people write messages: they give what was written to Interpreter.Run, and do what the reply
// says: show its text, or send its message. A front end in which programs write, such as REST, A2A
// and AG-UI, does not, and "!list" is a message there.
//
//	command.go    Interpreter, Input and Reply; the table of commands
//	lines.go      several commands at once, and a message below them
//	parse.go      tells commands from messages
//	places.go     !new, !list, !use, !delete: the conversation that the chat is in
//	turns.go      !tree and !cancel
//	models.go     !model, and @NAME before a message
//	approvals.go  !inbox, !approve, !reject and !later
//	edits.go      changes of arguments with !approve; types.go types of values
//
// A command does what a route of the API does, through the same Service and with the same scope:
// it passes no check. It never reaches the model.
//
// !approve, !reject and !later without an ID are for the one approval that the chat has shown to its person
// (Input.Shown) and that still waits. An approval that opens in the moment before the person presses
// Enter is not decided unseen.
package command
