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

// Sampler answers sampling requests of servers. It may be called concurrently.
type Sampler interface {
	Sample(ctx context.Context, s Sample) (SampleResult, error)
}

// Sample is a sampling request.
type Sample struct {
	Server string
	System string
	Turns  []SampleTurn
	// MaxTokens is the requested limit, at most the configured one.
	MaxTokens int
}

// SampleTurn is a text of the user or the assistant.
type SampleTurn struct {
	Assistant bool
	Text      string
}

// SampleResult is the model's answer.
type SampleResult struct {
	Text, Model, StopReason string
}

// Elicitor submits a server's question to a person. ctx is that of the call, without its time
// limit: it ends with the call, and when the questions of the call have waited too long. With
// ErrStopping the call ends as if its answer was lost; any other error is sent to the server.
type Elicitor interface {
	Elicit(ctx context.Context, q Question) (Answer, error)
}

// ErrStopping is returned by an Elicitor that does not wait for the answer, because it is
// stopping.
var ErrStopping = errors.New("nobody waits for the answer to the question any more")

// Question is a question of a server. Schema is a flat JSON Schema of the answer's content;
// Tool and Key identify the call.
type Question struct {
	Server  string
	Tool    string
	Key     string
	Message string
	Schema  json.RawMessage
}

// The actions of a person on a question.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Answer is Accept with content, Decline or Cancel. Only a user declines. Problem is why no
// user could answer, for example because nobody was shown the question; the Action is then
// Cancel.
type Answer struct {
	Action  string
	Content map[string]any
	Problem string
}

// hostOptions returns the client options that declare and answer requests of the server: roots
// if some are configured, sampling with a Sampler, and elicitation with an Elicitor.
func (c *conn) hostOptions() ([]client.ClientOption, error) {
	t, s := c.box, c.server
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
		options = append(options, client.WithSamplingHandler(samplingHost{t.opts.Sampler, s, s.limit(t.opts.CallTimeout), c.asked}))
	}
	if s.MayAsk && t.opts.Elicitor != nil {
		options = append(options, client.WithElicitationHandler(elicitationHost{c}))
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
	limit   time.Duration // over SSE and stdio ctx is not the context of a call
	asked   slots
}

func (h samplingHost) CreateMessage(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if !h.asked.acquire() {
		return nil, errAsksTooMuch
	}
	defer h.asked.release()
	if len(r.Tools) > 0 || r.ToolChoice != nil {
		return nil, errors.New("sampling with tools is not offered")
	}
	hidden := h.server.mask("")
	s := Sample{Server: h.server.Name, System: hidden.Text(r.SystemPrompt), MaxTokens: h.server.SampleTokens}
	if r.MaxTokens > 0 {
		s.MaxTokens = min(s.MaxTokens, r.MaxTokens)
	}
	for _, m := range r.Messages {
		text, err := onlyText(m.Content)
		if err != nil {
			return nil, err
		}
		s.Turns = append(s.Turns, SampleTurn{Assistant: m.Role == mcp.RoleAssistant, Text: hidden.Text(text)})
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

// onlyText returns the text of a content block or of a list of them, in any type that mcp-go
// decodes to.
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
