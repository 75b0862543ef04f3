package task

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// HITL is the extension by which kagent's clients answer approvals
// (docs/architecture/human-in-the-loop.md of kagent). What waits is shown in the
// metadata of the status message, and answered in that of a user's message.
const HITL = "https://kagent.dev/extensions/hitl/v1"

// HITLExtension is how a card announces it.
func HITLExtension() a2a.AgentExtension {
	return a2a.AgentExtension{URI: HITL, Description: "Human approval and user input"}
}

// Types of payloads.
const (
	hitlApproval         = "tool_approval_request"
	hitlApprovalResponse = "tool_approval_response"
	hitlAsk              = "ask_user_request"
	hitlAskResponse      = "ask_user_response"
)

type hitlTool struct {
	ID     string          `json:"id"`
	CallID string          `json:"call_id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
}

type hitlNested struct {
	Agent string `json:"subagent_name,omitempty"`
	// Chain is not of the extension: it names all agents where there are more than one.
	Chain  []string   `json:"chain,omitempty"`
	TaskID string     `json:"task_id,omitempty"`
	Tools  []hitlTool `json:"tools"`
}

type hitlQuestion struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
	Multiple bool     `json:"multiple"`
}

type hitlRequest struct {
	Type      string         `json:"type"`
	Hint      string         `json:"hint,omitempty"`
	Tools     []hitlTool     `json:"tools,omitempty"`
	Nested    *hitlNested    `json:"nested,omitempty"`
	ID        string         `json:"id,omitempty"`
	Questions []hitlQuestion `json:"questions,omitempty"`
}

// askHITL adds what waits as the extension shows it.
func (s Source) askHITL(m *a2a.Message) {
	m.Extensions = append(m.Extensions, HITL)
	m.SetMeta(HITL, asData(s.hitlRequest()))
}

func (s Source) hitlRequest() hitlRequest {
	if len(s.pending()) == 1 {
		p := s.pending()[0]
		if questions, ok := hitlQuestions(p); ok {
			return hitlRequest{Type: hitlAsk, ID: p.UUID, Questions: questions}
		}
		if o := p.Origin; o != nil && o.UUID != "" {
			return hitlRequest{Type: hitlApproval, Hint: described(p), Tools: []hitlTool{toolOf(p)}, Nested: nestedOf(p)}
		}
	}
	r := hitlRequest{Type: hitlApproval}
	var hints []string
	for _, p := range s.pending() {
		hints = append(hints, described(p))
		r.Tools = append(r.Tools, toolOf(p))
	}
	r.Hint = strings.Join(hints, "\n\n")
	return r
}

func toolOf(p contract.PendingApproval) hitlTool {
	return hitlTool{ID: p.UUID, CallID: callOf(p), Name: p.ToolName, Args: arguments(p.ToolArgs.Raw)}
}

func callOf(p contract.PendingApproval) string {
	if p.Call != "" {
		return p.Call
	}
	return p.UUID
}

func nestedOf(p contract.PendingApproval) *hitlNested {
	o := p.Origin
	nested := &hitlNested{Agent: p.RemoteAgentName, TaskID: p.RemoteTaskID, Tools: []hitlTool{
		{ID: o.UUID, CallID: o.UUID, Name: o.Tool, Args: arguments(o.Arguments.Raw)},
	}}
	if len(o.Chain) > 1 {
		nested.Chain = o.Chain
	}
	return nested
}

func arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return json.RawMessage("{}")
	}
	return raw
}

// hitlQuestions is the form of a question; ok is false for what wants a yes or a no.
func hitlQuestions(p contract.PendingApproval) ([]hitlQuestion, bool) {
	if !answered(p) || p.Reason == contract.ReasonClientTool {
		return nil, false
	}
	var out []hitlQuestion
	for _, f := range fieldsOf(p.Schema.Raw) {
		q := hitlQuestion{Question: f.question(p.Description), Choices: f.Enum, Multiple: f.Type == "array"}
		if f.Type == "array" {
			q.Choices = f.Items.Enum
		}
		if q.Choices == nil {
			q.Choices = []string{}
		}
		out = append(out, q)
	}
	return out, len(out) > 0
}

// formField is a property of a question's schema.
type formField struct {
	name        string
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	Items       struct {
		Enum []string `json:"enum"`
	} `json:"items"`
}

func (f formField) question(about string) string {
	for _, text := range []string{f.Description, f.Title} {
		if text != "" {
			return text
		}
	}
	return about + "\n\n" + f.name
}

// fieldsOf are the properties of a schema, in the order of their names.
func fieldsOf(schema json.RawMessage) []formField {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var out []formField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		f := formField{name: name}
		_ = json.Unmarshal(s.Properties[name], &f) // what is not understood is asked as a text
		out = append(out, f)
	}
	return out
}

// hitlPayload is the answer that a message carries in the form of the extension.
func hitlPayload(m *a2a.Message) (json.RawMessage, bool) {
	if !slices.Contains(m.Extensions, HITL) {
		return nil, false
	}
	raw, err := json.Marshal(m.Metadata[HITL])
	return raw, err == nil
}

type hitlResponse struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Approvals []struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"rejection_reason"`
	} `json:"approvals"`
	Answers []struct {
		Answer []string `json:"answer"`
	} `json:"answers"`
}

