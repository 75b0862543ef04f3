package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// decoded returns the events of a stream, and checks its form.
func decoded(t *testing.T, r reply) (out []map[string]any) {
	t.Helper()
	if got := r.header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the stream is %s", got)
	}
	blocks := strings.Split(strings.TrimSuffix(r.raw, "\n\n"), "\n\n")
	if last := blocks[len(blocks)-1]; last != "data: [DONE]" {
		t.Errorf("the stream ends with %q", last)
	}
	for _, block := range blocks[:len(blocks)-1] {
		head, data, _ := strings.Cut(block, "\ndata: ")
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err, block)
		}
		if head != fmt.Sprintf("event: %s", e["type"]) { // no id, and nothing else
			t.Errorf("the event %q has the type %s", head, e["type"])
		}
		out = append(out, e)
	}
	return out
}

// itemEvents are the events of an item in their order, by its type. Deltas may be repeated.
var itemEvents = map[string]string{
	"message":              "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done",
	"function_call":        "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done",
	"mcp_approval_request": "output_item.added output_item.done",
}

// wantEvents checks the events of a response: each by its shape, their numbers and their order, and that together they
// are the response at the end, which is returned. first is the number of the first one.
func wantEvents(t *testing.T, events []map[string]any, first int, end string) (final map[string]any) {
	t.Helper()
	type itemState struct {
		kind, text, done string
		events           []string
	}
	var states []string
	var order []string
	items := map[string]*itemState{}
	for n, e := range events {
		wantShape(t, "Event", e)
		if got, _ := e["sequence_number"].(float64); int(got) != first+n {
			t.Errorf("the event %d has the number %v", first+n, got)
		}
		kind := strings.TrimPrefix(e["type"].(string), "response.")
		if response, ok := e["response"].(map[string]any); ok {
			final = response
			states = append(states, kind)
			continue
		}
		id, _ := e["item_id"].(string)
		if item, ok := e["item"].(map[string]any); ok {
			id, _ = item["id"].(string)
			if items[id] == nil {
				items[id] = &itemState{kind: item["type"].(string)}
				order = append(order, id)
			}
			if kind == "output_item.done" {
				raw, _ := json.Marshal(item)
				items[id].done = string(raw)
			}
		}
		s := items[id]
		if index, _ := e["output_index"].(float64); s == nil || slices.Index(order, id) != int(index) {
			t.Fatalf("%s of item %q at %v", kind, id, index)
		}
		delta, _ := e["delta"].(string)
		s.text += delta
		for _, member := range []string{"text", "arguments"} {
			if whole, ok := e[member].(string); ok && whole != s.text {
				t.Errorf("the deltas are %q, the text %q", s.text, whole)
			}
		}
		if len(s.events) == 0 || s.events[len(s.events)-1] != kind {
			s.events = append(s.events, kind)
		}
	}
	for id, s := range items {
		if want := itemEvents[s.kind]; strings.Join(s.events, " ") != want {
			t.Errorf("the %s %s has the events %s", s.kind, id, s.events)
		}
	}
	if got, want := strings.Join(states, " "), "created in_progress "+end; got != want {
		t.Errorf("the response has the events %s, want %s", got, want)
	}
	output, _ := final["output"].([]any)
	if len(output) != len(order) {
		t.Fatalf("the response has %d items, the stream %v", len(output), order)
	}
	for n, item := range output {
		if raw, _ := json.Marshal(item); string(raw) != items[order[n]].done {
			t.Errorf("the response has %s, the stream %s", raw, items[order[n]].done)
		}
	}
	return final
}

