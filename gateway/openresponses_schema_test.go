package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shape has the members of an object of Open Responses (its OpenAPI document, 2026-04-24), each with its kind. A
// member with a question mark may be missing.
//
// A kind is string, int, number, bool, object or any; words with | between them; []KIND; or the name of a shape or
// a union. With a question mark it may be null.
type shape map[string]string

const events = `sequence_number int`

// shapes are the objects, by their names. Events are named by their types.
var shapes = map[string]shape{
	"Response": shapeOf(`id string, object response|, created_at int, completed_at int?, status completed|failed|in_progress|cancelled|incomplete|queued,
		incomplete_details IncompleteDetails?, model string, previous_response_id string?, instructions string?, output []Item, error Error?, tools []Tool,
		tool_choice ToolChoice, truncation auto|disabled, parallel_tool_calls bool, text Text, top_p number, presence_penalty number,
		frequency_penalty number, top_logprobs int, temperature number, reasoning Reasoning?, usage Usage?, max_output_tokens int?, max_tool_calls int?,
		store bool, background bool, service_tier string, metadata object, safety_identifier string?, prompt_cache_key string?`),
	"IncompleteDetails": shapeOf(`reason string`),
	"Error":             shapeOf(`code string, message string`),
	"Reasoning":         shapeOf(`effort none|low|medium|high|xhigh?, summary concise|detailed|auto?`),
	"Usage":             shapeOf(`input_tokens int, output_tokens int, total_tokens int, input_tokens_details InputDetails, output_tokens_details OutputDetails`),
	"InputDetails":      shapeOf(`cached_tokens int`),
	"OutputDetails":     shapeOf(`reasoning_tokens int`),
	"Text":              shapeOf(`format Format, verbosity? low|medium|high`),
	"Compaction":        shapeOf(`id string, object response.compaction|, output []Item, created_at int, usage Usage`),
	"Refusal":           shapeOf(`error ErrorPayload`),
	"ErrorPayload":      shapeOf(`type string, code string?, message string, param string?, headers? object`),
	"SocketError":       shapeOf(`type error|, status int, error SocketErrorPayload`),

	"SocketErrorPayload": shapeOf(`type? string, code string, message string, param? string?`),

	"Item message":              shapeOf(`type message|, id string, status in_progress|completed|incomplete, role user|assistant|system|developer, content []Part, phase? commentary|final_answer`),
	"Item function_call":        shapeOf(`type function_call|, id string, call_id string, name string, arguments string, status in_progress|completed|incomplete`),
	"Item compaction":           shapeOf(`type compaction|, id string, status string, encrypted_content string`),
	"Item mcp_approval_request": shapeOf(`type string, id string, status string, server_label string, name string, arguments string`), // of OpenAI: only for clients that ask for it
	"Part output_text":          shapeOf(`type output_text|, text string, annotations []any, logprobs? []any`),
	"Tool function":             shapeOf(`type function|, name string, description string?, parameters object?, strict bool?`),
	"Tool mcp":                  shapeOf(`type mcp|, server_label string`), // of OpenAI, as the client has declared it
	"ToolChoice function":       shapeOf(`type function|, name? string`),
	"ToolChoice allowed_tools":  shapeOf(`type allowed_tools|, tools []ToolChoice, mode none|auto|required`),
	"Format text":               shapeOf(`type text|`),
	"Format json_object":        shapeOf(`type json_object|`),
	"Format json_schema":        shapeOf(`type json_schema|, name string, description string?, schema any, strict bool`),

	"Event response.created":                       shapeOf(events + `, response Response`),
	"Event response.in_progress":                   shapeOf(events + `, response Response`),
	"Event response.completed":                     shapeOf(events + `, response Response`),
	"Event response.failed":                        shapeOf(events + `, response Response`),
	"Event response.incomplete":                    shapeOf(events + `, response Response`),
	"Event response.output_item.added":             shapeOf(events + `, output_index int, item Item`),
	"Event response.output_item.done":              shapeOf(events + `, output_index int, item Item`),
	"Event response.content_part.added":            shapeOf(events + `, item_id string, output_index int, content_index int, part Part`),
	"Event response.content_part.done":             shapeOf(events + `, item_id string, output_index int, content_index int, part Part`),
	"Event response.output_text.delta":             shapeOf(events + `, item_id string, output_index int, content_index int, delta string, logprobs? []any`),
	"Event response.output_text.done":              shapeOf(events + `, item_id string, output_index int, content_index int, text string, logprobs? []any`),
	"Event response.function_call_arguments.delta": shapeOf(events + `, item_id string, output_index int, delta string`),
	"Event response.function_call_arguments.done":  shapeOf(events + `, item_id string, output_index int, arguments string`),
	"Event error":                                  shapeOf(events + `, error ErrorPayload`),
}

