package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// requestBody is the body of a request.
type requestBody struct {
	System   *content                `json:"systemInstruction,omitempty"`
	Contents []content               `json:"contents"`
	Tools    []toolList              `json:"tools,omitempty"`
	Choice   *genai.ToolConfig       `json:"toolConfig,omitempty"`
	Config   *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// content is a Content. Its parts are a requestPart, or raw JSON from the API itself.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type requestPart struct {
	Text      string                  `json:"text,omitempty"`
	Data      *genai.Blob             `json:"inlineData,omitempty"`
	Call      *functionCall           `json:"functionCall,omitempty"`
	Result    *genai.FunctionResponse `json:"functionResponse,omitempty"`
	Signature string                  `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type toolList struct {
	Functions []function `json:"functionDeclarations"`
}

// function describes a tool. Its schema is in Parameters, written by plainSchema. The newer
// parametersJsonSchema accepts references, but refuses those with keywords beside them and
// those that are recursive through a required property; tool servers send such schemas.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func (g gemini) request(r llm.Request, turns []llm.Turn) (requestBody, error) {
	out := requestBody{Contents: g.contents(turns), Config: g.config(r)}
	if strings.TrimSpace(r.System) != "" {
		out.System = &content{Parts: []any{requestPart{Text: r.System}}}
	}
	var functions []function
	for _, tool := range r.Tools {
		parameters, err := plainParameters(tool.InputSchema)
		if err != nil {
			return requestBody{}, &llm.Error{
				Kind:    contract.KindModelRequest,
				Message: llm.OneLine(fmt.Sprintf("the schema of tool %s is not a JSON object", tool.Name)),
			}
		}
		functions = append(functions, function{Name: g.names.Wire(tool.Name), Description: tool.Description, Parameters: parameters})
	}
	if len(functions) > 0 {
		out.Tools, out.Choice = []toolList{{functions}}, g.choice(r)
	}
	return out, nil
}

// choice returns what is demanded of the calls. The API has nothing that hinders several calls in a
// reply, so the prompt asks for it.
func (g gemini) choice(r llm.Request) *genai.ToolConfig {
	if len(r.Choice.Call) == 0 {
		return nil
	}
	c := genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}
	for _, name := range r.Choice.Call {
		c.AllowedFunctionNames = append(c.AllowedFunctionNames, g.names.Wire(name))
	}
	return &genai.ToolConfig{FunctionCallingConfig: &c}
}

// config returns the limits and the schema of the reply. The API refuses a schema together
// with tools.
func (g gemini) config(r llm.Request) *genai.GenerationConfig {
	var c genai.GenerationConfig
	limit, shaped := g.ReplyLimit(r), len(r.Schema) > 0 && len(r.Tools) == 0
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
