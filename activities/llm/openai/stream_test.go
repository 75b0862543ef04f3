package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

// piece returns an event with one piece of a message.
func piece(message string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":` + message + `,"finish_reason":null}]}` + "\n\n"
}

// endOfStream returns the last frames of a stream.
func endOfStream(reason string) string {
	return `data: {"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\ndata: [DONE]\n\n"
}

// callPiece returns an event with a piece of a call.
func callPiece(fields string) string { return piece(`{"tool_calls":[{` + fields + `}]}`) }

// replyAndDeltas returns a streamed reply and its deltas, one line each.
func replyAndDeltas(t *testing.T, router *router.Router, r llm.Request) (llm.Reply, []string) {
	t.Helper()
	var deltas []string
	r.Deltas = func(d llm.Delta) {
		switch d.Kind {
		case llm.DeltaCall:
			deltas = append(deltas, fmt.Sprintf("call %d %s %s", d.Call, d.ID, d.Name))
		case llm.DeltaArguments:
			deltas = append(deltas, fmt.Sprintf("arguments %d %s", d.Call, d.Text))
		default:
			deltas = append(deltas, string(d.Kind)+" "+d.Text)
		}
	}
	r.Messages = []contract.Message{sample.User("hi")}
	reply, err := router.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply, deltas
}

func TestStreams(t *testing.T) {
	used := contract.Usage{InputTokens: 19, OutputTokens: 10, CachedTokens: 3}
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   llm.Reply
		deltas []string
	}{
		"a text after thoughts": {
			llmtest.Think("Let me look.", "Hello there."),
			llm.Reply{Text: "Hello there.", Model: "llmtest-1", Usage: used, Finish: "stop"},
			[]string{"reasoning Let me l", "reasoning ook.", "text Hello th", "text ere."},
		},
		"calls beside a text": {
			llmtest.CallTools("So.", llmtest.ToolCall("a", "resources_remove", `{"x":1,"y":2}`), llmtest.ToolCall("b", "ping", ``)),
			llm.Reply{Text: "So.", Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				llmtest.ToolCall("a", "resources.remove", `{"x":1,"y":2}`), llmtest.ToolCall("b", "ping", `{}`),
			}},
			[]string{"text So.", "call 0 a resources.remove", `arguments 0 {"x":1,"`, `arguments 0 y":2}`, "call 1 b ping"},
		},
		"a refusal": {
			llmtest.Refuse("I cannot."), llm.Reply{Text: "I cannot.", Model: "llmtest-1", Usage: used, Finish: "refusal"},
			[]string{"text I cannot", "text ."},
		},
		"thoughts under another name, twice, and keep-alives": {
			llmtest.Frames(": OPENROUTER PROCESSING\n\n", piece(`{"role":"assistant","content":"","reasoning":"hm"}`),
				": OPENROUTER PROCESSING\n\n", piece(`{"reasoning":"so","reasoning_content":"so"}`), piece(`{"content":"fine"}`), endOfStream("stop")),
			llm.Reply{Text: "fine", Model: "m-1", Finish: "stop"}, []string{"reasoning hm", "reasoning so", "text fine"},
		},
		"Mistral's parts, and its usage": {
			llmtest.Frames(piece(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`),
				piece(`{"content":[{"type":"text","text":"fine"},{"type":"reference","reference_ids":[1]}]}`),
				`data: {"model":"m-1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"total_tokens":7,"completion_tokens":2}}`+"\n\n"+"data: [DONE]\n\n"),
			llm.Reply{Text: "fine", Model: "m-1", Finish: "stop", Usage: contract.Usage{InputTokens: 5, OutputTokens: 2}},
			[]string{"reasoning hm", "text fine"},
		},
		"lines that end as Windows' do, and no [DONE]": {
			llmtest.Frames(strings.ReplaceAll(piece(`{"content":"a"}`)+`data: {"choices":[{"delta":{},"finish_reason":"length"}],"error":null}`+"\n\n", "\n", "\r\n")),
			llm.Reply{Text: "a", Model: "m-1", Finish: "length"}, []string{"text a"},
		},
		"[DONE] without a reason": {
			llmtest.Frames(piece(`{"content":"a"}`), "data: [DONE]\n\n"), llm.Reply{Text: "a", Model: "m-1", Finish: "stop"}, []string{"text a"},
		},
		"a connection that breaks when all was said": {
			func(w http.ResponseWriter, r *http.Request) {
				llmtest.Frames(piece(`{"content":"a"}`), strings.TrimSuffix(endOfStream("stop"), "data: [DONE]\n\n"))(w, r)
				panic(http.ErrAbortHandler)
			}, llm.Reply{Text: "a", Model: "m-1", Finish: "stop"}, []string{"text a"},
		},
		"a connection that stays open after [DONE]": {
			func(w http.ResponseWriter, r *http.Request) {
				llmtest.Frames(piece(`{"content":"a"}`), endOfStream("stop"))(w, r)
				llmtest.Hang()(w, r)
			}, llm.Reply{Text: "a", Model: "m-1", Finish: "stop"}, []string{"text a"},
		},
		"whole messages as events": {
			llmtest.Frames(`data: {"model":"m-1","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"),
			llm.Reply{Text: "a", Model: "m-1", Finish: "stop"}, []string{"text a"},
		},
		"no stream": {
			llmtest.JSON(200, `{"model":"m-1","choices":[{"message":{"content":"a","reasoning":"hm","tool_calls":[{"id":"x","function":{"name":"ping"}},{"id":"y","function":{"name":"ping"}}]},"finish_reason":"tool_calls"}]}`),
			llm.Reply{Text: "a", Model: "m-1", Finish: "tool_calls", Calls: []llm.Call{llmtest.ToolCall("x", "ping", `{}`), llmtest.ToolCall("y", "ping", `{}`)}},
			[]string{"reasoning hm", "text a", "call 0 x ping", "call 1 y ping"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(tt.answer)
			got, deltas := replyAndDeltas(t, router, llm.Request{Model: "openai:gpt-4o", Tools: sample.Offer()})
			tt.want.Usage.Calls = 1
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.deltas, deltas); diff != "" {
				t.Errorf("deltas differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADeltaComesWhileTheServerHoldsTheRestBack(t *testing.T) {
	s, router := sample.NewServer(t)
	ready := make(chan struct{})
	s.Reply(llmtest.WaitAfter(2, "Hello there.", ready)) // the role and one piece
	r, err := router.Generate(t.Context(), llm.Request{
		Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")},
		Deltas: func(d llm.Delta) {
			if ready != nil && d.Text == "Hello th" {
				close(ready) // the server continues only now
				ready = nil
			}
		},
	})
	if err != nil || r.Text != "Hello there." || ready != nil {
		t.Errorf("reply %+v, %v", r, err)
	}
}

func TestAConnectionIsUsedAgainAfterAStream(t *testing.T) {
	s, router := sample.NewServer(t)
	from := map[string]bool{}
	s.Always(func(w http.ResponseWriter, r *http.Request) {
		from[r.RemoteAddr] = true
		llmtest.Say("ok")(w, r)
	})
	for range 5 {
		replyAndDeltas(t, router, llm.Request{Model: "openai:gpt-4o"})
	}
	if len(from) != 1 {
		t.Errorf("%d connections", len(from))
	}
}

func TestReasoningDetailsGoBackAsTheyCame(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Reply(llmtest.Frames(
		piece(`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"anthropic-claude-v1","index":0}]}`),
		piece(`{"reasoning":"see","reasoning_details":[{"type":"reasoning.text","text":"see","format":"anthropic-claude-v1","index":0}]}`),
		piece(`{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","format":"anthropic-claude-v1","index":0}]}`),
		piece(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"eHg=","id":"r1","index":1},{"type":"reasoning.encrypted","data":"eXk=","id":"r2","index":1}]}`),
		callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":"{}"}`), endOfStream("tool_calls"),
	), llmtest.Say("ok"), llmtest.Say("ok"))
	const model = "openrouter:anthropic/claude-sonnet-4.5"
	reply, _ := replyAndDeltas(t, router, llm.Request{Model: model, Tools: sample.Offer()})
	want := `[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"I see","type":"reasoning.text"},` +
		`{"data":"eHg=","id":"r1","index":1,"type":"reasoning.encrypted"},{"data":"eXk=","id":"r2","index":1,"type":"reasoning.encrypted"}]`
	if n := reply.Native; n == nil || string(n.Content) != want || n.Provider != contract.ProviderOpenRouter || n.Model != "anthropic/claude-sonnet-4.5" {
		t.Fatalf("native %+v", n)
	}
	asked := sample.Call("r1", "a", "ping", `{}`)
	asked.Native = &contract.Native{Provider: reply.Native.Provider, Model: reply.Native.Model, Content: contract.JSON{Raw: reply.Native.Content}}
	for _, other := range []string{model, "openrouter:other/model"} {
		if _, err := router.Generate(t.Context(), llm.Request{Model: other, Messages: []contract.Message{sample.User("hi"), asked, sample.Result("r1", "a", "ping", "pong")}}); err != nil {
			t.Fatal(err)
		}
	}
	if body := string(s.Requests()[1].Body); !strings.Contains(body, `"reasoning_details":`+want) {
		t.Errorf("request %s", body)
	}
	if body := string(s.Requests()[2].Body); strings.Contains(body, "reasoning_details") {
		t.Errorf("request to another model %s", body)
	}
}