func invalid(format string, args ...any) error {
	return a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf(format, args...))
}

// readHITL reads an answer. Every approval must be answered exactly once: what is left
// out is never taken for a yes.
func readHITL(raw json.RawMessage, pending []contract.PendingApproval) ([]Decision, error) {
	if key := folded(raw); key != "" {
		return nil, invalid("the metadata %s says %.64q twice", HITL, key)
	}
	var r hitlResponse
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, invalid("the metadata %s cannot be read: %v", HITL, err)
	}
	switch r.Type {
	case hitlApprovalResponse:
		return r.approvals(pending)
	case hitlAskResponse:
		return r.answers(pending)
	}
	return nil, invalid("the metadata %s has the unknown type %.64q", HITL, r.Type)
}

// folded returns a member that is there twice but for its case, which encoding/json
// does not tell apart.
func folded(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, v := range list {
			if key := folded(v); key != "" {
				return key
			}
		}
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return ""
	}
	seen := map[string]bool{}
	for key, v := range object {
		if lower := strings.ToLower(key); seen[lower] {
			return key
		} else {
			seen[lower] = true
		}
		if inside := folded(v); inside != "" {
			return inside
		}
	}
	return ""
}

func (r hitlResponse) approvals(pending []contract.PendingApproval) ([]Decision, error) {
	var out []Decision
	for _, a := range r.Approvals {
		p, ok := find(pending, a.ID)
		switch {
		case !ok || a.ID == "":
			return nil, invalid("no approval %.64q waits here", a.ID)
		case a.Approved == nil:
			return nil, invalid("approval %s: approved must be true or false", a.ID)
		case *a.Approved && a.Reason != "":
			return nil, invalid("approval %s is approved with a reason to reject it", a.ID)
		case *a.Approved && answered(p):
			return nil, invalid("approval %s wants an answer, not only a yes", a.ID)
		}
		out = append(out, Decision{UUID: p.UUID, Approved: *a.Approved, Reason: a.Reason})
	}
	if len(out) != len(pending) || checkUnique(out) != nil {
		return nil, invalid("each of the %d approvals that wait must be answered exactly once", len(pending))
	}
	return out, nil
}

func (r hitlResponse) answers(pending []contract.PendingApproval) ([]Decision, error) {
	if len(pending) != 1 {
		return nil, invalid("%d approvals wait, and no question alone", len(pending))
	}
	p := pending[0]
	if found, ok := find(pending, r.ID); !ok || found.UUID != p.UUID {
		return nil, invalid("no question %.64q waits here", r.ID)
	}
	fields := fieldsOf(p.Schema.Raw)
	if _, ok := hitlQuestions(p); !ok || len(r.Answers) != len(fields) {
		return nil, invalid("expected %d answers", len(fields))
	}
	content := map[string]any{}
	for i, f := range fields {
		if value := f.value(r.Answers[i].Answer); value != nil {
			content[f.name] = value
		}
	}
	raw, err := json.Marshal(map[string]any{"content": content})
	if err != nil {
		return nil, invalid("the answers cannot be read: %v", err)
	}
	reply, err := answer.ParseQuestion(raw, p.Schema.Raw)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return []Decision{{UUID: p.UUID, Approved: true, Content: reply.Content}}, nil
}

// value is what the texts of an answer say, by the type of the field; nil is nothing.
func (f formField) value(texts []string) any {
	switch {
	case f.Type == "array":
		return texts
	case len(texts) == 0 || texts[0] == "":
		return nil
	case f.Type == "boolean":
		if approved, ok := answer.Word(texts[0]); ok {
			return approved
		}
	case f.Type == "integer" || f.Type == "number":
		if _, err := strconv.ParseFloat(texts[0], 64); err == nil {
			return json.Number(texts[0])
		}
	}
	return texts[0]
}
