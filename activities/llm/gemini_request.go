package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"agent-stop-and-go/workflows/contract"
)

// geminiRequest is the body of a request.
type geminiRequest struct {
	System   *geminiTurn             `json:"systemInstruction,omitempty"`
	Contents []geminiTurn            `json:"contents"`
	Tools    []geminiTools           `json:"tools,omitempty"`
	Config   *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// geminiTurn is a Content. Its parts are geminiPart, or what the API itself said.
type geminiTurn struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type geminiPart struct {
	Text      string                  `json:"text,omitempty"`
	Data      *genai.Blob             `json:"inlineData,omitempty"`
	Call      *geminiCall             `json:"functionCall,omitempty"`
	Result    *genai.FunctionResponse `json:"functionResponse,omitempty"`
	Signature string                  `json:"thoughtSignature,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type geminiTools struct {
	Functions []geminiFunction `json:"functionDeclarations"`
}

// geminiFunction describes a tool. Its schema is in Parameters, written by
// plainSchema: the newer parametersJsonSchema takes references, but refuses those
// that have keywords beside them and those that lead back to themselves through a
// required property, and schemas come from tool servers as they please.
type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func (g gemini) request(r Request, turns []Turn) (geminiRequest, error) {
	out := geminiRequest{Contents: g.contents(turns), Config: g.config(r)}
	if strings.TrimSpace(r.System) != "" {
		out.System = &geminiTurn{Parts: []any{geminiPart{Text: r.System}}}
	}
	var functions []geminiFunction
	for _, tool := range r.Tools {
		parameters, err := plainParameters(tool.InputSchema)
		if err != nil {
			return geminiRequest{}, &Error{
				Kind:    contract.KindModelRequest,
				Message: oneLine(fmt.Sprintf("the schema of tool %s is not a JSON object", tool.Name)),
			}
		}
		functions = append(functions, geminiFunction{Name: g.names.toWire(tool.Name), Description: tool.Description, Parameters: parameters})
	}
	if len(functions) > 0 {
		out.Tools = []geminiTools{{functions}}
	}
	return out, nil
}

// config bounds and shapes the reply. The API takes no schema of the reply beside
// tools.
func (g gemini) config(r Request) *genai.GenerationConfig {
	var c genai.GenerationConfig
	limit, shaped := g.replyLimit(r), len(r.Schema) > 0 && len(r.Tools) == 0
	if g.Temperature == nil && limit <= 0 && !shaped {
		return nil
	}
	if g.Temperature != nil {
		c.Temperature = genai.Ptr(float32(*g.Temperature))
	}
	if limit > 0 {
		c.MaxOutputTokens = int32(min(limit, 1<<30))
	}
	if shaped {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", r.Schema
	}
	return &c
}

// geminiNames is the name table with names as the API wants them: they begin with
// a letter or an underscore. It also knows the tools that were called and are no
// longer on offer.
func geminiNames(tools []contract.Tool, turns []Turn) nameTable {
	t := newNameTable(tools)
	for _, tool := range tools {
		wire := t.wire[tool.Name]
		name := beginning(wire)
		for name != wire && t.own[name] != "" {
			name = beginning("_" + name)
		}
		delete(t.own, wire)
		t.wire[tool.Name], t.own[name] = name, tool.Name
	}
	for _, turn := range turns {
		for _, c := range turn.Calls {
			if _, ok := t.wire[c.Name]; !ok {
				t.wire[c.Name] = beginning(allowedName(c.Name))
			}
		}
	}
	return t
}

// beginning puts an underscore before a name that begins with something else, or
// has one too many.
func beginning(name string) string {
	if name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}
