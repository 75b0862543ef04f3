package llmtest

import (
	"encoding/json"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// geminiRequest has the fields that the rules check.
type geminiRequest struct {
	Contents []geminiWireContent `json:"contents"`
	System   *geminiWireContent  `json:"systemInstruction"`
	Tools    []struct {
		Functions []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Choice *struct {
		Calling struct {
			Mode  string   `json:"mode"`
			Names []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Config struct {
		MIMEType string          `json:"responseMimeType"`
		Schema   json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

var (
	geminiPath     = regexp.MustCompile(`^(/.*)?/v[0-9]+(alpha|beta)?/((models|tunedModels)/[^/:]+):(stream)?[gG]enerateContent$`)
	geminiFunction = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`)
	geminiThinks   = regexp.MustCompile(`models/gemini-([3-9]|[1-9][0-9]|.*-latest)`)
)

func (g gemini) validate(r *http.Request, body []byte) *apiError {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	path := geminiPath.FindStringSubmatch(r.URL.Path)
	switch {
	case path == nil, r.Method != http.MethodPost:
		return &apiError{http.StatusNotFound, "The requested URL " + r.URL.Path + " was not found on this server.", "", "", ""}
	case r.URL.Query().Has("key"):
		return invalid("", "llmtest: the API takes a key in the URL, but logs would show it there.")
	case g.key(r) == "":
		return &apiError{http.StatusForbidden, "Method doesn't allow unregistered callers (callers without established identity). " +
			"Please use API Key or other form of API consumer identity to call this API.", "", "", ""}
	case media != "application/json":
		return invalid("", "Invalid JSON payload received. Unexpected content type %q.", media)
	case !json.Valid(body):
		return invalid("", "Invalid JSON payload received. Unexpected token.")
	}
	if e := unknownFields("request", "", body); e != nil {
		return e
	}
	var req geminiRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return invalid("", "Invalid value: %v", err)
	}
	return req.validate(geminiThinks.MatchString(path[3]))
}

func (r geminiRequest) validate(signed bool) *apiError {
	functions, e := r.functions()
	if e != nil {
		return e
	}
	if e := r.validateChoice(functions); e != nil {
		return e
	}
	if r.Config.MIMEType == "application/json" && len(functions) > 0 {
		return invalid("", "Function calling with a response mime type: 'application/json' is unsupported")
	}
	if len(r.Config.Schema) > 0 && r.Config.MIMEType != "application/json" {
		return invalid("", "* GenerateContentRequest.generation_config.response_json_schema: only allowed when response mime type is \"application/json\"\n")
	}
	if r.System != nil {
		if e := r.System.validate("system_instruction"); e != nil {
			return e
		}
	}
	return validateContents(r.Contents, signed)
}

// functions returns the names of the functions.
func (r geminiRequest) functions() (names []string, e *apiError) {
	for t, tool := range r.Tools {
		for i, f := range tool.Functions {
			at := geminiAt("tools[%d].function_declarations[%d]", t, i)
			switch {
			case !geminiFunction.MatchString(f.Name):
				return nil, invalid("", "* %s.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. "+
					"Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n", at)
			case slices.Contains(names, f.Name):
				return nil, invalid("", "Duplicate function declaration found: %s", f.Name)
			}
			names = append(names, f.Name)
			if e := validateParameters(at+".parameters", f.Parameters); e != nil {
				return nil, e
			}
		}
	}
	return names, nil
}

type geminiSchema struct {
	Type       string                  `json:"type"`
	Format     string                  `json:"format"`
	Enum       []string                `json:"enum"`
	Properties map[string]geminiSchema `json:"properties"`
	Required   []string                `json:"required"`
	Items      *geminiSchema           `json:"items"`
	AnyOf      []geminiSchema          `json:"anyOf"`
}

func validateParameters(at string, raw json.RawMessage) *apiError {
	if len(raw) == 0 {
		return nil
	}
	var s geminiSchema
	switch {
	case json.Unmarshal(raw, &s) != nil:
		return invalid("", "Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)", at)
	case !strings.EqualFold(s.Type, "object"):
		return invalid("", "* %s: schema should be of type OBJECT\n", at)
	case len(s.Properties) == 0:
		return invalid("", "* %s.properties: should be non-empty for OBJECT type\n", at)
	}
	return s.validate(at)
}

func (s geminiSchema) validate(at string) *apiError {
	kind := strings.ToUpper(s.Type)
	switch {
	case kind == "" && len(s.AnyOf) == 0:
		return invalid("", "* %s.type: must be specified\n", at)
	case kind != "" && !slices.Contains([]string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}, kind):
		return invalid("", "Invalid value at '%s.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), %q", at, s.Type)
	case kind != "OBJECT" && (s.Properties != nil || s.Required != nil):
		return invalid("", "* %s.properties: only allowed for OBJECT type\n", at)
	case kind == "ARRAY" && s.Items == nil:
		return invalid("", "* %s.items: missing field.\n", at)
	case kind != "STRING" && s.Enum != nil:
		return invalid("", "* %s.enum: only allowed for STRING type\n", at)
	case slices.Contains(s.Enum, ""):
		return invalid("", "* %s.enum: cannot be empty\n", at)
	case kind == "STRING" && !slices.Contains([]string{"", "enum", "date-time"}, s.Format):
		return invalid("", "* %s.format: only 'enum' and 'date-time' are supported for STRING type\n", at)
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return invalid("", "* %s.required[0]: property is not defined\n", at)
		}
	}
	return s.inside(at)
}

func (s geminiSchema) inside(at string) *apiError {
	for _, name := range sortedKeys(s.Properties) {
		if e := s.Properties[name].validate(at + ".properties[" + name + "]"); e != nil {
			return e
		}
	}
	for i, one := range s.AnyOf {
		if e := one.validate(at + geminiIndex(".any_of", i)); e != nil {
			return e
		}
	}
	if s.Items != nil {
		return s.Items.validate(at + ".items")
	}
	return nil
}
