// Package talk carries out what a client of OpenAI's API sends: a message, results of calls, answers
// to approvals, a decision by code.
//
// talk.go     Talk, and Run: one request
// send.go     what is sent, and where
// stream.go   what is sent back, piece by piece
// answers.go  results of calls, and decisions
// added.go    what the gateway adds to what the agent says
//
// The client has sent a chat, or has named a conversation. Only what is new is sent. What waits for a
// person is shown, and a message that comes meanwhile is not sent. Calls of the client for which it
// brings no result are given up.
package talk
