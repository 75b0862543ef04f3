// Package projection says what a thread shows of a conversation. It is pure: the messages that a thread is
// to have follow from the record and from the drafts of what is being written.
//
//	project.go  Of: messages, in their parts and pieces; Drafts
//	flow.go     Flow: what a message shows that is streamed, and its calls
//	sent.go     Sent: what a stream was sent, and what it is sent next
package projection
