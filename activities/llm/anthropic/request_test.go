package anthropic_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

// claudeBody is the body of a request.
type claudeBody struct {
	MaxTokens   int `json:"max_tokens"`
	Temperature *float64
	Messages    []struct {
		Role    string
		Content []map[string]any
	}
	Tools []struct {
		Schema json.RawMessage `json:"input_schema"`
	}
	Output json.RawMessage `json:"output_config"`
}

// sentRequest returns the body that is sent for a request.
func sentRequest(t *testing.T, r llm.Request) claudeBody {
	t.Helper()
	_, request := askClaude(t, llmtest.Say("ok"), r)
	var b claudeBody
	if err := json.Unmarshal(request.Body, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b claudeBody) String() string {
	var out []string
	for _, m := range b.Messages {
		parts := []string{m.Role}
		for _, c := range m.Content {
			part := fmt.Sprint(c["type"])
			for _, field := range []string{"id", "tool_use_id", "text"} {
				if text, ok := c[field].(string); ok {
					part += " " + text
				}
			}
			parts = append(parts, part)
		}
		out = append(out, strings.Join(parts, ", "))
	}
	return strings.Join(out, "\n")
}

// The golden files follow platform.claude.com/docs/en/api/messages.
func TestRequestsOnTheWire(t *testing.T) {
	_, request := askClaude(t, llmtest.Say("ok"), llm.Request{System: "You keep resources.", Messages: sample.Conversation(), Tools: sample.Offer()})
	sample.CompareGolden(t, filepath.Join("testdata", "requests", "anthropic.json"), request)
}

func TestImagesOfClaudeOnTheWire(t *testing.T) {
	messages, media := sample.Illustrated()
	messages[6] = sample.Failed(messages[6])
	_, request := askClaude(t, llmtest.Say("ok"), llm.Request{Messages: messages, Media: media})
	sample.CompareGolden(t, filepath.Join("testdata", "requests", "anthropic-images.json"), request)
}

func TestConversationsOfClaude(t *testing.T) {
	long := strings.Repeat("x", 24)
	for name, tt := range map[string]struct {
		messages []contract.Message
		want     string
	}{
		"nothing":                        {nil, "user, text Go on."},
		"an assistant begins":            {[]contract.Message{sample.Say("r", "Hello."), sample.User("hi")}, "user, text Go on.\nassistant, text Hello.\nuser, text hi"},
		"an assistant ends":              {[]contract.Message{sample.User("hi"), sample.Say("r", "Hello.")}, "user, text hi\nassistant, text Hello.\nuser, text Go on."},
		"blanks":                         {[]contract.Message{sample.User(" \n"), sample.User("hi"), sample.Say("r", " "), sample.Call("r", "a", "x", `{}`), sample.Result("r", "a", "x", " ")}, "user, text  \n\n\nhi\nassistant, tool_use a\nuser, tool_result a"},
		"a text after results":           {[]contract.Message{sample.User("hi"), sample.Call("r", "a", "x", `{}`), sample.Result("r", "a", "x", "A"), sample.User("more")}, "user, text hi\nassistant, tool_use a\nuser, tool_result a, text more"},
		"a text before calls of another": {[]contract.Message{sample.User("hi"), sample.Say("r1", "Well."), sample.Call("r2", "a", "x", `{}`)}, "user, text hi\nassistant, text Well., tool_use a\nuser, tool_result a"},
		"IDs of others": {
			[]contract.Message{sample.User("hi"), sample.Call("r1", "fc:1", "x", `{}`), sample.Result("r1", "fc:1", "x", "A"), sample.Call("r2", "fc:1", "x", `{}`), sample.Call("r3", "a", "x", `{}`), sample.Call("r4", "a", "x", `{}`)},
			"user, text hi\nassistant, tool_use call_" + long + "\nuser, tool_result call_" + long + "\nassistant, tool_use call_" + long + "\nuser, tool_result call_" + long +
				"\nassistant, tool_use a\nuser, tool_result a\nassistant, tool_use call_" + long + "\nuser, tool_result call_" + long,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := sentRequest(t, llm.Request{Messages: tt.messages})
			got := b.String()
			for _, m := range b.Messages {
				for _, c := range m.Content {
					if id, ok := c["id"].(string); ok && strings.HasPrefix(id, "call_") {
						got = strings.ReplaceAll(got, id, "call_"+long)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := sentRequest(t, llm.Request{Messages: tt.messages}); again.String() != b.String() {
				t.Error("the same conversation goes out in another way")
			}
		})
	}
}

// withThoughts is a conversation whose first reply has thoughts.
func withThoughts(t *testing.T, change func(*llm.Native)) []contract.Message {
	t.Helper()
	thoughts := strings.Repeat("Let me see <&>. ", 3)
	reply, _ := askClaude(t, llmtest.Think(thoughts, "Yes."), llm.Request{Messages: []contract.Message{sample.User("hi")}})
	if reply.Native == nil || reply.Text != "Yes." {
		t.Fatalf("%+v", reply)
	}
	change(reply.Native)
	answered := sample.Say("r1", reply.Text)
	answered.Native = &contract.Native{Provider: reply.Native.Provider, Model: reply.Native.Model, Content: contract.JSON{Raw: reply.Native.Content}}
	return []contract.Message{sample.User("hi"), answered, sample.User("and?")}
}

func TestThoughtsGoBackAsTheyWere(t *testing.T) {
	thinks := func(messages []contract.Message, model string) bool {
		b := sentRequest(t, llm.Request{Model: model, Messages: messages})
		return b.Messages[1].Content[0]["type"] == "thinking"
	}
	// The server recognises thoughts by their signature.
	same := func(*llm.Native) {}
	if !thinks(withThoughts(t, same), claude) {
		t.Error("the thoughts are gone")
	}
	if thinks(withThoughts(t, same), "anthropic:claude-opus-4-5") {
		t.Error("another model sees the thoughts")
	}
	for name, content := range map[string]string{
		"no list": `{}`, "no JSON": `[`, "nothing": ``, "no blocks": `[1]`, "none": `[null]`, "empty": `[]`,
		"another call": `[{"type":"tool_use","id":"z","name":"x","input":{}}]`,
	} {
		messages := withThoughts(t, func(n *llm.Native) { n.Content = json.RawMessage(content) })
		if thinks(messages, claude) {
			t.Errorf("%s: thoughts", name)
		}
	}
}

func TestContentOfThoughtfulReplies(t *testing.T) {
	content := `[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"ZGF0YQ=="},` +
		`{"type":"text","text":""},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"ping","input":{"n":9007199254740993}}]`
	streamed := claudeStream(began, starts(0, `{"type":"thinking","thinking":"","signature":""}`), blockPiece(0, `{"type":"thinking_delta","thinking":"H"}`), blockPiece(0, `{"type":"thinking_delta","thinking":"m."}`),
		blockPiece(0, `{"type":"signature_delta","signature":"c2ln"}`), starts(1, `{"type":"redacted_thinking","data":"ZGF0YQ=="}`), starts(2, `{"type":"text","text":""}`), starts(3, `{"type":"text","text":""}`),
		blockPiece(3, `{"type":"text_delta","text":"I look."}`), starts(4, `{"type":"tool_use","id":"toolu_1","name":"ping","input":{}}`),
		blockPiece(4, `{"type":"input_json_delta","partial_json":"{\"n\":900719925"}`), blockPiece(4, `{"type":"input_json_delta","partial_json":"4740993}"}`), ends(`"tool_use"`), stopped)
	want := strings.Replace(content, `{"type":"text","text":""},`, "", 1)
	for name, answer := range map[string]llmtest.Answer{"stream": streamed, "whole": llmtest.JSON(200, `{"type":"message","content":`+content+`,"stop_reason":"tool_use"}`)} {
		reply, _ := askClaude(t, answer, llm.Request{Messages: []contract.Message{sample.User("hi")}})
		if reply.Native == nil || reply.Native.Provider != contract.ProviderAnthropic || reply.Native.Model != "claude-sonnet-4-5" {
			t.Fatalf("%s: %+v", name, reply.Native)
		}
		if diff := cmp.Diff(decoded(t, want), decoded(t, string(reply.Native.Content))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, answer := range map[string]llmtest.Answer{
		"no thoughts": llmtest.Say("x"),
		"equal IDs":   llmtest.JSON(200, `{"content":[{"type":"thinking","thinking":"x","signature":"y"},{"type":"tool_use","id":"a","name":"x","input":{}},{"type":"tool_use","id":"a","name":"x","input":{}}]}`),
	} {
		if reply, _ := askClaude(t, answer, llm.Request{Messages: []contract.Message{sample.User("hi")}}); reply.Native != nil {
			t.Errorf("%s: %s", name, reply.Native.Content)
		}
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLimitsOfClaude(t *testing.T) {
	for _, tt := range []struct {
		model            string
		entry, ask, want int
	}{
		{"claude-sonnet-4-5", 0, 0, 16384}, {"claude-sonnet-4-5", 0, 99, 99}, {"claude-sonnet-4-5", 50_000, 0, 50_000}, {"claude-sonnet-4-5", 50, 99, 50},
		{"claude-3-7-sonnet-latest", 0, 0, 16384}, {"claude-3-5-haiku-latest", 0, 0, 8192}, {"claude-3.5-sonnet", 0, 9000, 8192}, {"claude-3-opus-20240229", 0, 0, 4096},
		{"claude-3-haiku-20240307", 9000, 0, 4096}, {"claude-3-haiku-20240307", 10, 0, 10}, {"claude-2.1", 0, 0, 4096}, {"somebody-else", 0, 0, 16384},
	} {
		s := llmtest.NewServer()
		s.Reply(llmtest.Say("ok"))
		warm := 0.5
		entry := llm.Entry{Name: "m", Provider: contract.ProviderAnthropic, Model: tt.model, MaxTokens: tt.entry, Temperature: &warm, BaseURL: s.URL()}
		router := router.New(router.Options{Getenv: sample.Keys, Models: []llm.Entry{entry}})
		if _, err := router.Generate(t.Context(), llm.Request{Model: "m", Messages: sample.Conversation(), MaxTokens: tt.ask}); err != nil {
			t.Fatal(err)
		}
		var b claudeBody
		if err := json.Unmarshal(s.Requests()[0].Body, &b); err != nil || b.MaxTokens != tt.want || b.Temperature == nil || *b.Temperature != warm {
			t.Errorf("%+v: %+v, %v", tt, b, err)
		}
		s.Close()
	}
}

func TestToolSchemasOfClaude(t *testing.T) {
	for schema, want := range map[string]string{
		``:     `{"type":"object"}`,
		`null`: `{"type":"object"}`,
		`{"type":["object","null"],"properties":null,"$schema":"x"}`:                                                       `{"type":"object","$schema":"x"}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"oneOf":[{"type":"object"}]}}}`:                                                 `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"oneOf":[{"type":"object"}]}}}`,
		`{"type":"object","oneOf":[{"required":["a"]}],"properties":{"a":{}}}`:                                             `{"type":"object","properties":{"a":{}}}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}},true]}`:                                  `{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}],"properties":{"a":{"type":"integer"}}}`: `{"type":"object","properties":{"a":{"type":"integer"},"b":{}}}`,
	} {
		b := sentRequest(t, llm.Request{Messages: []contract.Message{sample.User("hi")}, Tools: []contract.Tool{sample.Tool("x", "", schema, false)}})
		if diff := cmp.Diff(decoded(t, want), decoded(t, string(b.Tools[0].Schema))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", schema, diff)
		}
	}
	_, err := router.New(router.Options{Getenv: sample.Keys}).Generate(t.Context(), llm.Request{Model: claude, Messages: sample.Conversation(), Tools: []contract.Tool{sample.Tool("x", "", `[1]`, false)}})
	if err == nil || err.Error() != "the schema of tool x is not a JSON object" {
		t.Errorf("error = %v", err)
	}
}

func TestSchemasOfRepliesOfClaude(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","minimum":3}},"required":["n"]}`
	const closed = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	for _, tt := range []struct{ model, schema, want string }{
		{"claude-sonnet-4-5", schema, closed}, {"claude-opus-4-5-20251101", schema, closed}, {"claude-haiku-4-5", schema, closed}, {"claude-fable-5-1", schema, closed}, {"claude-sonnet-5", schema, closed},
		{"claude-opus-4-1", schema, ""}, {"claude-opus-4-20250514", schema, ""}, {"claude-3-7-sonnet-latest", schema, ""}, {"claude-sonnet-4-0", schema, ""},
		{"claude-sonnet-4-5", ``, ""}, {"claude-sonnet-4-5", `{"type":"array","items":{"type":"string"}}`, ""}, {"claude-sonnet-4-5", `{`, ""},
	} {
		b := sentRequest(t, llm.Request{Model: "anthropic:" + tt.model, Messages: []contract.Message{sample.User("hi")}, Schema: json.RawMessage(tt.schema)})
		if tt.want == "" {
			if b.Output != nil {
				t.Errorf("%s, %s: %s", tt.model, tt.schema, b.Output)
			}
			continue
		}
		if diff := cmp.Diff(decoded(t, `{"format":{"type":"json_schema","schema":`+tt.want+`}}`), decoded(t, string(b.Output))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.model, diff)
		}
	}
	if b := sentRequest(t, llm.Request{Messages: []contract.Message{sample.User("hi")}, Tools: sample.Offer(), Schema: json.RawMessage(schema)}); b.Output != nil {
		t.Errorf("with tools: %s", b.Output)
	}
}
