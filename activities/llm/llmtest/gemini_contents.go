package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract/modality"
)

type geminiWireContent struct {
	Role  string           `json:"role"`
	Parts []geminiWirePart `json:"parts"`
}

type geminiWirePart struct {
	Text      *string `json:"text"`
	Signature *string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Data *struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
}

func geminiAt(format string, args ...any) string {
	return "GenerateContentRequest." + fmt.Sprintf(format, args...)
}

func geminiIndex(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// validateContents checks each content, and that a turn's calls are directly followed by the
// same number of results. With signed, every reply since the user's last text needs a
// signature on its first call.
func validateContents(contents []geminiWireContent, signed bool) *apiError {
	if len(contents) == 0 {
		return invalid("", "* GenerateContentRequest.contents: contents is not specified\n")
	}
	var before geminiWireContent
	for i, c := range contents {
		switch {
		case c.Role != "user" && c.Role != "model":
			return invalid("", "Please use a valid role: user, model.")
		case i == 0 && c.Role != "user":
			return invalid("", "Please ensure that the first content is one with role user.")
		}
		if e := c.validate(geminiIndex("contents", i)); e != nil {
			return e
		}
		if e := c.follows(before, i); e != nil {
			return e
		}
		before = c
	}
	if len(before.calls()) > 0 {
		return countsDiffer()
	}
	if signed {
		return unsignedCalls(contents)
	}
	return nil
}

func countsDiffer() *apiError {
	return invalid("", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
}

func (c geminiWireContent) calls() (names []string) {
	for _, p := range c.Parts {
		if p.Call != nil {
			names = append(names, p.Call.Name)
		}
	}
	return names
}

func (c geminiWireContent) responses() (names []string) {
	for _, p := range c.Parts {
		if p.Response != nil {
			names = append(names, p.Response.Name)
		}
	}
	return names
}

func (c geminiWireContent) follows(before geminiWireContent, i int) *apiError {
	calls, responses := before.calls(), c.responses()
	switch {
	case len(responses) > 0 && len(calls) == 0:
		return invalid("", "Please ensure that function response turn comes immediately after a function call turn.")
	case len(calls) != len(responses):
		return countsDiffer()
	case len(c.calls()) > 0 && (i == 0 || before.Role != "user"):
		return invalid("", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	}
	return c.answers(before, i)
}

// answers checks that the responses have the names and IDs of the calls, in their order.
func (c geminiWireContent) answers(before geminiWireContent, i int) *apiError {
	var ids, names []string
	for _, p := range before.Parts {
		if p.Call != nil {
			ids, names = append(ids, p.Call.ID), append(names, p.Call.Name)
		}
	}
	for _, p := range c.Parts {
		if p.Response == nil {
			continue
		}
		if p.Response.Name != names[0] || p.Response.ID != ids[0] {
			return invalid("", "Function response %s (id %q) in contents[%d] is not that of function call %s (id %q).",
				p.Response.Name, p.Response.ID, i, names[0], ids[0])
		}
		ids, names = ids[1:], names[1:]
	}
	return nil
}

func (c geminiWireContent) validate(at string) *apiError {
	if len(c.Parts) == 0 {
		return invalid("", "* %s.parts: contents.parts must not be empty.\n", geminiAt("%s", at))
	}
	for i, p := range c.Parts {
		if e := p.validate(at+geminiIndex(".parts", i), c.Role); e != nil {
			return e
		}
	}
	return nil
}

func (p geminiWirePart) validate(at, role string) *apiError {
	if p.Signature != nil && !isBase64(*p.Signature) {
		return invalid("", "Invalid value at '%s.thought_signature' (TYPE_BYTES), Base64 decoding failed for \"%.40s\"", at, *p.Signature)
	}
	set := 0
	for _, is := range []bool{p.Text != nil, p.Call != nil, p.Response != nil, p.Data != nil} {
		if is {
			set++
		}
	}
	switch {
	case set == 0, p.Text != nil && *p.Text == "" && p.Signature == nil:
		return invalid("", "* %s.data: required oneof field 'data' must have one initialized field\n", geminiAt("%s", at))
	case set > 1:
		return invalid("", "Invalid value at '%s' (oneof), oneof field 'data' is already set.", at)
	case p.Call != nil && (role != "model" || !geminiFunction.MatchString(p.Call.Name) || !isStruct(p.Call.Args, true)):
		return invalid("", "* %s.function_call: [FIELD_INVALID] %q\n", geminiAt("%s", at), p.Call.Name)
	case p.Response != nil && (role != "user" || !isStruct(p.Response.Response, false)):
		return invalid("", "* %s.function_response.response: [REQUIRED_FIELD_MISSING] %q\n", geminiAt("%s", at), p.Response.Name)
	case p.Data != nil && p.Data.MIMEType == "image/gif":
		return invalid("", "Unsupported MIME type: image/gif")
	case p.Data != nil && p.Data.MIMEType == modality.PDF && !isPDF(p.Data.Data):
		return invalid("", "The document has no pages.")
	case p.Data != nil && (p.Data.MIMEType == "" || p.Data.Data == "" || !isBase64(p.Data.Data)):
		return invalid("", "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting")
	}
	return nil
}

// isBase64 accepts the standard and the URL alphabet, as the JSON of protocol buffers does.
func isBase64(text string) bool {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	_, err := base64.RawStdEncoding.DecodeString(text)
	return err == nil
}

func isStruct(raw json.RawMessage, optional bool) bool {
	var fields map[string]any
	return len(raw) == 0 && optional || json.Unmarshal(raw, &fields) == nil && fields != nil
}

func unsignedCalls(contents []geminiWireContent) *apiError {
	for i := len(contents) - 1; i >= 0; i-- {
		c := contents[i]
		if c.Role == "user" && len(c.responses()) == 0 {
			return nil // the turn began here
		}
		for _, p := range c.Parts {
			if p.Call == nil {
				continue
			}
			if p.Signature == nil || *p.Signature == "" {
				return invalid("", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "+
					"and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. "+
					"Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", p.Call.Name, i+1)
			}
			break
		}
	}
	return nil
}
