package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

// lastID reads events to one with a name, and returns the ID of the last event that had one.
func (s *tokens) lastID(name string) (id string) {
	s.t.Helper()
	event := ""
	for s.lines.Scan() {
		line := s.lines.Text()
		if after, ok := strings.CutPrefix(line, "id: "); ok {
			id = after
		}
		if after, ok := strings.CutPrefix(line, "event: "); ok {
			event = after
		}
		if strings.HasPrefix(line, "data:") && event == name {
			return id
		}
	}
	s.t.Fatalf("the stream has ended without %s: %v", name, s.lines.Err())
	return ""
}

// A client that has lost its connection goes on with the next event, at another gateway too: it gets what came
// meanwhile, also from the session's next conversation, and nothing again.
func TestAStreamOfASessionIsResumedAnywhere(t *testing.T) {
	for _, form := range []string{"api", "shell"} {
		m := newMany(t)
		a, b := agentAPIOf(t, m), agentAPIOf(t, m)
		on, other, path := a.api, b.api, "/api/v1/stream/api-r"
		if form == "shell" {
			on, other, path = a.shell, b.shell, "/stream?client_id=api-r"
		}
		s := a.stream(on, path)
		a.submit("api-r", "one")
		id := s.lastID("done")
		s.stop()
		a.submit("api-r", "two")
		a.submit("api-r", "three")
		a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"api-r","text":"!new"}`)
		a.submit("api-r", "four")
		for range 2 {
			s = b.stream(other, path, "Last-Event-ID: "+id)
			for _, want := range []string{"two", "three", "four"} {
				if got, _ := s.until("done"); got != "answer to "+want {
					t.Errorf("%s: %q", form, got)
				}
			}
			s.stop()
		}
		last := b.stream(other, path, "Last-Event-ID: "+id)
		last.until("done")
		id = last.lastID("done")
		last.stop()
		s = b.stream(other, path, "Last-Event-ID: "+id)
		b.submit("api-r", "five")
		for _, want := range []string{"four", "five"} {
			if got, _ := s.until("done"); got != "answer to "+want {
				t.Errorf("%s: %q", form, got)
			}
		}
	}
}

// An ID of another session, or of a conversation that is no more, begins anew, after saying so. What is no ID is refused.
func TestAStreamOfASessionThatCannotBeResumedSaysSo(t *testing.T) {
	m := newMany(t)
	a := agentAPIOf(t, m)
	for _, client := range []string{"api-a", "api-b"} {
		a.submit(client, "one of "+client)
	}
	id := a.stream(a.api, "/api/v1/stream/api-a").lastID("done")
	for _, on := range []*tokens{
		a.stream(a.api, "/api/v1/stream/api-b", "Last-Event-ID: "+id), a.stream(a.shell, "/stream?client_id=api-b", "Last-Event-ID: "+id),
		a.stream(a.api, "/api/v1/stream/api-b", "Last-Event-ID: 7/1~"),
	} {
		if text, data := on.until("reset"); text != "" || data != "{}" {
			t.Errorf("%q %q", text, data)
		}
		if got, _ := on.until("done"); got != "answer to one of api-b" {
			t.Errorf("%q", got)
		}
	}
	for _, id := range []string{"x", "0/1~/zz", "0/1?", "-1/1.", "0/1./0.0/1.2", "0/1.///a.b", "0/1./////0b6c1f52a", "0/1./////0b6c1f52.", "0/1.//////"} {
		got := a.do(400, a.api, "GET", "/api/v1/stream/api-a", "", "Last-Event-ID: "+id)
		if !strings.Contains(fmt.Sprint(got["error"]), "is not the id of an event") {
			t.Errorf("%s: %v", id, got)
		}
	}
}

// What a command answers while a client was away comes to it, at the same gateway, and once.
func TestAnswersOfCommandsAreResumed(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	const path = "/api/v1/stream/api-c"
	s := a.stream(a.api, path)
	a.submit("api-c", "hi")
	id := s.lastID("done")
	s.stop()
	other := a.stream(a.api, path) // takes the answer
	other.until("done")
	a.submit("api-c", "!help")
	other.until("done")
	s = a.stream(a.api, path, "Last-Event-ID: "+id)
	if got, _ := s.until("done"); !strings.HasPrefix(got, "Commands:") {
		t.Errorf("%q", got)
	}
	a.submit("api-c", "you?")
	if got, _ := s.until("done"); got != "answer to you?" {
		t.Errorf("%q", got)
	}
}

// An answer that a client has got ends at any gateway, also after a restart.
func TestTheAnswerOfACommandEndsAnywhere(t *testing.T) {
	m := newMany(t)
	a, b := agentAPIOf(t, m), agentAPIOf(t, m)
	for client, before := range map[string]string{"api-n": "", "api-o": "hi"} { // a session that has not begun, and one that has
		if before != "" {
			a.submit(client, before)
		}
		s := a.stream(a.api, "/api/v1/stream/"+client)
		if before != "" {
			s.until("done")
		}
		a.submit(client, "!help")
		id := s.lastID("tok")
		s.stop()
		if s = b.stream(b.api, "/api/v1/stream/"+client, "Last-Event-ID: "+id); !strings.HasSuffix(id, "!") {
			t.Fatalf("%s says nothing of an end", id)
		}
		if got, _ := s.until("done"); got != "" {
			t.Errorf("%q comes again", got)
		}
		b.submit(client, "you?")
		if got, _ := s.until("done"); got != "answer to you?" {
			t.Errorf("%q", got)
		}
	}
}

// A command that is sent after a message, before a stream has seen the turn of the message begin, does not end the
// turn for the client.
func TestACommandDoesNotEndTheTurnOfTheMessageBeforeIt(t *testing.T) {
	m := newMany(t)
	begin := make(chan contract.MessageSignal)
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			if msg.Text.Inline == "hi" {
				s.answer(msg)
				return
			}
			s.begin(msg)
			go func() { msg := <-begin; s.do(func() { s.finish(msg, "answer to it") }) }()
		}
	}
	late := func(d *gateway.Deps) { d.Pace.Idle = time.Hour } // a stream does not see a turn begin by itself
	a := agentAPIOf(t, m, late)
	a.submit("api-c", "hi")
	s := a.stream(a.api, "/api/v1/stream/api-c")
	s.until("done")
	a.submit("api-c", "it")
	a.submit("api-c", "!help")
	s.text("Commands:")
	begin <- contract.MessageSignal{RequestID: otherID, Name: "m"}
	if got, _ := s.until("done"); !strings.Contains(got, "answer to it") {
		t.Errorf("%q", got)
	}
	a.submit("api-c", "!help")
	if got, _ := s.until("done"); !strings.HasPrefix(got, "Commands:") {
		t.Errorf("%q", got)
	}
}
