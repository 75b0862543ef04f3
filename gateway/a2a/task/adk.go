package task

import (
	"encoding/json"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// Clients built with Google's Agent Development Kit expect a waiting task in the form that
// ADK's own agents use: a data part whose metadata marks it as a long-running function call,
// with ADK's names for confirmations and questions. They answer with a function response that
// has the same ID.
const (
	adkType        = "adk_type"
	adkLongRunning = "adk_is_long_running"

	adkFunctionCall     = "function_call"
	adkFunctionResponse = "function_response"

	adkConfirmation = "adk_request_confirmation"
	adkInput        = "adk_request_input"
)

type adkCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args any    `json:"args"`
}

type adkConfirmationArgs struct {
	Call         adkCall `json:"originalFunctionCall"`
	Confirmation struct {
		Hint      string `json:"hint"`
		Confirmed bool   `json:"confirmed"`
	} `json:"toolConfirmation"`
}

type adkInputArgs struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"response_schema"`
}

// adkPart returns an approval as ADK's function call.
func adkPart(p contract.PendingApproval, r contract.ApprovalRequest) *a2a.Part {
	call := adkCall{ID: p.UUID, Name: adkInput, Args: adkInputArgs{Message: p.Description, Schema: p.Schema.Raw}}
	if !needsContent(p) {
		args := adkConfirmationArgs{Call: adkCall{ID: callOf(p), Name: r.Tool, Args: arguments(r.Arguments)}}
		args.Confirmation.Hint = p.Description
		call.Name, call.Args = adkConfirmation, args
	}
	part := a2a.NewDataPart(asData(call))
	part.Metadata = map[string]any{adkType: adkFunctionCall, adkLongRunning: true}
	return part
}

func isFunctionResponse(p *a2a.Part) bool { return p.Metadata[adkType] == adkFunctionResponse }

// byFunctionResponse reads the answer of an ADK client. The answer must name its approval.
func byFunctionResponse(data map[string]any, pending []contract.PendingApproval) (Decision, error) {
	uuid, _ := data["id"].(string)
	p, ok := find(pending, uuid)
	if !ok || uuid == "" {
		return Decision{}, noAnswer("The function response has the ID %.64q, which is that of no approval that waits here.", uuid)
	}
	response, ok := data["response"].(map[string]any)
	if !ok {
		return Decision{}, noAnswer("The function response has no object under %q.", "response")
	}
	if needsContent(p) {
		return adkContent(p, response)
	}
	if inner, ok := object(soleText(response, "response")); ok {
		response = inner
	}
	return adkDecision(p, response)
}

// adkContent reads the answer to a question: an object, or a text for its only field.
func adkContent(p contract.PendingApproval, response map[string]any) (Decision, error) {
	raw, err := json.Marshal(response)
	if err != nil {
		return Decision{}, noAnswer("The function response cannot be read: %v.", err)
	}
	said := string(raw)
	if text := soleText(response, "response", "result"); text != "" {
		if _, err := answer.ParseText(said, p.Schema.Raw); err != nil {
			said = text
		}
	}
	return read(p, nil, func() (answer.Reply, error) { return answer.ParseText(said, p.Schema.Raw) })
}

// soleText returns the text under one of the keys, if the response has no other member.
func soleText(response map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := response[key].(string); ok && len(response) == 1 {
			return text
		}
	}
	return ""
}

const adkAccepts = `accepted is a response {"confirmed":true} or {"confirmed":false}`

// adkDecision reads an approval or a rejection. All members that state one must agree.
func adkDecision(p contract.PendingApproval, response map[string]any) (Decision, error) {
	d := Decision{UUID: p.UUID}
	stated := false
	for key, value := range response {
		approved, says, clear := adkMember(strings.ToLower(key), value)
		switch {
		case !clear:
			return Decision{}, noAnswer("The member %.64q of the function response is neither a yes nor a no; %s.", key, adkAccepts)
		case says && stated && approved != d.Approved:
			return Decision{}, noAnswer("The function response says both yes and no; %s.", adkAccepts)
		case says:
			d.Approved, stated = approved, true
		}
	}
	if !stated {
		return Decision{}, noAnswer("The function response says neither yes nor no; %s.", adkAccepts)
	}
	d.Reason, _ = response["reason"].(string)
	return d, nil
}

// adkMember returns what one member states. status and result may describe the call, such as
// "ok", so they state something only with the words "approved" and "rejected". clear is false
// if a member that must state a decision states neither.
func adkMember(key string, value any) (approved, says, clear bool) {
	word, isText := value.(string)
	switch key {
	case "confirmed", "approved", "answer", "action", "response":
		if b, ok := value.(bool); ok {
			return b, true, true
		}
		approved, clear = answer.Word(word)
		return approved, clear, clear && isText
	case "status", "result":
		word = strings.ToLower(strings.TrimSpace(word))
		return word == string(contract.Approved), word == string(contract.Approved) || word == string(contract.Rejected), true
	}
	return false, false, true
}

// Addressee returns the UUID of the approval that a message itself names, or "" if it names
// none. With a UUID the message needs no task ID.
func Addressee(m *a2a.Message) string {
	for _, p := range m.Parts {
		data, ok := p.Data().(map[string]any)
		if !ok {
			continue
		}
		key := ""
		switch {
		case isFunctionResponse(p):
			key = "id"
		case data["type"] == contract.TypeApprovalAnswer:
			key = "uuid"
		}
		if uuid, _ := data[key].(string); uuid != "" {
			return uuid
		}
	}
	return ""
}
