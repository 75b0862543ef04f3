// Package chat is a conversation at a terminal. It writes what has been said above its input,
// so the terminal scrolls, searches and copies it as always.
//
// chat.go       Options and Run
// model.go      Model: the state, and what events of the agent change
// keys.go       what keys do
// approvals.go  the approvals that wait, and their answers
// form.go       the form of an approval that takes more than yes or no
// history.go    what was sent before
// commands.go   commands such as !list, which may go on in another conversation
// view.go       what is written above the input once, and what is drawn again and again
// work.go       what takes time: sending, deciding, following, the editor
//
// A Model follows one conversation by its events, so it shows what happens in other places as
// well: messages from a page, and decisions of colleagues.
package chat
