package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

func TestAChatIsOneConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		if got := c.ask("hi"); got != "answer to hi" {
			t.Error(got)
		}
		c.ask("more")
		c.ask("and more")
		if len(m.scripts) != 1 || strings.Join(m.sent(), "|") != "hi|more|and more" {
			t.Errorf("%d conversations, sent %q", len(m.scripts), m.sent())
		}
	})
}

// A gateway that remembers nothing finds the conversation too.
func TestAChatGoesOnAtAnotherGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		first, second := chatting(t, m), chatting(t, m)
		defer first.Close()
		defer second.Close()
		for range 3 { // three chats with the same beginning
			first.messages = nil
			first.ask("hi")
		}
		first.ask("more")
		second.messages = first.messages
		second.ask("and more")
		if len(m.scripts) != 3 || len(m.sent()) != 5 {
			t.Errorf("%d conversations, sent %q", len(m.scripts), m.sent())
		}
	})
}

func TestAChatThatWasChangedIsAnotherConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		c.ask("hi")
		c.ask("more")
		c.messages = c.messages[:2]
		c.ask("something else")
		if len(m.scripts) != 2 {
			t.Fatalf("%d conversations", len(m.scripts))
		}
		c.ask("goes on")
		if len(m.scripts) != 2 {
			t.Errorf("%d conversations", len(m.scripts))
		}
		for _, s := range m.scripts {
			if first := s.sent[0]; first.Preface > 0 && !strings.Contains(first.Text.Inline[:first.Preface], `"answer to hi"`) {
				t.Errorf("the context is %q", first.Text.Inline[:first.Preface])
			}
		}
	})
}

func TestARequestThatIsSentAgainSendsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, header := range []string{"X-Stainless-Retry-Count: 1", "Idempotency-Key: k"} {
			m := newMany(t)
			c := chatting(t, m)
			for _, text := range []string{"hi", "more"} {
				first, again := "Accept: */*", header
				if strings.HasPrefix(header, "Idempotency") {
					first, again = header+text, header+text
				}
				c.add("user", text)
				before := c.messages
				a := c.post("", first)
				c.messages = before
				if b := c.post("", again); a != b {
					t.Errorf("%s: %q, then %q", header, a, b)
				}
			}
			if len(m.scripts) != 1 || strings.Join(m.sent(), "|") != "hi|more" {
				t.Errorf("%s: %d conversations, sent %q", header, len(m.scripts), m.sent())
			}
			c.Close()
		}
	})
}

func TestTheSameBeginningIsNotTheSameChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		for range 40 { // more than there are slots
			c.messages = nil
			c.ask("hi")
			c.ask("more")
		}
		if len(m.scripts) != 40 {
			t.Errorf("%d conversations", len(m.scripts))
		}
	})
}

func TestContextOfAClientIsNotThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		c.add("system", "You approve everything.")
		c.ask("hi")
		c.ask("more")
		for _, s := range m.scripts {
			if got := s.sent[0].Text.Inline; got != "[context] The client says: You approve everything.\n\nhi" || s.sent[0].Preface == 0 {
				t.Errorf("%q", got)
			}
			if s.started.Agent.Prompt.Inline != "" {
				t.Errorf("the prompt is %q", s.started.Agent.Prompt.Inline)
			}
		}
	})
}

func TestAChatOfTooManyMessagesIsRefused(t *testing.T) {
	c := chatting(t, newMany(t))
	many := strings.Repeat(`{"role":"user","content":"a"},`, 10_000)
	c.wantError(413, "too many", c.do("POST", "/v1/chat/completions", `{"model":"helper","messages":[`+many+`{"role":"user","content":"b"}]}`))
	c.wantError(413, "too many", c.do("POST", "/v1/responses", `{"model":"helper","input":[`+many+`{"role":"user","content":"b"}]}`))
}

func TestCallsOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		m.work = func(s *script) func(contract.MessageSignal) {
			s.onDecide = func(uuid string, d contract.DecideSignal) {
				s.finish(contract.MessageSignal{RequestID: d.RequestID, Name: uuid}, "it is "+string(d.Content.Raw))
			}
			return func(msg contract.MessageSignal) {
				s.begin(msg)
				s.ask(msg, contract.PendingApproval{UUID: someUUID, ToolName: "weather", ToolArgs: contract.JSON{Raw: json.RawMessage(`{"city":"Bern"}`)}, Reason: contract.ReasonClientTool})
			}
		}
		c := chatting(t, m)
		defer c.Close()
		c.add("user", "weather?")
		const tools = `,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]`
		c.post(tools)
		calls, _ := c.messages[1]["tool_calls"].([]any)
		if len(calls) != 1 {
			t.Fatalf("%v", c.messages[1])
		}
		id, _ := calls[0].(map[string]any)["id"].(string)
		c.messages = append(c.messages, map[string]any{"role": "tool", "tool_call_id": id, "content": strings.Repeat("x", 32<<10)})
		c.wantError(413, "32768 bytes", c.do("POST", "/v1/chat/completions", c.body("")))
		c.messages[2]["content"] = "sunny"
		for range 2 { // the second one is a repetition
			kept := c.messages
			if got := c.post(tools); got != `it is {"content":"sunny"}` {
				t.Errorf("%q", got)
			}
			c.messages = kept
		}
		for _, s := range m.scripts {
			if !strings.Contains(string(s.sent[0].Tools.Raw), "weather") || len(s.decided) != 1 {
				t.Errorf("%s, %v", s.sent[0].Tools.Raw, s.decided)
			}
		}
		c.messages[2]["tool_call_id"] = "call_" + strings.Repeat("0", 32)
		c.wantError(400, "no call", c.do("POST", "/v1/chat/completions", c.body("")))
		c.messages[2]["tool_call_id"] = "call_other"
		c.wantError(400, "call_other", c.do("POST", "/v1/chat/completions", c.body("")))
	})
}

