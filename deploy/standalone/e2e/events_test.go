package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/config/feed/feedtest"
)

// event is an event of a stream, with the ID to resume after.
type event struct {
	ID, Type, MessageID string
	Delta               json.RawMessage // a text, or a change of the state
	Messages            []struct{ ID, Role, Content string }
	Outcome             struct{ Type string }
}

func (e event) text(t *testing.T) (text string) {
	t.Helper()
	if err := json.Unmarshal(e.Delta, &text); err != nil {
		t.Errorf("delta %s: %v", e.Delta, err)
	}
	return text
}

// spectator follows a conversation and keeps the state that an AG-UI client would have.
type spectator struct {
	t      *testing.T
	last   string            // the last ID
	texts  map[string]string // of messages
	events chan event
	stop   context.CancelFunc
}

// follow opens a stream, or resumes one that broke off. Headers are "Name: value".
func (s *spectator) follow(api *api, id string, headers ...string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", api.base+"/conversations/"+id+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.stop, s.events = cancel, make(chan event, 1000)
	go func(events chan<- event) {
		defer close(events)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		id := ""
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = rest
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				e := event{}
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					s.t.Errorf("event %s: %v", data, err)
				}
				e.ID, id = id, ""
				events <- e
			}
		}
	}(s.events)
}

// until handles events up to one of the given type.
func (s *spectator) until(kind string) event {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				s.t.Fatalf("the stream ended before %s", kind)
			}
			if s.take(e); e.Type == kind {
				return e
			}
		case <-deadline:
			s.t.Fatalf("no %s within %s", kind, patience)
		}
	}
}

func (s *spectator) take(e event) {
	if e.ID != "" {
		s.last = e.ID
	}
	switch e.Type {
	case "TEXT_MESSAGE_CONTENT":
		s.texts[e.MessageID] += e.text(s.t)
	case "MESSAGES_SNAPSHOT":
		s.texts = map[string]string{}
		for _, m := range e.Messages {
			if m.Content != "" && m.Role != "tool" {
				s.texts[m.ID] = m.Content
			}
		}
	}
}

// has requires that the spectator has these texts, in any order.
func (s *spectator) has(want ...string) {
	s.t.Helper()
	got := map[string]int{}
	for _, text := range s.texts {
		got[text]++
	}
	for _, text := range want {
		got[text]--
	}
	for text, n := range got {
		if n != 0 {
			s.t.Errorf("%q: %d too many in %v", text, n, s.texts)
		}
	}
}

// A reader sees a reply while it is generated, and resumes after a crash without gaps or
// duplicates.
func TestASpectatorGoesOnAfterTheAgentWasKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	hold := make(chan struct{})
	h.model.Reply(llmtest.WaitAfter(4, "Hello, it is me, and this takes a while.", hold))
	s := &spectator{t: t, texts: map[string]string{}}
	id := api.want(201, "POST", "/conversations", `{}`).Conversation.ID
	s.follow(api, id)
	s.until("RUN_FINISHED")
	api.want(202, "POST", "/conversations/"+id+"/messages", messageJSON("hello"), "Prefer: respond-async")
	for {
		if s.until("TEXT_MESSAGE_CONTENT").text(t) != "hello" {
			break // a piece of the unfinished reply
		}
	}
	close(hold)
	s.until("RUN_FINISHED")
	s.has("hello", "Hello, it is me, and this takes a while.")
	asked := api.say(id, `call note_add {"name":"x"}`)
	if e := s.until("RUN_FINISHED"); e.Outcome.Type != "interrupt" {
		t.Errorf("outcome %q while an approval waits", e.Outcome.Type)
	}
	agent.kill()
	for range s.events { // until it breaks off
	}
	api, _ = h.outside()
	s.follow(api, id)
	if e := s.until("RUN_FINISHED"); e.Outcome.Type != "interrupt" {
		t.Errorf("outcome %q after the crash", e.Outcome.Type)
	}
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	if e := s.until("RUN_FINISHED"); e.Outcome.Type != "success" {
		t.Errorf("outcome %q in the end", e.Outcome.Type)
	}
	s.has("hello", "Hello, it is me, and this takes a while.", `call note_add {"name":"x"}`, "The tool said: added x")
	api.want(200, "POST", "/conversations/"+id+"/close", "")
	for e := range s.events { // a closed conversation ends the stream
		s.take(e)
	}
}