func TestORStreams(t *testing.T) {
	long := "Größe is\n\n" + strings.Repeat("語", 50) + " a  text — with spaces "
	for name, c := range map[string]struct {
		set  func(*many)
		body string
	}{
		"a text":     {func(*many) {}, `{"input":"hi"`},
		"words":      {func(*many) {}, fmt.Sprintf(`{"input":%q`, long)},
		"a function": {withClientTool, `{"input":"weather?","tools":[{"type":"function","name":"get_weather"}]`},
		"approvals":  {notes, `{"input":"drop all",` + declared},
		"cards":      {withApprovals, `{"input":"drop all"`},
		"JSON":       {func(*many) {}, `{"input":"hi","text":{"format":{"type":"json_object"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMany(t)
				c.set(m)
				client := chatting(t, m)
				defer client.Close()
				whole := decoded(t, client.respond(c.body+`,"stream":true}`))
				final := wantEvents(t, whole, 0, "completed")
				again := decoded(t, client.want(200, client.do("GET", fmt.Sprintf("/v1/responses/%s?stream=true", final["id"]), "")))
				for n := range again { // the same text has the same events, however it came in pieces
					if n < len(whole) && (again[n]["type"] != whole[n]["type"] || again[n]["delta"] != whole[n]["delta"]) {
						t.Errorf("event %d was %v, then %v", n, whole[n], again[n])
					}
				}
			})
		})
	}
}

// What waits is a response too, also where nothing was sent because of it.
func TestORItems(t *testing.T) {
	m := newMany(t)
	notes(m)
	c := chatting(t, m)
	plain := c.respond(`{"input":"drop all"}`)
	if got := outputTypes(plain); got != "message" {
		t.Errorf("a client that asks for no items of OpenAI gets %s", got)
	}
	unsent := c.respond(fmt.Sprintf(`{"input":"and more","conversation":%q,"stream":true}`, plain.text("conversation", "id")))
	wantEvents(t, decoded(t, unsent), 0, "completed")
	if !strings.Contains(unsent.raw, "not sent") {
		t.Error(unsent.raw)
	}
	asked := newMany(t)
	notes(asked)
	if got := outputTypes(chatting(t, asked).respond(`{"input":"drop all",` + declared + `}`)); got != "mcp_approval_request" {
		t.Errorf("a client that declares a server of OpenAI gets %s", got)
	}
	seen := map[string]bool{}
	for _, r := range []reply{plain, chatting(t, newMany(t)).respond(`{"input":"hi"}`)} {
		items, _ := r.at("output").([]any)
		for _, i := range items {
			item, _ := i.(map[string]any)
			for _, member := range []string{"id", "type", "status"} {
				if text, _ := item[member].(string); text == "" || member == "id" && seen[text] {
					t.Errorf("%s is %q", member, text)
				} else if member == "id" {
					seen[text] = true
				}
			}
		}
	}
}

func outputTypes(r reply) string {
	var out []string
	items, _ := r.at("output").([]any)
	for _, i := range items {
		out = append(out, fmt.Sprint(i.(map[string]any)["type"]))
	}
	return strings.Join(out, " ")
}

// A reply that reached the model's limit is incomplete, whole and as a stream.
func TestORIncomplete(t *testing.T) {
	m := newMany(t)
	m.work = notified("The answer is cut off: the model reached its limit for one reply.", true)
	c := chatting(t, m)
	whole := c.respond(`{"input":"hi"}`)
	final := wantEvents(t, decoded(t, c.respond(`{"input":"hi","stream":true}`)), 0, "incomplete")
	for _, r := range []map[string]any{whole.body, final, c.want(200, c.do("GET", "/v1/responses/"+whole.text("id"), "")).body} {
		wantShape(t, "Response", r)
		items, _ := r["output"].([]any)
		last, _ := items[len(items)-1].(map[string]any)
		if details, _ := r["incomplete_details"].(map[string]any); r["status"] != "incomplete" || last["status"] != "incomplete" || details["reason"] != "max_output_tokens" || r["completed_at"] != nil {
			t.Errorf("%v", r)
		}
	}
}

// notified has every turn write a notice before or behind its text.
func notified(notice string, behind bool) func(*script) func(contract.MessageSignal) {
	return func(s *script) func(contract.MessageSignal) {
		note := func() {
			s.change(func(v *contract.ConversationView) {
				v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{ID: s.id(), Role: contract.RoleAssistant, Content: contract.Inline(notice), Notice: true, CreatedAt: epoch})
			})
		}
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			if !behind {
				note()
			}
			s.finish(msg, "a long answer")
			if behind {
				note()
			}
		}
	}
}

func TestORTruncation(t *testing.T) {
	const notice = "The conversation is longer than the model's window. Of its first 8 messages the model sees a summary from now on; here they stay as they are."
	for body, want := range map[string]string{`"truncation":"disabled"`: "failed", `"truncation":"auto"`: "completed", `"store":true`: "completed"} {
		m := newMany(t)
		m.work = notified(notice, false)
		c := chatting(t, m)
		r := c.respond(`{"input":"hi",` + body + `}`)
		wantShape(t, "Response", r.body)
		if code := r.text("error", "code"); r.text("status") != want || (code == "context_length_exceeded") != (want == "failed") {
			t.Errorf("%s: %s", body, r.raw)
		}
		if stored := c.want(200, c.do("GET", "/v1/responses/"+r.text("id"), "")); stored.text("status") != want || stored.text("truncation") != r.text("truncation") {
			t.Errorf("%s: %s", body, stored.raw)
		}
		wantEvents(t, decoded(t, c.respond(`{"input":"hi","stream":true,`+body+`}`)), 0, want)
	}
	c := chatting(t, newMany(t))
	if r := c.respond(`{"input":"hi","truncation":"disabled"}`); r.text("status") != "completed" || r.text("truncation") != "disabled" {
		t.Error(r.raw)
	}
	c.wantFault(400, "truncation", c.do("POST", "/v1/responses", `{"input":"hi","truncation":"some"}`))
}

// The stream of a response breaks off when the gateway closes.
func TestORErrorWithinAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		m.work = func(s *script) func(contract.MessageSignal) { return s.begin }
		c := chatting(t, m)
		go func() {
			time.Sleep(time.Second)
			c.Close()
		}()
		events := decoded(t, c.respond(`{"input":"hi","stream":true}`))
		for n, e := range events {
			wantShape(t, "Event", e)
			if e["sequence_number"] != float64(n) {
				t.Errorf("event %d: %v", n, e)
			}
		}
		last := events[len(events)-2:]
		failed, _ := last[1]["response"].(map[string]any)
		if last[0]["type"] != "error" || last[1]["type"] != "response.failed" || failed["status"] != "failed" || failed["error"] == nil {
			t.Errorf("%v", last)
		}
	})
}

// wantFault checks an error, and the member that it is about.
func (c *completions) wantFault(status int, param string, r reply) {
	c.t.Helper()
	if r.status != status || r.text("error", "param") != param {
		c.t.Errorf("%d %s, want %d about %s", r.status, r.raw, status, param)
	}
	wantShape(c.t, "Refusal", r.body)
}
