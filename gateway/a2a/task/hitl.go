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

// HITL is the extension with which kagent's clients answer approvals
// (docs/architecture/human-in-the-loop.md of kagent). The metadata of the status message
// lists the waiting approvals; the metadata of a user's message answers them.
const HITL = "https://kagent.dev/extensions/hitl/v1"

// HITLExtension is the entry of the extension in an agent card.
func HITLExtension() a2a.AgentExtension {
	return a2a.AgentExtension{URI: HITL, Description: "Human approval and user input"}
}

// Payload types of the extension.
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
	// Chain is our addition to the extension: it names all agents if there is more than one.
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

// askHITL adds the waiting approvals in the form of the extension.
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
			return hitlRequest{Type: hitlApproval, Hint: description(p), Tools: []hitlTool{toolOf(p)}, Nested: nestedOf(p)}
		}
	}
	r := hitlRequest{Type: hitlApproval}
	var hints []string
	for _, p := range s.pending() {
		hints = append(hints, description(p))
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

// hitlQuestions returns the form of a question; ok is false if approval or rejection is
// enough.
func hitlQuestions(p contract.PendingApproval) ([]hitlQuestion, bool) {
	if !needsContent(p) || p.Reason == contract.ReasonClientTool {
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

// formField is a property in the schema of a question.
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

func (f formField) question(description string) string {
	for _, text := range []string{f.Description, f.Title} {
		if text != "" {
			return text
		}
	}
	return description + "\n\n" + f.name
}

// fieldsOf returns the properties of a schema, sorted by name.
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
		_ = json.Unmarshal(s.Properties[name], &f) // an unknown property is asked as text
		out = append(out, f)
	}
	return out
}

// hitlPayload returns the metadata of the extension in a message, if the message uses it.
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

// readHITL reads the decisions in the payload. It must answer every approval exactly once; an
// approval that is missing is never taken as approved.
func readHITL(raw json.RawMessage, pending []contract.PendingApproval) ([]Decision, error) {
	if key := duplicateKey(raw); key != "" {
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

// duplicateKey returns a key that an object has twice in different case, or "". encoding/json
// does not distinguish the two.
func duplicateKey(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, v := range list {
			if key := duplicateKey(v); key != "" {
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
		if inside := duplicateKey(v); inside != "" {
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
		case *a.Approved && needsContent(p):
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

// value converts the texts of an answer to the type of the field. nil means no value.
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
