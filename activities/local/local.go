// Package local has the tools of the agent itself, which need no tool server: what it is and which
// models it has, and a model that is asked without the conversation, with one tool or with none.
//
//	local.go  the tools; box.go offers them beside those of servers
//	ask.go    ask_model and ask_model_with_tool; scope.go is what the latter may use
//
// A call of them is one of the server local.Server for rules, rate limits, lists of tools and the
// record. What it asks of models counts for the conversation.
//
// ask_model_with_tool calls at most one other tool, once, and only where nobody would be asked: one
// that its node may use, that its server says only reads, that asks nothing on its own, and that
// the agent's rules do not hold. Any other call is refused, and the result says to make it
// without this tool: then it is a call like all others, which waits for people if it has to. A tool of the agent
// itself and another agent cannot be used, so that no call is nested deeper than that.
package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/local"
)

// Model is a model that may be asked.
type Model struct {
	Name     string            `json:"name"` // for ask_model
	Provider contract.Provider `json:"provider"`
	Model    string            `json:"model"` // the provider's own name
	// Context is the maximum number of tokens of a request and its reply together, 0 if it is not known.
	Context int  `json:"context_window,omitempty"`
	Default bool `json:"default,omitempty"`
	// Input and Output are prices of a million tokens.
	Input  float64 `json:"input_price,omitempty"`
	Output float64 `json:"output_price,omitempty"`
}

// Tools are the tools. They are safe for concurrent use.
type Tools struct {
	Agent, Description string
	// Offer are the names of those on offer.
	Offer []string
	// Models are those that may be asked. The one that is the Default answers if none is named.
	Models []Model
	// MaxTokens bounds a model's reply; 0 leaves it to the provider.
	MaxTokens int
	// Timeout bounds a call, with all that it does; 0 means local.MaxTime.
	Timeout time.Duration
	Model   llm.Model
	Now     func() time.Time

	once sync.Once
	list []toolbox.Tool
}

// Call is a call of a tool. The arguments fit its schema.
type Call struct {
	Tool      string
	Arguments json.RawMessage
	// Inside is what ask_model_with_tool may use.
	Inside Inside
}

// Result is the result of a call.
type Result struct {
	Text    string
	IsError bool
	// Usage is that of the models that were asked.
	Usage contract.Usage
	// Used is the other tool that was called, Call is its call for people, and Inner its result; nil if it has none.
	Used, Call string
	Inner      *contract.CallToolResult
}

// Call carries a call out. The error is an *toolbox.Error, or that of ctx, and nothing was used then.
func (t *Tools) Call(ctx context.Context, c Call) (Result, error) {
	i := slices.IndexFunc(t.offered(), func(o toolbox.Tool) bool { return o.Name == c.Tool })
	if i < 0 {
		return Result{}, failure(c.Tool, contract.KindToolFailed, "there is no such tool")
	}
	limit := cmp.Or(t.Timeout, local.MaxTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeoutError{limit})
	defer cancel()
	switch c.Tool {
	case local.AgentInfo:
		return encoded(t.info())
	case local.Models:
		return encoded(map[string]any{"models": t.Models})
	case local.AskModel:
		return t.ask(ctx, c)
	default:
		return t.askWithTool(ctx, c)
	}
}

func encoded(v any) (Result, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Result{}, failure("", contract.KindInternal, err.Error())
	}
	return Result{Text: string(raw)}, nil
}

func (t *Tools) info() any {
	now := t.Now()
	zone, _ := now.Zone()
	return struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Model       string `json:"model"`
		LocalTime   string `json:"local_time"`
		Timezone    string `json:"timezone"`
		Platform    string `json:"platform"`
	}{t.Agent, t.Description, t.standard(), now.Format(time.RFC3339), zone, runtime.GOOS + "/" + runtime.GOARCH}
}

// standard is the model that is asked if none is named, or "".
func (t *Tools) standard() string {
	for _, m := range t.Models {
		if m.Default {
			return m.Name
		}
	}
	return ""
}

// offered are the tools on offer.
func (t *Tools) offered() []toolbox.Tool {
	if t == nil {
		return nil
	}
	t.once.Do(func() { t.list = t.tools() })
	return t.list
}

func (t *Tools) tools() []toolbox.Tool {
	var models []string
	for _, m := range t.Models {
		models = append(models, m.Name)
	}
	model := map[string]any{"type": "string", "enum": models, "description": "The model. Without it, the agent's own."}
	required := []string{}
	if t.standard() == "" {
		model["description"], required = "The model.", []string{"model"}
	}
	text := func(description string) any {
		return map[string]any{"type": "string", "minLength": 1, "description": description}
	}
	all := []toolbox.Tool{
		tool(local.AgentInfo, "Tells what this agent is: its name, its model, its clock and its platform.", true, map[string]any{}),
		tool(local.Models, "Lists the models that can be asked, with their context windows and prices.", true, map[string]any{}),
		tool(local.AskModel, "Asks a model one question. It knows nothing of this conversation and has no tools: the prompt must have all that it needs.", false,
			map[string]any{"model": model, "prompt": text("The question, with everything that the model must know.")}, append(required, "prompt")...),
		tool(local.AskModelWithTool, "Has a model call one tool that only reads, once, and answer from its result, so that a long result stays out of this conversation. "+
			"Tools that change something, or that a person must approve, are refused: call them yourself.", false,
			map[string]any{"model": model, "tool": text("The name of the tool."), "request": text("What to find out with the tool, with everything that the model must know.")},
			append(required, "tool", "request")...),
	}
	return slices.DeleteFunc(all, func(o toolbox.Tool) bool { return !slices.Contains(t.Offer, o.Name) })
}

// tool is a tool that only reads: it changes nothing, but a model that is asked may cost something.
func tool(name, description string, idempotent bool, properties map[string]any, required ...string) toolbox.Tool {
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": append([]string{}, required...), "additionalProperties": false,
	})
	if err != nil {
		panic(err) // texts and maps of them can be encoded
	}
	return toolbox.Tool{
		Tool: contract.Tool{
			Name: name, Description: description, InputSchema: schema, Server: local.Server, Approval: &contract.ToolApproval{Because: contract.GroundAnnotation},
		},
		ReadOnly: true, Idempotent: idempotent,
	}
}

func failure(tool string, kind contract.Kind, reason string) *toolbox.Error {
	return &toolbox.Error{Kind: kind, Server: local.Server, Tool: tool, Err: fmt.Errorf("%s", reason)}
}

// timeoutError is the cause of a call's own deadline.
type timeoutError struct{ limit time.Duration }

func (e timeoutError) Error() string { return "no answer within " + e.limit.String() }
