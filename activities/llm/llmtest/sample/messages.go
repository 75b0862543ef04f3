package sample

import (
	"encoding/json"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// User returns a user's text.
func User(text string) contract.Message {
	return contract.Message{Role: contract.RoleUser, Content: contract.Inline(text)}
}

// Say returns a text in a reply.
func Say(reply, text string) contract.Message {
	return contract.Message{Role: contract.RoleAssistant, Reply: reply, Content: contract.Inline(text)}
}

// Call returns a call in a reply.
func Call(reply, id, name, args string) contract.Message {
	return contract.Message{Role: contract.RoleAssistant, Reply: reply, ToolCall: &contract.ToolCall{
		ID: id, Name: name, Arguments: contract.JSON{Raw: json.RawMessage(args)},
	}}
}

// Result returns the result of a call in a reply.
func Result(reply, id, name, text string) contract.Message {
	return contract.Message{Role: contract.RoleTool, Reply: reply, ToolCall: &contract.ToolCall{
		ID: id, Name: name, Result: contract.Inline(text),
	}}
}

// Failed marks a result as an error.
func Failed(m contract.Message) contract.Message {
	m.ToolCall.IsError = true
	return m
}

// Notice returns a notice, which models do not see.
func Notice(role contract.Role, text string) contract.Message {
	return contract.Message{Role: role, Content: contract.Inline(text), Notice: true}
}

// Decision returns a decision about an approval.
func Decision(d contract.Decision) contract.Message {
	m := Notice(contract.RoleUser, "[APPROVAL]: "+string(d))
	m.Approval = &contract.ApprovalResult{Decision: d}
	return m
}

// Conversation returns messages with several calls in a reply, an error, an approval and a
// rejection.
func Conversation() []contract.Message {
	return []contract.Message{
		{Role: contract.RoleSystem, Content: contract.Inline("old prompt")},
		User("Add a=1 and tell me what is there."),
		Say("r1", "I look and add."),
		Call("r1", "call_8f2", "resources_list", `{"pattern":"^a"}`),
		Call("r1", "call_8f3", "resources_add", `{"name":"a","value":1}`),
		Notice(contract.RoleAssistant, "This action requires approval:"),
		Decision(contract.Approved),
		Result("r1", "call_8f3", "resources_add", `{"id":"17"}`),
		Failed(Result("r1", "call_8f2", "resources_list", "invalid pattern")),
		Say("r2", "Added."),
		User("Remove it."),
		Call("r3", "call_9a1", "resources.remove", `{"id":"17"}`),
		Decision(contract.Rejected),
		User("Then leave it."),
	}
}

// Images and PDFs are recognised by their first bytes.
var (
	PNG  = llm.Media{MIMEType: "image/png", Name: "chart.png", Data: []byte("\x89PNG\r\n\x1a\nchart")}
	JPEG = llm.Media{MIMEType: "image/jpeg", Data: []byte("\xff\xd8\xffphoto")}
	PDF  = llm.Media{MIMEType: "application/pdf", Name: "plan.pdf", Data: []byte("%PDF-1.7\nplan")}
	Page = llm.Media{MIMEType: "text/html", Data: []byte("<html>")}
)

// Illustrated returns a conversation whose tools returned media, and the media.
func Illustrated() ([]contract.Message, map[string][]llm.Media) {
	messages := []contract.Message{
		User("Draw both."),
		Call("r1", "call_8f2", "charts.draw", `{"n":1}`),
		Call("r1", "call_8f3", "ping", `{}`),
		Call("r1", "call_8f4", "photos_take", `{}`),
		Result("r1", "call_8f4", "photos_take", "two photos and a page"),
		Result("r1", "call_8f3", "ping", "pong"),
		Result("r1", "call_8f2", "charts.draw", "a chart"),
		Say("r2", "Here they are."),
		User("Which is larger?"),
	}
	messages[4].ID, messages[5].ID, messages[6].ID = "m4", "m5", "m6"
	return messages, map[string][]llm.Media{"m4": {JPEG, Page, PNG}, "m6": {PNG}}
}
