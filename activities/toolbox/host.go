package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Sampler answers a server that asks for a model's words. It may be called by
// several servers at once.
type Sampler interface {
	Sample(ctx context.Context, s Sample) (Sampled, error)
}

// Sample is a request for a model's words.
type Sample struct {
	Server string
	System string
	Turns  []SampleTurn
	// MaxTokens is what the server asks for, and at most what it was given.
	MaxTokens int
}

// SampleTurn is a text of a user, or of the assistant.
type SampleTurn struct {
	Assistant bool
	Text      string
}

// Sampled is what the model said.
type Sampled struct {
	Text, Model, StopReason string
}

// Elicitor asks a person what a server wants to know. Over Streamable HTTP ctx
// is that of the call during which the server asks; over SSE and stdio nothing
// says which call that is.
type Elicitor interface {
	Elicit(ctx context.Context, q Question) (Answer, error)
}

// Question is what a server wants to know. Schema is a flat JSON Schema of the
// answer's content.
type Question struct {
	Server  string
	Message string
	Schema  json.RawMessage
}

// What a person may do with a question.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Answer is Accept with content, Decline or Cancel.
type Answer struct {
	Action  string
	Content map[string]any
}

// hostOptions declare what a server may ask of us, and answer it: its roots,
// and, where there is somebody to answer, samples and questions.
func (t *Toolbox) hostOptions(s Server) ([]client.ClientOption, error) {
	var options []client.ClientOption
	if len(s.Roots) > 0 {
		roots, err := s.roots()
		if err != nil {
			return nil, err
		}
		var offered mcp.ClientCapabilities
		offered.Roots = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{}
		options = append(options, client.WithClientCapabilities(offered), client.WithRootsHandler(rootsHost(roots)))
	}
	if s.SampleTokens > 0 && t.opts.Sampler != nil {
		options = append(options, client.WithSamplingHandler(samplingHost{t.opts.Sampler, s, s.limit(t.opts.CallTimeout)}))
	}
	if t.opts.Elicitor != nil {
		options = append(options, client.WithElicitationHandler(elicitationHost{t.opts.Elicitor, s}))
	}
	return options, nil
}

type rootsHost []mcp.Root

func (h rootsHost) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: h}, nil
}

type samplingHost struct {
	sampler Sampler
	server  Server
	limit   time.Duration // over SSE and stdio ctx is not that of a call
}

func (h samplingHost) CreateMessage(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if len(r.Tools) > 0 || r.ToolChoice != nil {
		return nil, errors.New("sampling with tools is not offered")
	}
	s := Sample{Server: h.server.Name, System: r.SystemPrompt, MaxTokens: h.server.SampleTokens}
	if r.MaxTokens > 0 {
		s.MaxTokens = min(s.MaxTokens, r.MaxTokens)
	}
	for _, m := range r.Messages {
		text, err := onlyText(m.Content)
		if err != nil {
			return nil, err
		}
		s.Turns = append(s.Turns, SampleTurn{Assistant: m.Role == mcp.RoleAssistant, Text: text})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.limit, timeoutError{limit: h.limit})
	defer cancel()
	said, err := h.sampler.Sample(ctx, s)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(said.Text)},
		Model:           said.Model, StopReason: said.StopReason,
	}, nil
}

// onlyText is the text of a content block or a list of them, whatever mcp-go has
// made of it.
func onlyText(content any) (string, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("encode the message: %w", err)
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		list = make([]block, 1)
		if err := json.Unmarshal(raw, &list[0]); err != nil {
			return "", fmt.Errorf("decode the message: %w", err)
		}
	}
	var lines []string
	for _, b := range list {
		if b.Type != "text" || b.Text == nil {
			return "", fmt.Errorf("sampling takes texts only, not %q", b.Type)
		}
		lines = append(lines, *b.Text)
	}
	return strings.Join(lines, "\n"), nil
}

type elicitationHost struct {
	elicitor Elicitor
	server   Server
}

// Elicit declines what is no form: a page to open somewhere else is not offered.
func (h elicitationHost) Elicit(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if mode := r.Params.Mode; mode != "" && mode != mcp.ElicitationModeForm {
		return replied(Answer{Action: Decline}), nil
	}
	schema, err := json.Marshal(r.Params.RequestedSchema)
	if err != nil {
		return nil, fmt.Errorf("encode the schema of the question: %w", err)
	}
	a, err := h.elicitor.Elicit(ctx, Question{Server: h.server.Name, Message: r.Params.Message, Schema: schema})
	if err != nil {
		return nil, err
	}
	return replied(a), nil
}

func replied(a Answer) *mcp.ElicitationResult {
	r := &mcp.ElicitationResult{}
	r.Action = mcp.ElicitationResponseAction(a.Action)
	if a.Action == Accept {
		r.Content = a.Content
		if a.Content == nil {
			r.Content = map[string]any{}
		}
	}
	return r
}
