package responses

import (
	"encoding/json"
	"fmt"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/workflows/contract/redact"
)

// settings are the members of a request that its response repeats. Those from Reasoning on have no effect: what a model
// is called with is a matter of the agent.
type settings struct {
	Instructions       *string `json:"instructions,omitempty"`
	PreviousResponseID *string `json:"previous_response_id,omitempty"`
	Background         bool    `json:"background,omitempty"`
	Tools              []tool  `json:"tools,omitempty"`
	openai.Demand
	Text *struct {
		Format    *openai.Format `json:"format,omitempty"`
		Verbosity *string        `json:"verbosity,omitempty"` // without effect
	} `json:"text,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	Truncation       *string           `json:"truncation,omitempty"`
	Reasoning        *reasoning        `json:"reasoning,omitempty"`
	User             *string           `json:"user,omitempty"`
	SafetyIdentifier *string           `json:"safety_identifier,omitempty"`
	PromptCacheKey   *string           `json:"prompt_cache_key,omitempty"`
	MaxOutputTokens  *int64            `json:"max_output_tokens,omitempty"`
	MaxToolCalls     *int64            `json:"max_tool_calls,omitempty"`
	Temperature      *float64          `json:"temperature,omitempty"`
	TopP             *float64          `json:"top_p,omitempty"`
	PresencePenalty  *float64          `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64          `json:"frequency_penalty,omitempty"`
	TopLogprobs      *int              `json:"top_logprobs,omitempty"`
}

// kept is what the record has of a request, for those who read its response later (service.Message.Echo). A request
// whose settings are the usual ones has nothing.
type kept struct {
	// Model is "" for the agent's own name.
	Model string `json:"model,omitempty"`
	settings
	// AllApprovals: approvals are items also of servers that no tool names.
	AllApprovals bool `json:"all_approvals,omitempty"`
	// Answers are the UUIDs of the approvals and calls that the request has answered, if it has brought more than one
	// answer, or a message too.
	Answers []string `json:"answers,omitempty"`
}

// encode returns the Echo of a request, nil if nothing is to be kept.
func (k kept) encode() (json.RawMessage, error) {
	raw, err := json.Marshal(k)
	if err != nil || string(raw) == "{}" {
		return nil, err
	}
	return raw, nil
}

func decodeKept(raw json.RawMessage) (k kept, err error) {
	if len(raw) == 0 {
		return k, nil
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return k, fmt.Errorf("read what a response repeats: %w", err)
	}
	return k, nil
}

// MarshalJSON implements json.Marshaler: a tool is kept as it is repeated.
func (t tool) MarshalJSON() ([]byte, error) { return t.public(), nil }

// template returns the response to a request before anything came of it.
func (b body) template(model string) resource {
	r := resource{
		Object: "response", Status: statusInProgress, Model: model, PreviousResponseID: b.PreviousResponseID, Instructions: b.Instructions,
		Output: []output{}, Tools: []json.RawMessage{}, ToolChoice: json.RawMessage(`"auto"`), Truncation: orElse(b.Truncation, "auto"), // the agent shortens what is too long for its model
		ParallelToolCalls: orElse(b.ParallelToolCalls, true), Text: textFormat{Format: json.RawMessage(`{"type":"text"}`)},
		TopP: orElse(b.TopP, 1), Temperature: orElse(b.Temperature, 1), PresencePenalty: orElse(b.PresencePenalty, 0), FrequencyPenalty: orElse(b.FrequencyPenalty, 0),
		TopLogprobs: orElse(b.TopLogprobs, 0), Reasoning: orElse(b.Reasoning, reasoning{}), User: b.User, MaxOutputTokens: b.MaxOutputTokens, MaxToolCalls: b.MaxToolCalls,
		Store: orElse(b.Store, true), Background: b.Background, ServiceTier: "default", Metadata: b.Metadata,
		SafetyIdentifier: b.SafetyIdentifier, PromptCacheKey: b.PromptCacheKey,
	}
	if r.Metadata == nil {
		r.Metadata = map[string]string{}
	}
	if len(b.ToolChoice) > 0 && string(b.ToolChoice) != "null" {
		r.ToolChoice = withMode(b.ToolChoice)
	}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.public())
	}
	if b.Text != nil {
		r.Text.Verbosity = b.Text.Verbosity
	}
	if b.Text != nil && b.Text.Format != nil && b.Text.Format.Type != "" {
		if raw, err := json.Marshal(b.Text.Format.Public()); err == nil {
			r.Text.Format = raw
		}
	}
	return r
}

// withMode returns a tool_choice as the response repeats it: allowed tools with their mode.
func withMode(choice json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(choice, &members) != nil || string(members["type"]) != `"allowed_tools"` || members["mode"] != nil {
		return choice
	}
	members["mode"] = json.RawMessage(`"auto"`)
	raw, err := json.Marshal(members)
	if err != nil {
		return choice
	}
	return raw
}

// public returns a tool as the response repeats it: of an mcp tool without what may be secret. It is repeated by later
// readers of the response, and is in the record.
func (t tool) public() json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(t.raw, &members) != nil {
		return t.raw
	}
	if t.Type == "function" {
		for name, value := range map[string]string{"description": "null", "parameters": "null", "strict": "null"} {
			if members[name] == nil {
				members[name] = json.RawMessage(value)
			}
		}
	}
	var address string
	if json.Unmarshal(members["server_url"], &address) == nil {
		if kept, err := json.Marshal(redact.KeptURL(address)); err == nil {
			members["server_url"] = kept
		}
	}
	delete(members, "headers")
	delete(members, "authorization")
	raw, err := json.Marshal(members)
	if err != nil {
		return t.raw
	}
	return raw
}
