package agui

import (
	"slices"

	"agent-stop-and-go/workflows/record"
)

// messagesOf returns the messages of a client that has received the items: calls belong to
// the message of their reply, and results follow it.
func messagesOf(items []item, sent func(item) bool) []Message {
	out := []Message{}
	for _, i := range items {
		if !sent(i) {
			continue
		}
		switch i.Kind {
		case record.KindMessage:
			out = append(out, Message{ID: i.message, Role: RoleUser, Content: &i.text})
		case record.KindText:
			out = append(out, Message{ID: i.message, Role: RoleAssistant, Content: &i.text, Name: i.name})
		case record.KindCall:
			out = withCall(out, i)
		case record.KindResult:
			out = withResult(out, i)
		}
	}
	return out
}

func withCall(out []Message, i item) []Message {
	n := lastIndex(out, func(m Message) bool { return m.ID == i.message && m.Role == RoleAssistant })
	if n < 0 {
		n, out = len(out), append(out, Message{ID: i.message, Role: RoleAssistant})
	}
	out[n].ToolCalls = append(out[n].ToolCalls, ToolCall{
		ID: i.call, Type: "function", Function: Function{Name: i.ToolCall.Name, Arguments: i.text},
	})
	return out
}

func withResult(out []Message, i item) []Message {
	m := Message{ID: i.message, Role: RoleTool, Content: &i.text, ToolCallID: i.call, Metadata: i.meta}
	at := lastIndex(out, func(m Message) bool {
		return slices.ContainsFunc(m.ToolCalls, func(c ToolCall) bool { return c.ID == i.call })
	})
	if at < 0 {
		return append(out, m)
	}
	for at++; at < len(out) && out[at].Role == RoleTool; at++ {
	}
	return slices.Insert(out, at, m)
}

func lastIndex(list []Message, is func(Message) bool) int {
	for n, m := range slices.Backward(list) {
		if is(m) {
			return n
		}
	}
	return -1
}