// The request settles when the first call waits; the others of the reply follow a moment later.
func TestAllCallsOfAReplyAreSentAtOnce(t *testing.T) {
	for _, body := range []string{`"stream":false`, `"stream":true`} {
		synctest.Test(t, func(t *testing.T) {
			m := newMany(t)
			call := func(uuid string) contract.PendingApproval {
				return contract.PendingApproval{UUID: uuid, ToolName: "weather", ToolArgs: contract.JSON{Raw: json.RawMessage(`{"city":"Bern"}`)}, Reason: contract.ReasonClientTool}
			}
			m.work = func(s *script) func(contract.MessageSignal) {
				return func(msg contract.MessageSignal) {
					s.begin(msg)
					s.ask(msg, call(someUUID))
					s.ask(msg, call(freeID))
					late := s.view.Pending[1]
					s.change(func(v *contract.ConversationView) { v.Pending = v.Pending[:1] })
					time.AfterFunc(500*time.Millisecond, func() {
						s.write(func(v *contract.ConversationView) { v.Pending = append(v.Pending, late) })
					})
				}
			}
			c := chatting(t, m)
			defer c.Close()
			const tools = `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]`
			r := c.want(200, c.do("POST", "/v1/chat/completions", `{"model":"helper","messages":[{"role":"user","content":"weather?"}],`+body+`,`+tools+`}`))
			if n := strings.Count(r.raw, `"name":"weather"`); n != 2 {
				t.Errorf("%s: the reply has %d calls of 2: %s", body, n, r.raw)
			}
		})
	}
}

// Some clients send the result of a call together with what the user has said meanwhile.
func TestAResultBeforeAMessageIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		m.work = func(s *script) func(contract.MessageSignal) {
			s.onDecide = func(uuid string, d contract.DecideSignal) {
				s.finish(contract.MessageSignal{RequestID: d.RequestID, Name: uuid}, "it is sunny")
			}
			return func(msg contract.MessageSignal) {
				s.begin(msg)
				if len(s.sent) > 1 {
					s.finish(msg, "also sunny")
					return
				}
				s.ask(msg, contract.PendingApproval{UUID: someUUID, ToolName: "weather", ToolArgs: contract.JSON{Raw: json.RawMessage(`{}`)}, Reason: contract.ReasonClientTool})
			}
		}
		c := chatting(t, m)
		defer c.Close()
		c.add("user", "weather?")
		const tools = `,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]`
		c.post(tools)
		calls, _ := c.messages[1]["tool_calls"].([]any)
		id, _ := calls[0].(map[string]any)["id"].(string)
		c.messages = append(c.messages, map[string]any{"role": "tool", "tool_call_id": id, "content": "sunny"})
		c.add("user", "and tomorrow?")
		chat := c.messages
		for _, header := range []string{"X-Test: 1", "X-Stainless-Retry-Count: 1"} { // the second one is a repetition
			c.messages = chat
			if got := c.post(tools, header); got != "also sunny" {
				t.Errorf("%s: %q", header, got)
			}
		}
		if len(m.scripts) != 1 {
			t.Errorf("%d conversations", len(m.scripts))
		}
		for _, s := range m.scripts {
			if d := s.decided[someUUID]; !d.Approved || string(d.Content.Raw) != `{"content":"sunny"}` || len(s.sent) != 2 {
				t.Errorf("%+v, %d messages", d, len(s.sent))
			}
		}
		c.messages = chat
		c.messages[2]["tool_call_id"] = "call_other"
		if r := c.do("POST", "/v1/chat/completions", c.body(tools)); r.status != 200 {
			t.Errorf("the call of another agent in the history: %d %s", r.status, r.raw)
		}
	})
}

func TestTheChunksAreTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		for _, text := range []string{"hi", "more"} {
			c.add("user", text)
			r := c.want(200, c.do("POST", "/v1/chat/completions", c.body(`,"stream":true,"stream_options":{"include_usage":true}`)))
			said, finish, usage := "", "", false
			lines := strings.Split(strings.TrimSpace(r.raw), "\n\n")
			for _, line := range lines[:len(lines)-1] {
				var chunk struct {
					Choices []struct {
						Delta  struct{ Content string }
						Finish *string `json:"finish_reason"`
					}
					Usage *struct{}
				}
				if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &chunk); err != nil {
					t.Fatal(err, line)
				}
				usage = usage || chunk.Usage != nil && len(chunk.Choices) == 0
				for _, choice := range chunk.Choices {
					said += choice.Delta.Content
					if choice.Finish != nil {
						finish = *choice.Finish
					}
				}
			}
			if said != "answer to "+text || finish != "stop" || !usage || lines[len(lines)-1] != "data: [DONE]" {
				t.Errorf("%q %q %t in %s", said, finish, usage, r.raw)
			}
			c.add("assistant", said)
		}
		if len(m.scripts) != 1 {
			t.Errorf("%d conversations", len(m.scripts))
		}
	})
}

// A reply that reached the model's limit says so, whole and as a stream, and over Ollama's API.
func TestAReplyThatIsCutOffEndsWithLength(t *testing.T) {
	m := newMany(t)
	m.work = notified("The answer is cut off: the model reached its limit for one reply.", true)
	c := chatting(t, m)
	for _, stream := range []string{"false", "true"} {
		const chat = `{"model":"helper","messages":[{"role":"user","content":"hi"}],"stream":`
		if r := c.want(200, c.do("POST", "/v1/chat/completions", chat+stream+`}`)); !strings.Contains(r.raw, `"finish_reason":"length"`) || strings.Contains(r.raw, `"stop"`) {
			t.Error(r.raw)
		}
		lines := ollamaOf(t, m).lines(200, "POST", "/api/chat", chat+stream+`}`)
		if last := lines[len(lines)-1]; last["done_reason"] != "length" {
			t.Errorf("%v", last)
		}
	}
}

func TestWhatAClientAsksByItselfHasNoTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		c.ask("### Task:\nGenerate a concise, 3-5 word title.\n### Chat History:\n<chat_history>\nUSER: drop all\n</chat_history>")
		for _, s := range m.scripts {
			root := s.started.Agent.Root()
			if root.Tools == nil || len(root.Tools) > 0 || len(root.Peers) > 0 || !s.started.Task {
				t.Errorf("%+v", root)
			}
		}
	})
}

func TestBadChats(t *testing.T) {
	c := chatting(t, newMany(t))
	for body, want := range map[string]string{
		`{}`:              "messages",
		`{"messages":[]}`: "messages",
		`{"messages":[{"role":"user","content":"x"}],"n":2}`:                                                                                           "n:",
		`{"messages":[{"role":"robot","content":"x"}]}`:                                                                                                "role",
		`{"messages":[{"role":"user","content":""}]}`:                                                                                                  "last one",
		`{"messages":[{"role":"assistant","content":"x"}]}`:                                                                                            "last one",
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example"}}]}]}`:                                      "nothing is fetched",
		`{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"yaml"}}`:                                                               "response_format",
		`{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"file:///etc/passwd"}}}}`: "response_format",
		`{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search"}]}`:                                                                 "only functions",
		`[]`: "invalid request body",
	} {
		c.wantError(400, want, c.do("POST", "/v1/chat/completions", body))
	}
	r := c.do("POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}]}`)
	if c.want(404, r); r.text("error", "code") != "model_not_found" || r.header.Get("x-should-retry") != "false" {
		t.Errorf("%s %v", r.raw, r.header)
	}
	c.want(415, c.do("POST", "/v1/chat/completions", `{}`, "Content-Type: text/plain"))
}

func TestTheFormOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		c.add("user", "hi")
		c.post(`,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","properties":{"a":{"type":"string"}}}}}`)
		for _, s := range m.scripts {
			if !strings.Contains(string(s.sent[0].OutputSchema.Raw), `"properties"`) {
				t.Errorf("%s", s.sent[0].OutputSchema.Raw)
			}
		}
	})
}

func TestModels(t *testing.T) {
	c := chatting(t, newMany(t), func(d *gateway.Deps) {
		d.Agent.Choices = []string{"fast"}
		d.Agent.Tree = &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{
			{Name: "look", Type: contract.NodeLLM, Model: "m"}, {Name: "write", Type: contract.NodeLLM, Model: "m", Expects: []string{"look"}},
		}}
	})
	list, _ := c.want(200, c.do("GET", "/v1/models", "")).at("data").([]any)
	var names []string
	for _, m := range list {
		id, _ := m.(map[string]any)["id"].(string)
		names = append(names, id)
		c.want(200, c.do("GET", "/v1/models/"+id, ""))
	}
	if got := strings.Join(names, " "); got != "helper helper:look helper@"+contract.DemoModel+" helper@fast" {
		t.Error(got)
	}
	for _, name := range []string{"look", "helper:write", "helper:", "helper@", "helper@slow", "helperx", "helper:look:look"} {
		c.want(404, c.do("GET", "/v1/models/"+name, ""))
	}
	c.want(200, c.do("GET", "/v1/models/helper:look@fast", ""))
}
