package gateway_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// AgentClient.stream sends a message, and then opens a stream which it reads to done (llmem-gw at
// edcf94a4, api_client.py). It must not get the turn before.
func TestEachStreamOfAgentClientHasItsOwnTurn(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	for _, text := range []string{"one", "two", "three"} {
		a.submit("api-0000aaaa", text)
		s := a.stream(a.api, "/api/v1/stream/api-0000aaaa")
		if got, _ := s.until("done"); got != "answer to "+text {
			t.Errorf("%q", got)
		}
		s.stop()
	}
	if len(a.scripts) != 1 {
		t.Errorf("%d conversations", len(a.scripts))
	}
}

// The shell opens its stream before its first message and keeps it (llmem-gw, shell.py, sse_listener).
// Two of them get the same.
func TestTheShellKeepsItsStream(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	one, two := a.stream(a.shell, "/stream?client_id=tty"), a.stream(a.shell, "/stream?client_id=tty")
	for _, text := range []string{`C:\new`, "trailing ", "a\nb"} {
		a.do(200, a.shell, "POST", "/submit", fmt.Sprintf(`{"client_id":"tty","text":%q}`, text))
		for _, s := range []*tokens{one, two} {
			if got, _ := s.until("done"); strings.TrimSpace(got) != strings.TrimSpace("answer to "+text) {
				t.Errorf("%q", got)
			}
		}
	}
}

// Several streams of one client of the API get the same, whoever has opened them, and so does one that is
// opened during a turn.
func TestStreamsOfAClientGetTheSame(t *testing.T) {
	m := newMany(t)
	release := make(chan struct{})
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			go func() { <-release; s.do(func() { s.finish(msg, "answer to one") }) }()
		}
	}
	a := agentAPIOf(t, m)
	const path = "/api/v1/stream/api-same"
	streams := []*tokens{a.stream(a.api, path), a.stream(a.api, path)}
	a.submit("api-same", "one")
	streams = append(streams, a.stream(a.api, path), a.stream(a.shell, "/stream?client_id=api-same"))
	close(release)
	for i, s := range streams {
		got, _ := s.until("done")
		if got != "answer to one" {
			t.Errorf("stream %d: %q", i, got)
		}
	}
}

// While the first model call is made, a conversation may not answer. A stream does not wait for that: it
// gets the tokens of the call.
func TestAStreamOfANewSessionDoesNotWaitForItsConversation(t *testing.T) {
	m := newMany(t)
	var busy atomic.Bool
	answers, read := make(chan struct{}), m.ConversationFn
	m.ConversationFn = func(id, requestID string) (contract.ConversationView, error) {
		if busy.Load() {
			<-answers
		}
		return read(id, requestID)
	}
	a := agentAPIOf(t, m)
	begun := a.stream(a.shell, "/stream?client_id=api-new")
	a.submit("api-new", "one")
	busy.Store(true)
	opened := make(chan *tokens)
	go func() { opened <- a.stream(a.api, "/api/v1/stream/api-new") }()
	var s *tokens
	select {
	case s = <-opened:
		close(answers)
	case <-time.After(5 * time.Second):
		t.Error("the stream waits")
		close(answers)
		s = <-opened
	}
	for i, s := range []*tokens{begun, s} {
		if got, _ := s.until("done"); got != "answer to one" {
			t.Errorf("stream %d: %q", i, got)
		}
	}
	a.submit("api-new", "two")
	for i, s := range []*tokens{begun, s, a.stream(a.api, "/api/v1/stream/api-new")} {
		if got, _ := s.until("done"); got != "answer to two" {
			t.Errorf("stream %d: %q", i, got)
		}
	}
}

// What a command answers reaches the stream that is opened after it, and the model nothing.
func TestCommandsAreAnsweredInStreams(t *testing.T) {
	m := newMany(t)
	a := agentAPIOf(t, m)
	a.submit("api-c", "hi")
	a.submit("api-c", "!help")
	s := a.stream(a.api, "/api/v1/stream/api-c")
	if got, _ := s.until("done"); !strings.HasPrefix(got, "Commands:") || strings.Contains(got, "answer to hi") {
		t.Errorf("%q", got)
	}
	a.submit("api-c", "!help\nand you?")
	if got, _ := s.until("done"); !strings.HasPrefix(got, "Commands:") || !strings.HasSuffix(got, "answer to and you?") {
		t.Errorf("%q", got)
	}
	if sent := m.sent(); len(sent) != 2 {
		t.Errorf("%q", sent)
	}
}
