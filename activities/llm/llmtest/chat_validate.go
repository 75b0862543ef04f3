package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"
)

// apiError is an error as the API reports it.
type apiError struct {
	Status  int     `json:"-"`
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   nullStr `json:"param"`
	Code    nullStr `json:"code"`
}

// nullStr is a string that is encoded as null if it is empty.
type nullStr string

func (s nullStr) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

// encode encodes the types of this package, which cannot fail.
func encode(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func invalid(param, format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, fmt.Sprintf(format, args...), "invalid_request_error", nullStr(param), ""}
}

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// wireRequest has the fields that the rules check.
type wireRequest struct {
	Model    string          `json:"model"`
	Messages []wireMessage   `json:"messages"`
	Tools    json.RawMessage `json:"tools"`
	Stream   bool            `json:"stream"`
	Options  json.RawMessage `json:"stream_options"`
	Format   json.RawMessage `json:"response_format"`
	Choice   json.RawMessage `json:"tool_choice"`
	Parallel *bool           `json:"parallel_tool_calls"`
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

func (chat) validate(r *http.Request, body []byte) *apiError {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case !strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return &apiError{http.StatusNotFound, fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path), "invalid_request_error", "", ""}
	case r.Method != http.MethodPost:
		return &apiError{http.StatusMethodNotAllowed, "Only POST requests are accepted.", "invalid_request_error", "", "method_not_supported"}
	case media != "application/json":
		return invalid("", "Unsupported content type: '%s'. This API method only accepts 'application/json' requests.", media)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return invalid("", "We could not parse the JSON body of your request.")
	}
	for name := range fields {
		if !arguments[name] {
			return invalid("", "Unrecognized request argument supplied: %s", name)
		}
	}
	var req wireRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return invalid("", "Invalid type in the request: %v", err)
	}
	return req.validate()
}

// arguments has the names of the API's request fields.
var arguments = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`model messages tools tool_choice parallel_tool_calls temperature top_p n stop max_tokens
		max_completion_tokens presence_penalty frequency_penalty logit_bias logprobs top_logprobs user seed response_format
		stream stream_options store metadata reasoning_effort service_tier modalities prediction verbosity`) {
		out[name] = true
	}
	return out
}()

func (r wireRequest) validate() *apiError {
	switch {
	case r.Model == "":
		return invalid("", "you must provide a model parameter")
	case len(r.Messages) == 0:
		return invalid("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	for _, e := range []*apiError{r.validateStream(), validateFormat(r.Format), validateTools(r.Tools), r.validateChoice()} {
		if e != nil {
			return e
		}
	}
	return validateMessages(r.Messages)
}

func (r wireRequest) validateStream() *apiError {
	if len(r.Options) == 0 || string(r.Options) == "null" {
		return nil
	}
	var options struct {
		Usage       bool `json:"include_usage"`
		Obfuscation bool `json:"include_obfuscation"`
	}
	in := json.NewDecoder(bytes.NewReader(r.Options))
	in.DisallowUnknownFields()
	switch {
	case !r.Stream:
		return invalid("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case in.Decode(&options) != nil:
		return invalid("stream_options", "Invalid value for 'stream_options': expected an object with 'include_usage'.")
	}
	return nil
}

func validateFormat(raw json.RawMessage) *apiError {
	if len(raw) == 0 {
		return nil
	}
	var format struct {
		Type   string `json:"type"`
		Schema struct {
			Name   string         `json:"name"`
			Schema map[string]any `json:"schema"`
		} `json:"json_schema"`
	}
	switch err := json.Unmarshal(raw, &format); {
	case err != nil:
		return invalid("response_format", "Invalid type for 'response_format': expected an object.")
	case format.Type == "text", format.Type == "json_object":
		return nil
	case format.Type != "json_schema":
		return invalid("response_format.type", "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", format.Type)
	case !functionName.MatchString(format.Schema.Name):
		return invalid("response_format.json_schema.name", "Missing required parameter: 'response_format.json_schema.name'.")
	case format.Schema.Schema == nil:
		return invalid("response_format.json_schema.schema", "Missing required parameter: 'response_format.json_schema.schema'.")
	}
	return nil
}

func validateTools(raw json.RawMessage) *apiError {
	if len(raw) == 0 {
		return nil
	}
	var tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &tools) != nil || len(tools) == 0 || len(tools) > 128 {
		return invalid("tools", "Invalid 'tools': expected an array of 1 to 128 tools.")
	}
	names := map[string]bool{}
	for i, t := range tools {
		name := t.Function.Name
		switch {
		case t.Type != "function":
			return invalid(fmt.Sprintf("tools[%d].type", i), "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", t.Type)
		case !functionName.MatchString(name):
			return invalid(fmt.Sprintf("tools[%d].function.name", i), "Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		case names[name]:
			return invalid("tools", "Invalid 'tools': duplicate function name '%s'.", name)
		}
		names[name] = true
		if e := validateSchema(name, t.Function.Parameters); e != nil {
			return e
		}
	}
	return nil
}

func validateSchema(name string, raw json.RawMessage) *apiError {
	if len(raw) == 0 {
		return nil
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &schema) != nil || schema.Type != "object" {
		return invalid("tools", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%s\"'.", name, schema.Type)
	}
	if schema.Properties == nil {
		return invalid("tools", "Invalid schema for function '%s': In context=(), object schema missing properties.", name)
	}
	return nil
}
