package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/workflows/contract"
)

const modelDown = "LLM error: the provider is down"

// fail ends the turn of a message with a model that failed.
func (s *script) fail(m contract.MessageSignal, text string) {
	s.begin(m)
	s.end(m.RequestID, text, contract.OutcomeFailed)
	s.change(func(v *contract.ConversationView) {
		v.Transcript.Tail[len(v.Transcript.Tail)-1].Outcome = contract.OutcomeFailed
	})
}

// failing has the model fail as long as it is down.
func failing(m *many, down *bool) {
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			if *down {
				s.fail(msg, modelDown)
				return
			}
			s.answer(msg)
		}
	}
}

// A model that fails is an error for programs, and one that no client of OpenAI's API repeats by itself: it would send
// the message again.
func TestAModelThatFailsIsAnError(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, down := newMany(t), true
			failing(m, &down)
			c := chatting(t, m)
			defer c.Close()
			c.add("user", "hi")
			body := c.body(fmt.Sprintf(`,"stream":%t`, stream))
			for _, header := range []string{"X-Test: 1", "X-Stainless-Retry-Count: 1"} { // the second one is a repetition
				r := c.do("POST", "/v1/chat/completions", body, header)
				c.wantError(400, modelDown, r)
				if r.text("error", "type") != "server_error" || r.text("error", "code") != "model_failed" || r.header.Get("X-Should-Retry") != "false" || r.header.Get("X-Conversation-ID") == "" {
					t.Errorf("stream %t: %v %s", stream, r.header, r.raw)
				}
			}
			if len(m.sent()) != 1 {
				t.Errorf("stream %t: sent %q", stream, m.sent())
			}
		})
	}
}

// What the agent has said before the model failed is told: whole, or as chunks before the error.
func TestWhatWasSaidBeforeAModelFailsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		m.work = func(s *script) func(contract.MessageSignal) {
			return func(msg contract.MessageSignal) {
				s.begin(msg)
				s.finish(msg, "I look.")
				delete(s.settled, msg.RequestID)
				s.end(msg.RequestID, modelDown, contract.OutcomeFailed)
				s.change(func(v *contract.ConversationView) {
					v.Transcript.Tail[len(v.Transcript.Tail)-1].Outcome = contract.OutcomeFailed
				})
			}
		}
		c := chatting(t, m)
		defer c.Close()
		if got := c.ask("hi"); got != "I look.\n\n"+modelDown {
			t.Errorf("%q", got)
		}
		c.messages = nil
		c.add("user", "hello")
		r := c.want(200, c.do("POST", "/v1/chat/completions", c.body(`,"stream":true`)))
		chunks, fault, _ := strings.Cut(r.raw, `data: {"error"`)
		if !strings.Contains(chunks, "I look.") || strings.Contains(chunks, modelDown) || strings.Contains(chunks, `"finish_reason":"stop"`) {
			t.Errorf("chunks %s", chunks)
		}
		if !strings.Contains(fault, modelDown) || !strings.Contains(fault, `"code":"model_failed"`) || strings.Contains(fault, "[DONE]") {
			t.Errorf("error %s", fault)
		}
	})
}

// The chat goes on in its conversation, whether the client sends the message again or another one.
func TestAChatGoesOnAfterAModelFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, down := newMany(t), false
		failing(m, &down)
		c := chatting(t, m)
		defer c.Close()
		c.ask("hi")
		c.add("user", "more")
		for n := range 2 { // a person tries again
			down = true
			c.want(400, c.do("POST", "/v1/chat/completions", c.body("")))
			if len(m.sent()) != n+2 {
				t.Errorf("sent %q", m.sent())
			}
			c.want(400, c.do("POST", "/v1/chat/completions", c.body(""), "X-Stainless-Retry-Count: 1")) // a program repeats it
			if len(m.sent()) != n+2 {
				t.Errorf("repeated %q", m.sent())
			}
		}
		down = false
		if got := c.post(""); got != "answer to more" || len(m.scripts) != 1 || strings.Join(m.sent(), "|") != "hi|more|more|more" {
			t.Errorf("%q, %d conversations, sent %q", got, len(m.scripts), m.sent())
		}
		c.api = newAPI(t, m.fakeBackend) // another gateway, which remembers nothing
		if got := c.ask("and more"); got != "answer to and more" || len(m.scripts) != 1 {
			t.Errorf("%q, %d conversations", got, len(m.scripts))
		}
	})
}

// A form that was asked for is no place for what went wrong.
func TestAModelThatFailsIsNoJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, down := newMany(t), true
		failing(m, &down)
		c := chatting(t, m)
		defer c.Close()
		c.add("user", "hi")
		for _, more := range []string{`,"stream":false`, `,"stream":true`} {
			c.wantError(400, modelDown, c.do("POST", "/v1/chat/completions", c.body(more+`,"response_format":{"type":"json_object"}`)))
		}
	})
}

func TestAModelThatFailsIsAnErrorOfOllama(t *testing.T) {
	m, down := newMany(t), true
	failing(m, &down)
	o := ollamaOf(t, m)
	for _, body := range []string{`"stream":false`, `"stream":true`} {
		got := o.one(400, "POST", "/api/chat", `{"model":"helper","messages":[{"role":"user","content":"hi"}],`+body+`}`)
		if len(got) != 1 || got["error"] != modelDown {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// The same words are another message, in a conversation that the client names, or behind a response.
func TestTheSameWordsAreAnotherMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		last := c.respond(`{"input":"hi"}`)
		ids := map[string]bool{}
		for range 2 {
			last = c.respond(fmt.Sprintf(`{"input":"yes","conversation":%q}`, last.text("conversation", "id")))
			ids[last.text("id")] = true
		}
		for range 2 {
			last = c.respond(fmt.Sprintf(`{"input":"yes","previous_response_id":%q}`, last.text("id")))
			ids[last.text("id")] = true
		}
		c.messages = []map[string]any{{"role": "user", "content": "yes"}}
		named := "X-Conversation-ID: " + openaiUUID(last.text("conversation", "id"))
		for range 2 { // without what was said before
			c.messages = c.messages[:1]
			c.post("", named)
			c.messages = c.messages[:1]
			c.post("", named, "X-Stainless-Retry-Count: 1")
		}
		if got := strings.Join(m.sent(), "|"); got != "hi"+strings.Repeat("|yes", 6) || len(ids) != 4 || len(m.scripts) != 1 {
			t.Errorf("sent %q, %d responses, %d conversations", got, len(ids), len(m.scripts))
		}
	})
}

// openaiUUID returns the UUID of a conversation with an ID of OpenAI's form.
func openaiUUID(id string) string {
	hex := strings.TrimPrefix(id, "conv_")
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
}
