package responses

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
)

// The status of a response and of its items.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusFailed     = "failed"
	statusCancelled  = "cancelled"
	statusIncomplete = "incomplete"
)

// truncationOff is the truncation of a response that fails rather than that the model does not see everything.
const truncationOff = "disabled"

// resource is a response.
type resource struct {
	ID                 string             `json:"id"`
	Object             string             `json:"object"`
	CreatedAt          int64              `json:"created_at"`
	CompletedAt        *int64             `json:"completed_at"`
	Status             string             `json:"status"`
	IncompleteDetails  *incompleteDetails `json:"incomplete_details"`
	Model              string             `json:"model"`
	PreviousResponseID *string            `json:"previous_response_id"`
	Instructions       *string            `json:"instructions"`
	Output             []output           `json:"output"`
	Error              *failure           `json:"error"`
	Tools              []json.RawMessage  `json:"tools"`
	ToolChoice         json.RawMessage    `json:"tool_choice"`
	Truncation         string             `json:"truncation"`
	ParallelToolCalls  bool               `json:"parallel_tool_calls"`
	Text               textFormat         `json:"text"`
	TopP               float64            `json:"top_p"`
	PresencePenalty    float64            `json:"presence_penalty"`
	FrequencyPenalty   float64            `json:"frequency_penalty"`
	TopLogprobs        int                `json:"top_logprobs"`
	Temperature        float64            `json:"temperature"`
	Reasoning          reasoning          `json:"reasoning"`
	User               *string            `json:"user"`
	Usage              *usage             `json:"usage"`
	MaxOutputTokens    *int64             `json:"max_output_tokens"`
	MaxToolCalls       *int64             `json:"max_tool_calls"`
	Store              bool               `json:"store"`
	Background         bool               `json:"background"`
	ServiceTier        string             `json:"service_tier"`
	Metadata           map[string]string  `json:"metadata"`
	SafetyIdentifier   *string            `json:"safety_identifier"`
	PromptCacheKey     *string            `json:"prompt_cache_key"`
	Conversation       *conversation      `json:"conversation"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incompleteDetails struct {
	Reason string `json:"reason"`
}

type conversation struct {
	ID string `json:"id"`
}

type textFormat struct {
	Format json.RawMessage `json:"format"`
}

type reasoning struct {
	Effort  *string `json:"effort"`
	Summary *string `json:"summary"`
}

type usage struct {
	InputTokens        int64         `json:"input_tokens"`
	InputTokensDetails inputDetails  `json:"input_tokens_details"`
	OutputTokens       int64         `json:"output_tokens"`
	OutputDetails      outputDetails `json:"output_tokens_details"`
	TotalTokens        int64         `json:"total_tokens"`
}

type inputDetails struct {
	CachedTokens int64 `json:"cached_tokens"`
}

type outputDetails struct {
	ReasoningTokens int64 `json:"reasoning_tokens"`
}

func usageOf(u contract.Usage) *usage {
	return &usage{
		InputTokens: u.InputTokens, InputTokensDetails: inputDetails{u.CachedTokens},
		OutputTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens,
	}
}

func orElse[T any](given *T, other T) T {
	if given == nil {
		return other
	}
	return *given
}

// template returns the response to a request before anything came of it.
func (b body) template(model string) resource {
	r := resource{
		Object: "response", Status: statusInProgress, Model: model, PreviousResponseID: b.PreviousResponseID, Instructions: b.Instructions,
		Output: []output{}, Tools: []json.RawMessage{}, ToolChoice: json.RawMessage(`"auto"`), Truncation: orElse(b.Truncation, "auto"), // the agent shortens what is too long for its model
		ParallelToolCalls: orElse(b.ParallelToolCalls, true), Text: textFormat{json.RawMessage(`{"type":"text"}`)},
		TopP: orElse(b.TopP, 1), Temperature: orElse(b.Temperature, 1), User: b.User, MaxOutputTokens: b.MaxOutputTokens, MaxToolCalls: b.MaxToolCalls,
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

// public returns a tool as the response repeats it: of an mcp tool without what may be secret.
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
	delete(members, "headers")
	delete(members, "authorization")
	raw, err := json.Marshal(members)
	if err != nil {
		return t.raw
	}
	return raw
}
