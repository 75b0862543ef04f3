package openai

import (
	"cmp"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// chatCalls collects the calls of a reply while it is read.
type chatCalls struct {
	at   map[int]*chatCall // the last call of each index
	last *chatCall
}

// chatCall is a call that arrives in pieces. It begins with its name.
type chatCall struct {
	number        int // in the draft; -1 before the call begins
	id, name      string
	heldArguments strings.Builder // arguments received before the name
}

// toolCall adds a call, or a piece of one.
func (c *chatReply) toolCall(piece chatToolCall) error {
	call := c.callOf(piece)
	call.id = cmp.Or(call.id, string(piece.ID))
	arguments := string(piece.Function.Arguments)
	if call.number >= 0 {
		c.Identify(call.number, call.id)
		return c.AddArguments(call.number, arguments)
	}
	call.heldArguments.WriteString(arguments)
	if call.name = string(piece.Function.Name); call.name == "" {
		return c.Keep(llm.CallCost + len(arguments))
	}
	call.number = c.AddCall(call.id, call.name)
	return c.AddArguments(call.number, call.heldArguments.String())
}

// callOf returns the call that a piece belongs to: that of its index, or the last one if it
// has no index. Some servers give several calls the same index.
func (c *chatReply) callOf(piece chatToolCall) *chatCall {
	call := c.calls.last
	if piece.Index != nil {
		call = c.calls.at[*piece.Index]
	}
	if call == nil || c.whole || c.begins(call, piece) {
		call = &chatCall{number: -1}
	}
	if c.calls.last = call; piece.Index != nil {
		if c.calls.at == nil {
			c.calls.at = map[int]*chatCall{}
		}
		c.calls.at[*piece.Index] = call
	}
	return call
}

// begins reports whether a piece is the first of another call. Only a new name begins a call:
// some servers give every piece its own ID, others repeat the name.
func (c *chatReply) begins(call *chatCall, piece chatToolCall) bool {
	name := string(piece.Function.Name)
	switch {
	case name == "" || call.number < 0:
		return false
	case name != call.name, piece.ID != "" && call.id != "" && string(piece.ID) != call.id:
		return true
	case piece.Index == nil && piece.ID == "":
		return true
	}
	return piece.Function.Arguments != "" && llm.IsObject([]byte(c.Arguments(call.number)))
}