func shapeOf(text string) shape {
	s := shape{}
	for member := range strings.SplitSeq(text, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(member), " ")
		s[name] = kind
	}
	return s
}

// misfit returns what is wrong with a value of a kind, or "". at is where it is.
func misfit(at, kind string, v any) string {
	if kind, ok := strings.CutSuffix(kind, "?"); ok {
		if v == nil {
			return ""
		}
		return misfit(at, kind, v)
	}
	if of, ok := strings.CutPrefix(kind, "[]"); ok {
		list, ok := v.([]any)
		if !ok {
			return fmt.Sprintf("%s is no list: %v", at, v)
		}
		for i, element := range list {
			if wrong := misfit(fmt.Sprintf("%s[%d]", at, i), of, element); wrong != "" {
				return wrong
			}
		}
		return ""
	}
	fits := false
	switch text, isText := v.(string); {
	case kind == "any":
		fits = true
	case kind == "string":
		fits = isText
	case kind == "int":
		n, ok := v.(float64)
		fits = ok && n == float64(int64(n))
	case kind == "number":
		_, fits = v.(float64)
	case kind == "bool":
		_, fits = v.(bool)
	case kind == "object":
		_, fits = v.(map[string]any)
	case strings.Contains(kind, "|"):
		fits = isText && slices.Contains(strings.Split(strings.Trim(kind, "|"), "|"), text)
	case kind == "ToolChoice" && isText:
		fits = slices.Contains([]string{"none", "auto", "required"}, text)
	default:
		return misfitShape(at, kind, v)
	}
	if !fits {
		return fmt.Sprintf("%s is not %s: %v", at, kind, v)
	}
	return ""
}

// misfitShape is misfit for a shape, or one of a union by the type in the value.
func misfitShape(at, name string, v any) string {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s is no %s: %v", at, name, v)
	}
	members, known := shapes[name]
	if !known {
		kind, _ := object["type"].(string)
		if members, known = shapes[name+" "+kind]; !known {
			return fmt.Sprintf("%s is of the type %q, which no %s has", at, kind, name)
		}
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		key, optional := strings.CutSuffix(member, "?")
		value, there := object[key]
		switch {
		case there:
			if wrong := misfit(at+"."+key, members[member], value); wrong != "" {
				return wrong
			}
		case !optional:
			return fmt.Sprintf("%s has no %s", at, key)
		}
	}
	return ""
}

// wantShape checks that a value is of a kind.
func wantShape(t *testing.T, kind string, v any) {
	t.Helper()
	if wrong := misfit(kind, kind, v); wrong != "" {
		t.Error(wrong)
	}
}

// A shape finds what is missing, null, of another type, or unknown.
func TestShapesFindFaults(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"message","id":"m","status":"completed","role":"assistant","content":[{"type":"output_text","text":"","annotations":[]}]}`: "",
		`{"type":"message","id":"m","status":"completed","role":"assistant","content":[{"type":"output_text","text":""}]}`:                  "Item.content[0] has no annotations",
		`{"type":"message","id":null,"status":"completed","role":"assistant","content":[]}`:                                                 "Item.id is not string: <nil>",
		`{"type":"message","id":"m","status":"done","role":"assistant","content":[]}`:                                                       "Item.status is not in_progress|completed|incomplete: done",
		`{"type":"acme:thing"}`:         `Item is of the type "acme:thing", which no Item has`,
		`{"type":"compaction","id":""}`: "Item has no encrypted_content",
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := misfit("Item", "Item", v); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