func TestWhatIsAskedForBesideTheConversation(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	format := `"response_format":{"json_schema":{"name":"reply","strict":false,"schema":` + schema + `},"type":"json_schema"}`
	for model, tt := range map[string]struct{ schemas, usage bool }{
		"openai:gpt-4o": {true, true}, "mistral:large": {true, false}, "ollama:x": {true, true},
		"openrouter:x/y": {true, true}, "local": {false, true},
	} {
		s, _ := sample.NewServer(t)
		s.Always(llmtest.Say("ok"))
		router := router.New(router.Options{Getenv: sample.Keys, BaseURL: s.URL(), Timeout: sample.Patience, Models: []llm.Entry{{Name: "local", Provider: contract.ProviderCompatible, Model: "m"}}})
		replyAndDeltas(t, router, llm.Request{Model: model, Schema: json.RawMessage(schema)})
		replyAndDeltas(t, router, llm.Request{Model: model, Schema: json.RawMessage(schema), Tools: sample.Offer()})
		free, bound := string(s.Requests()[1].Body), string(s.Requests()[0].Body)
		if strings.Contains(bound, format) != tt.schemas || strings.Contains(free, "response_format") {
			t.Errorf("%s: the format of the reply in\n%s\n%s", model, bound, free)
		}
		if strings.Contains(bound, `"stream_options":{"include_usage":true}`) != tt.usage || !strings.Contains(bound, `"stream":true`) {
			t.Errorf("%s: %s", model, bound)
		}
	}
	_, router := sample.NewServer(t)
	_, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}, Schema: json.RawMessage(`[`)})
	if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Kind != contract.KindModelRequest {
		t.Errorf("a broken schema: %v", err)
	}
}

