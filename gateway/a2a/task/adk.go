package task

import (
	"encoding/json"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// Clients made with Google's Agent Development Kit read a task that waits as ADK's own
// agents write it: a data part whose metadata says that it is a long-running function
// call, under the names that ADK has for confirmations and for questions. They answer
// with a function response of the same ID.
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

// adkPart is an approval as ADK understands it.
func adkPart(p contract.PendingApproval, r contract.ApprovalRequest) *a2a.Part {
	call := adkCall{ID: p.UUID, Name: adkInput, Args: adkInputArgs{Message: p.Description, Schema: p.Schema.Raw}}
	if !answered(p) {
		args := adkConfirmationArgs{Call: adkCall{ID: callOf(p), Name: r.Tool, Args: arguments(r.Arguments)}}
		args.Confirmation.Hint = p.Description
		call.Name, call.Args = adkConfirmation, args
	}
	part := a2a.NewDataPart(asData(call))
	part.Metadata = map[string]any{adkType: adkFunctionCall, adkLongRunning: true}
	return part
}

func isFunctionResponse(p *a2a.Part) bool { return p.Metadata[adkType] == adkFunctionResponse }

// byFunctionResponse reads the answer of an ADK client. It must name its approval.
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
	if answered(p) {
		return adkContent(p, response)
	}
	if inner, ok := object(alone(response, "response")); ok {
		response = inner
	}
	return adkVote(p, response)
}

// adkContent reads the answer to a question: the content, or a text for its one field.
func adkContent(p contract.PendingApproval, response map[string]any) (Decision, error) {
	raw, err := json.Marshal(response)
	if err != nil {
		return Decision{}, noAnswer("The function response cannot be read: %v.", err)
	}
	said := string(raw)
	if text := alone(response, "response", "result"); text != "" {
		if _, err := answer.ParseText(said, p.Schema.Raw); err != nil {
			said = text
		}
	}
	return read(p, nil, func() (answer.Reply, error) { return answer.ParseText(said, p.Schema.Raw) })
}

// alone is the text under one of some keys, if it is all that there is.
func alone(response map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := response[key].(string); ok && len(response) == 1 {
			return text
		}
	}
	return ""
}

const adkAccepts = `accepted is a response {"confirmed":true} or {"confirmed":false}`

// adkVote reads a yes or a no. All members that may say one must agree.
func adkVote(p contract.PendingApproval, response map[string]any) (Decision, error) {
	d := Decision{UUID: p.UUID}
	voted := false
	for key, value := range response {
		approved, says, clear := adkSays(strings.ToLower(key), value)
		switch {
		case !clear:
			return Decision{}, noAnswer("The member %.64q of the function response is neither a yes nor a no; %s.", key, adkAccepts)
		case says && voted && approved != d.Approved:
			return Decision{}, noAnswer("The function response says both yes and no; %s.", adkAccepts)
		case says:
			d.Approved, voted = approved, true
		}
	}
	if !voted {
		return Decision{}, noAnswer("The function response says neither yes nor no; %s.", adkAccepts)
	}
	d.Reason, _ = response["reason"].(string)
	return d, nil
}

// adkSays is what a member says. A status or a result may be one of the call, such as
// "ok", and says something only by the words of a decision; clear is false for what
// ought to be a yes or a no and is neither.
func adkSays(key string, value any) (approved, says, clear bool) {
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

// Addressee is the UUID of the approval that a message answers by its own words, or ""
// if it names none: the task need not be named besides.
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
