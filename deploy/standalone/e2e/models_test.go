package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
)

// providers maps a model of each provider to a part of the path of its requests.
var providers = map[string]string{
	"google:gemini-2.5-flash": ":streamGenerateContent", "anthropic:claude-sonnet-4-5": "/messages",
	"openai:gpt-4o": "/chat/completions", "mistral:mistral-large-latest": "/chat/completions",
	"ollama:llama3.2:3b": "/chat/completions", "openrouter:meta-llama/llama-3.3-70b-instruct": "/chat/completions",
}

// everywhere sends the requests of all providers to the scripted model.
func (h *home) everywhere() {
	h.more = map[string]string{}
	for _, name := range []string{"GEMINI", "ANTHROPIC", "OPENAI", "MISTRAL", "OLLAMA", "OPENROUTER"} {
		h.more[name+"_API_KEY"], h.more[name+"_BASE_URL"] = canaryKey, h.model.URL()
	}
}

// told formats a conversation without the values that differ in each conversation.
func told(c conversation) string {
	var b strings.Builder
	for _, m := range c.Messages {
		fmt.Fprintf(&b, "%s %s %s", m.Role, m.Node, m.Content)
		if t := m.ToolCall; t != nil {
			fmt.Fprintf(&b, " %s %s %s %v", t.Name, t.Arguments, t.Result, t.IsError)
		}
		b.WriteString("\n")
	}
	return uuids.ReplaceAllString(b.String(), "UUID")
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// One line of YAML selects another provider, and nothing else changes.
func TestAllProvidersGiveTheSameConversation(t *testing.T) {
	t.Parallel()
	stories := map[string]string{}
	for model, path := range providers {
		t.Run(model, func(t *testing.T) {
			h := newHome(t)
			h.llm = fmt.Sprintf("{model: %q}", model)
			h.everywhere()
			h.model.RequireKey(map[bool]string{true: "", false: canaryKey}[strings.HasPrefix(model, "ollama")])
			h.model.Reply(
				llmtest.CallTools("I look.", llm.Call{ID: "call00001", Name: "note_list", Arguments: json.RawMessage(`{}`)}),
				llmtest.CallTools("I add.", llm.Call{ID: "call00002", Name: "note_add", Arguments: json.RawMessage(`{"name":"x"}`)}),
				llmtest.Say("Both done."), llmtest.Say("Yes."))
			api, _ := h.inside()
			asked := api.ask("add x")
			if !asked.Result.WaitingApproval {
				t.Fatalf("nothing waits: %+v", asked.Result)
			}
			api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
			c := api.say(asked.Conversation.ID, "sure?").Conversation
			stories[model] = told(c)
			for _, r := range h.model.Requests() {
				if !strings.Contains(r.Path, path) {
					t.Errorf("asked at %s", r.Path)
				}
			}
			if refused := h.model.Refused(); len(refused) > 0 {
				t.Errorf("the API would refuse: %q", refused)
			}
		})
	}
	for model, story := range stories {
		if want := stories["openai:gpt-4o"]; story != want || !strings.Contains(story, "Both done.") {
			t.Errorf("%s tells\n%s\nand openai:gpt-4o\n%s", model, story, want)
		}
	}
}

// In every wire format, an error is reported as a sentence and the conversation continues.
func TestTroubleInEveryFormatLeavesTheConversationUsable(t *testing.T) {
	t.Parallel()
	broken := llm.Call{ID: "call00001", Name: "note_list", Arguments: json.RawMessage(`{"x":`)}
	unknown := llm.Call{ID: "call00001", Name: "nope", Arguments: json.RawMessage(`{}`)}
	twice := llm.Call{ID: "call00001", Name: "note_list", Arguments: json.RawMessage(`{}`)}
	for model := range providers {
		if !slices.Contains([]string{"google", "anthropic", "openai"}, strings.Split(model, ":")[0]) {
			continue
		}
		t.Run(model, func(t *testing.T) {
			h := newHome(t)
			h.llm = fmt.Sprintf("{model: %q}", model)
			h.everywhere()
			h.model.Always(llmtest.Say("still here"))
			api, _ := h.inside()
			for name, c := range map[string]struct {
				answers []llmtest.Answer
				says    string
			}{
				"401":                {[]llmtest.Answer{llmtest.Fail(401, "bad key")}, "LLM error: "},
				"403":                {[]llmtest.Answer{llmtest.Fail(403, "not yours")}, "LLM error: "},
				"404":                {[]llmtest.Answer{llmtest.Fail(404, "no such model")}, "LLM error: "},
				"400":                {[]llmtest.Answer{llmtest.Fail(400, "bad schema")}, "LLM error: "},
				"413":                {[]llmtest.Answer{llmtest.Fail(413, "too large")}, "LLM error: "},
				"429":                {[]llmtest.Answer{llmtest.RateLimit("1"), llmtest.Say("fine")}, "fine"},
				"503":                {[]llmtest.Answer{llmtest.Fail(503, "busy"), llmtest.Say("fine")}, "fine"},
				"reset":              {[]llmtest.Answer{llmtest.Reset(), llmtest.Say("fine")}, "fine"},
				"reset in a stream":  {[]llmtest.Answer{llmtest.CutAfter(3, strings.Repeat("half of it ", 50)), llmtest.Say("fine")}, "fine"},
				"broken arguments":   {[]llmtest.Answer{llmtest.CallTools("", broken), llmtest.Say("fine")}, "fine"},
				"an unknown tool":    {[]llmtest.Answer{llmtest.CallTools("", unknown), llmtest.Say("fine")}, "fine"},
				"two calls, one id":  {[]llmtest.Answer{llmtest.CallTools("", twice, twice), llmtest.Say("fine")}, "fine"},
				"an unknown finish":  {[]llmtest.Answer{llmtest.Finish("fine", "tired")}, "fine"},
				"a refusal":          {[]llmtest.Answer{llmtest.Refuse("I will not.")}, ""},
				"five megabytes":     {[]llmtest.Answer{llmtest.Huge(5 << 20)}, "xxx"},
				"garbage for a time": {[]llmtest.Answer{llmtest.Garbage(), llmtest.Say("fine")}, "fine"},
			} {
				h.model.Reply(c.answers...)
				asked := api.ask("hello")
				if !strings.HasPrefix(asked.Result.Response, c.says) || asked.Result.Response == "" || asked.Conversation.Status != "active" {
					t.Errorf("%s: answered %.200q", name, asked.Result.Response)
				}
				if strings.Contains(asked.Result.Response, canaryKey) {
					t.Errorf("%s: the key is in the answer", name)
				}
				if said := api.say(asked.Conversation.ID, "and now?"); said.Result.Response != "still here" {
					t.Errorf("%s: afterwards %.200q", name, said.Result.Response)
				}
			}
		})
	}
}

// A long conversation with a small context window: the model sees a summary and the messages
// that fit, people see everything.
func TestSixtyMessagesInAWindowOf4096Tokens(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.llm = "{model: small}"
	h.extra = "models:\n  small: {provider: openai, model: small-1, context_window: 4096, max_tokens: 512, price: {input: 1, output: 2}}\n"
	largest, summaries := 0, 0
	h.model.Always(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		largest = max(largest, len(data))
		if strings.Contains(string(data), "You keep the memory") {
			summaries++
			llmtest.Say("They talk about numbers.")(w, r)
			return
		}
		obedient(w, r)
	})
	api, _ := h.inside()
	text := func(n int) string { return fmt.Sprintf("message %d %s", n, strings.Repeat("lorem ipsum ", 60)) }
	id := api.ask(text(0)).Conversation.ID
	for n := 1; n < 30; n++ {
		if got := api.say(id, text(n)).Result.Response; !strings.Contains(got, fmt.Sprintf("message %d ", n)) {
			t.Fatalf("turn %d: %.200q", n, got)
		}
	}
	if summaries == 0 || largest > 3*4096+8000 {
		t.Errorf("%d summaries, the largest request has %d bytes", summaries, largest)
	}
	said := map[string]int{}
	for _, m := range api.conversation(id).Messages {
		said[m.Role]++
	}
	if said["user"] != 30 || said["assistant"] != 30+summaries {
		t.Errorf("the conversation has %v, with %d summaries", said, summaries)
	}
	raw := api.do("GET", "/conversations/"+id, "").Raw
	var shown struct {
		Conversation struct {
			Usage struct {
				Calls int
				Cost  json.Number
			}
		}
	}
	if err := json.Unmarshal([]byte(raw), &shown); err != nil {
		t.Fatal(err)
	}
	// 19 tokens in and 10 out per call, at prices of 1 and 2 per million.
	calls := 30 + summaries
	cost := strings.TrimRight(fmt.Sprintf("0.%06d", 39*calls), "0")
	if u := shown.Conversation.Usage; u.Calls != calls || u.Cost.String() != cost {
		t.Errorf("usage %+v after %d calls, which cost %s", u, calls, cost)
	}
}