func TestASecretInManyPiecesIsInNoDraft(t *testing.T) {
	s, router := sample.NewServer(t)
	var events []string
	for _, c := range sample.Canary {
		events = append(events, piece(`{"content":"`+string(c)+`","reasoning":"`+string(c)+`"}`))
	}
	events = append(events, callPiece(`"index":0,"id":"x","function":{"name":"ping","arguments":"{\"text\":\""}`))
	for _, c := range sample.Canary {
		events = append(events, callPiece(`"index":0,"function":{"arguments":"`+string(c)+`"}`))
	}
	events = append(events, callPiece(`"index":0,"function":{"arguments":"\"}"}`), endOfStream("tool_calls"))
	s.Reply(llmtest.Frames(events...))
	said := map[llm.DeltaKind]string{}
	reply, err := router.Generate(t.Context(), llm.Request{
		Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}, Tools: sample.Offer(), Deltas: func(d llm.Delta) { said[d.Kind] += d.Text },
	})
	if err != nil || reply.Text != "[secret]" || string(reply.Calls[0].Arguments) != `{"text":"[secret]"}` {
		t.Errorf("got %+v, %v", reply, err)
	}
	for kind, want := range map[llm.DeltaKind]string{llm.DeltaText: "[secret]", llm.DeltaReasoning: "[secret]", llm.DeltaArguments: `{"text":"[secret]"}`} {
		if said[kind] != want {
			t.Errorf("%s: the draft says %q", kind, said[kind])
		}
	}
}