// A worker and a gateway in separate processes share drafts through Redis; without it readers
// get whole messages.
func TestRepliesAreFollowedAcrossProcessesThroughRedis(t *testing.T) {
	t.Parallel()
	redis := feedtest.NewServer(t, "")
	h := newHome(t)
	h.extra = fmt.Sprintf("events: {redis: %q}\n", redis.URL())
	api := h.pieces()
	start(t, h.dir, "worker", h.environ(), "--config", h.configFile())
	carries := func(problem bool) func() bool {
		return func() bool {
			raw := api.do("GET", "/health/ready", "").Raw
			return strings.Contains(raw, `"deltas":"redis"`) && strings.Contains(raw, `"events":{"deltas":"redis","problem"`) == problem
		}
	}
	eventually(t, "redis carries", carries(false))
	s := &spectator{t: t, texts: map[string]string{}}
	id := api.want(201, "POST", "/conversations", `{}`).Conversation.ID
	s.follow(api, id)
	s.until("RUN_FINISHED")
	hold := make(chan struct{})
	h.model.Reply(llmtest.WaitAfter(4, "Hello, it is me, and this takes a while.", hold))
	api.want(202, "POST", "/conversations/"+id+"/messages", messageJSON("hello"), "Prefer: respond-async")
	for {
		if s.until("TEXT_MESSAGE_CONTENT").text(t) != "hello" {
			break
		}
	}
	close(hold)
	s.until("RUN_FINISHED")
	redis.Kill()
	eventually(t, "the trouble is told", carries(true))
	api.say(id, "and now?")
	s.until("RUN_FINISHED")
	s.has("hello", "Hello, it is me, and this takes a while.", "and now?", "You said: and now?")
	redis.Start()
	eventually(t, "redis carries again", carries(false))
	api.say(id, "and again?")
	s.until("RUN_FINISHED")
	s.has("hello", "Hello, it is me, and this takes a while.", "and now?", "You said: and now?", "and again?", "You said: and again?")
	s.stop()
}

// If a worker dies in the middle of a reply, the partial reply is dropped: another worker calls
// the model again, and readers end with the new reply.
func TestAWorkerKilledInTheMiddleOfAReplyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = fmt.Sprintf("events: {redis: %q}\n", feedtest.NewServer(t, "").URL())
	api := h.pieces()
	worker := start(t, h.dir, "worker", h.environ(), "--config", h.configFile())
	s := &spectator{t: t, texts: map[string]string{}}
	id := api.want(201, "POST", "/conversations", `{}`).Conversation.ID
	s.follow(api, id)
	s.until("RUN_FINISHED")
	h.model.Reply(llmtest.HangAfter(4, "This is never finished, whatever happens."))
	api.want(202, "POST", "/conversations/"+id+"/messages", messageJSON("hello"), "Prefer: respond-async")
	for {
		if s.until("TEXT_MESSAGE_CONTENT").text(t) != "hello" {
			break
		}
	}
	worker.kill()
	start(t, h.dir, "worker", h.environ(), "--config", h.configFile())
	s.until("RUN_FINISHED")
	s.has("hello", "You said: hello")
	s.stop()
}

// An operator may answer a call of a front end that does not return.
func TestACallOfTheClientIsAnsweredByAnOperator(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	for answer, want := range map[string]string{
		`{"content":{"content":"blue"}}`:             "The tool said: blue",
		`{"approved":false,"reason":"it is broken"}`: "The tool said: Error: The client did not make the call (rejected): it is broken",
	} {
		asked := api.do("POST", "/ag-ui", `{"threadId":"`+want+`","runId":"r","protocolVersion":"1.0","messages":[{"id":"m","role":"user","content":"call pick"}],
			"tools":[{"name":"pick","description":"Asks the person"}]}`)
		if !strings.Contains(asked.Raw, `"pendingToolCallIds":["`) {
			t.Fatalf("nothing waits for the client: %s", asked.Raw)
		}
		var list struct{ Approvals []approval }
		eventually(t, "the call is in the list", func() bool {
			if err := json.Unmarshal([]byte(api.do("GET", "/approvals", "").Raw), &list); err != nil {
				t.Fatal(err)
			}
			return len(list.Approvals) == 1
		})
		if got := api.decide(list.Approvals[0].UUID, answer).Result.Response; got != want {
			t.Errorf("after %s: %q, want %q", answer, got, want)
		}
		eventually(t, "the list is empty", func() bool {
			return !strings.Contains(api.do("GET", "/approvals", "").Raw, list.Approvals[0].UUID)
		})
	}
}
