package gemini_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/workflows/contract"
)

// recordedReply returns a reply as the conversation records it, with the results of its calls.
func recordedReply(r llm.Reply) []contract.Message {
	var out, results []contract.Message
	if r.Text != "" {
		out = append(out, sample.Say("r1", r.Text))
	}
	for _, c := range r.Calls {
		out = append(out, sample.Call("r1", c.ID, c.Name, string(c.Arguments)))
		results = append(results, sample.Result("r1", c.ID, c.Name, "result of "+string(c.Arguments)))
	}
	if r.Native != nil {
		out[0].Native = &contract.Native{Provider: r.Native.Provider, Model: r.Native.Model, Content: contract.JSON{Raw: r.Native.Content}}
	}
	return append(out, results...)
}

func TestSignedRepliesGoBackAsTheyCame(t *testing.T) {
	const model = "google:gemini-3-pro-preview"
	for name, tt := range map[string]struct{ answer, model, results string }{
		"calls without IDs": {
			geminiPiece(`{"functionCall":{"name":"x","args":{"n":1e2,"a":9007199254740993}},"thoughtSignature":"A-_="},{"functionCall":{"name":"x","args":{"n":2}}}`, "STOP"),
			`{"functionCall":{"name":"x","args":{"n":1e2,"a":9007199254740993}},"thoughtSignature":"A-_="},{"functionCall":{"name":"x","args":{"n":2}}}`,
			`{"functionResponse":{"name":"x","response":{"output":"result of {\"n\":1e2,\"a\":9007199254740993}"}}},{"functionResponse":{"name":"x","response":{"output":"result of {\"n\":2}"}}}`,
		},
		"calls with IDs, one of them twice": {
			geminiPiece(`{"functionCall":{"id":"a","name":"x"},"thoughtSignature":"AAAA"},{"functionCall":{"id":"b","name":"y"}},{"functionCall":{"id":"a","name":"x","args":{}}}`, "STOP"),
			`{"functionCall":{"id":"a","name":"x"},"thoughtSignature":"AAAA"},{"functionCall":{"id":"b","name":"y"}},{"functionCall":{"id":"a","name":"x","args":{}}}`,
			`{"functionResponse":{"id":"a","name":"x","response":{"output":"result of {}"}}},{"functionResponse":{"id":"b","name":"y","response":{"output":"result of {}"}}},{"functionResponse":{"id":"a","name":"x","response":{"output":"result of {}"}}}`,
		},
		"thoughts, texts and other fields": {
			geminiPiece(`{"text":"hm ","thought":true},{"text":"hm","thought":true},{"text":"I "},{"text":""},{"text":"look","partMetadata":{"of":1}},{"text":"."},{"text":".","thoughtSignature":"BBBB"},{"functionCall":{"name":"x"}}`, "STOP"),
			`{"text":"hm hm","thought":true},{"text":"I "},{"text":"look","partMetadata":{"of":1}},{"text":"."},{"text":".","thoughtSignature":"BBBB"},{"functionCall":{"name":"x"}}`,
			`{"functionResponse":{"name":"x","response":{"output":"result of {}"}}}`,
		},
		"a signature beside an empty text": {
			geminiPiece(`{"text":"done"},{"text":"","thoughtSignature":"CCCC"}`, "STOP"), `{"text":"done"},{"text":"","thoughtSignature":"CCCC"}`, ``,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newGemini(t)
			s.Always(llmtest.Say("ok"))
			s.Reply(geminiEvents(tt.answer))
			reply := askGemini(t, router, llm.Request{Model: model})
			messages := append(append([]contract.Message{sample.User("hi")}, recordedReply(reply)...), sample.User("and now?"))
			askGemini(t, router, llm.Request{Model: model, Messages: messages})
			var body struct {
				Contents []struct{ Parts json.RawMessage }
			}
			if err := json.Unmarshal([]byte(lastRequest(t, s)), &body); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("["+tt.model+"]", string(body.Contents[1].Parts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.results != "" && string(body.Contents[2].Parts) != "["+tt.results+"]" {
				t.Errorf("results %s", body.Contents[2].Parts)
			}
		})
	}
}

// Joined texts do not depend on where a stream cuts them.
func TestSignedRepliesAreTheSameFromAStreamAndWhole(t *testing.T) {
	pieces := []string{`{"text":"h","thought":true}`, `{"text":"m","thought":true}`, `{"text":"a"}`, `{"text":"b"}`, `{"functionCall":{"name":"x"},"thoughtSignature":"AAAA"}`}
	var streamed []string
	for _, p := range pieces {
		streamed = append(streamed, geminiPiece(p, ""))
	}
	s, router := newGemini(t)
	s.Reply(geminiEvents(append(streamed, geminiPiece(``, "STOP"))...), llmtest.JSON(200, geminiPiece(strings.Join(pieces, ","), "STOP")))
	first, second := askGemini(t, router, llm.Request{Model: flash}), askGemini(t, router, llm.Request{Model: flash})
	if diff := cmp.Diff(first.Native, second.Native); diff != "" || first.Native == nil {
		t.Errorf("(-streamed +whole):\n%s", diff)
	}
	if want := `{"parts":[{"text":"hm","thought":true},{"text":"ab"},{"functionCall":{"name":"x"},"thoughtSignature":"AAAA"}]}`; string(first.Native.Content) != want {
		t.Errorf("native %s", first.Native.Content)
	}
}

func TestRepliesThatAreNotSignedHaveNoNativeForm(t *testing.T) {
	for name, answer := range map[string]llmtest.Answer{
		"a text":         llmtest.Say("hello"),
		"a call":         llmtest.CallTools("", llmtest.ToolCall("a", "x", `{}`)),
		"a nameless one": geminiEvents(geminiPiece(`{"text":"a"},{"functionCall":{"args":{}},"thoughtSignature":"AAAA"}`, "STOP")),
		"no object":      geminiEvents(geminiPiece(`{"functionCall":{"name":"x","args":[]},"thoughtSignature":"AAAA"}`, "STOP")),
	} {
		s, router := newGemini(t)
		s.Reply(answer)
		if r := askGemini(t, router, llm.Request{Model: flash}); r.Native != nil {
			t.Errorf("%s: %s", name, r.Native.Content)
		}
	}
}

// A conversation can continue with a model that signs, wherever earlier calls came from.
func TestConversationsWithModelsThatSign(t *testing.T) {
	s, router := newGemini(t)
	s.Always(llmtest.Say("ok"))
	s.Reply(geminiEvents(geminiPiece(`{"functionCall":{"id":"a","name":"x"},"thoughtSignature":"AAAA"},{"functionCall":{"name":"y"}}`, "STOP")))
	reply := askGemini(t, router, llm.Request{Model: "gemini-3-pro-preview"})
	signed := recordedReply(reply)
	swapped := []contract.Message{signed[0], signed[1], signed[3], signed[2]}
	renamed := recordedReply(reply)
	renamed[1].ToolCall.Name = "z"
	renamed[3].ToolCall.Name = "z"
	fewer := []contract.Message{signed[0], signed[2]}
	broken := recordedReply(reply)
	broken[0].Native.Content.Raw = json.RawMessage(`{"parts":{}}`)
	plain := recordedReply(reply)
	plain[0].Native = nil
	for name, tt := range map[string]struct {
		model    string
		messages []contract.Message
		kept     bool
	}{
		"the same model":       {"gemini-3-pro-preview", signed, true},
		"results in any order": {"gemini-3-pro-preview", swapped, true},
		"another model":        {"gemini-3-flash-preview", signed, false},
		"one that signs not":   {"gemini-2.5-flash", signed, false},
		"an alias":             {"gemini-flash-latest", signed, false},
		"another call":         {"gemini-3-pro-preview", renamed, false},
		"a call less":          {"gemini-3-pro-preview", fewer, false},
		"broken":               {"gemini-3-pro-preview", broken, false},
		"nothing kept":         {"gemini-3-pro-preview", plain, false},
	} {
		askGemini(t, router, llm.Request{Model: tt.model, Messages: append([]contract.Message{sample.User("hi")}, tt.messages...)})
		body := lastRequest(t, s)
		if strings.Contains(body, `"AAAA"`) != tt.kept || strings.Contains(body, `"id":"a"`) != tt.kept {
			t.Errorf("%s: %s", name, body)
		}
		if want := !tt.kept && tt.model != "gemini-2.5-flash"; strings.Contains(body, "skip_thought_signature_validator") != want {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestRepliesWithoutAUserBetweenThemAreOneContent(t *testing.T) {
	s, router := newGemini(t)
	s.Reply(llmtest.Say("ok"))
	askGemini(t, router, llm.Request{Model: flash, Messages: []contract.Message{
		sample.User("hi"), sample.Say("r1", "I look."), sample.Call("r2", "a", "x", `{}`), sample.Result("r2", "a", "x", "A"), sample.Say("r3", "There."),
	}})
	if body := lastRequest(t, s); !strings.Contains(body, `{"role":"model","parts":[{"text":"I look."},{"functionCall":`) {
		t.Error(body)
	}
}

func TestGeminiIsShownNoGIFs(t *testing.T) {
	s, router := newGemini(t)
	s.Reply(llmtest.Say("ok"))
	messages, _ := sample.Illustrated()
	askGemini(t, router, llm.Request{Model: flash, Messages: messages, Media: map[string][]llm.Media{"m4": {{MIMEType: "image/png", Data: []byte("GIF89a…")}}}})
	if body := lastRequest(t, s); strings.Contains(body, "inlineData") || strings.Contains(body, "Images in") {
		t.Error(body)
	}
}

func TestGeminiDeltas(t *testing.T) {
	s, router := newGemini(t)
	s.Reply(llmtest.CallTools("", llmtest.ToolCall("a", "x", `{}`)), geminiEvents(
		geminiPiece(`{"text":"h","thought":true}`, ""), geminiPiece(`{"text":"m","thought":true},{"text":"I "}`, ""), geminiPiece(`{"text":"look."}`, ""),
		geminiPiece(`{"functionCall":{"id":"a","name":"resources_remove","args":{"n": 1}},"thoughtSignature":"AAAA"},{"functionCall":{"name":"ping"}}`, ""),
		geminiPiece(`{"text":""}`, "STOP"),
	))
	askGemini(t, router, llm.Request{Model: flash}) // without a Deltas function
	var got []llm.Delta
	r := askGemini(t, router, llm.Request{Model: flash, Tools: sample.Offer(), Deltas: func(d llm.Delta) { got = append(got, d) }})
	want := []llm.Delta{
		{Kind: llm.DeltaReasoning, Text: "h"}, {Kind: llm.DeltaReasoning, Text: "m"}, {Kind: llm.DeltaText, Text: "I "}, {Kind: llm.DeltaText, Text: "look."},
		{Kind: llm.DeltaCall, ID: "a", Name: "resources.remove"}, {Kind: llm.DeltaArguments, Text: `{"n": 1}`},
		{Kind: llm.DeltaCall, Call: 1, Name: "ping"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Text != "I look." || len(r.Calls) != 2 || r.Calls[1].ID == "" {
		t.Errorf("reply %+v", r)
	}
}

func TestTheFirstDeltaDoesNotWaitForTheRest(t *testing.T) {
	s, router := newGemini(t)
	seen := make(chan struct{})
	s.Reply(func(w http.ResponseWriter, r *http.Request) {
		geminiEvents(geminiPiece(`{"text":"first"}`, ""))(w, r)
		llmtest.When(seen, geminiEvents(geminiPiece(`{"text":" second"}`, "STOP")))(w, r)
	})
	var got []string
	r := askGemini(t, router, llm.Request{Model: flash, Deltas: func(d llm.Delta) {
		if got = append(got, d.Text); len(got) == 1 {
			close(seen)
		}
	}})
	if r.Text != "first second" || len(got) != 2 {
		t.Errorf("%q of %q", got, r.Text)
	}
}

func TestGeminiIsToldOfAnImageThatItDoesNotTake(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	message := sample.User("")
	message.ID = "m1"
	r := llm.Request{
		Model: flash, Messages: []contract.Message{message, sample.Say("r1", "Nice."), sample.User("And?")},
		Media: map[string][]llm.Media{"m1": {{MIMEType: "image/gif", Data: []byte("GIF89a...")}}},
	}
	if _, err := router.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, "[file image/gif, 9 bytes: cannot be read by the model]") {
		t.Error(body)
	}
}
