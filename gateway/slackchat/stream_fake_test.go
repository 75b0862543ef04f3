package slackchat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// feed has the events of all conversations.
type feed struct {
	mu      sync.Mutex
	readers []chan contract.Event
}

func (f *feed) Subscribe(string) (<-chan contract.Event, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := make(chan contract.Event, 1000)
	f.readers = append(f.readers, events)
	return events, func() {}
}

func (f *feed) send(e contract.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.readers {
		r <- e
	}
}

// turn is one that a test writes.
type turn struct {
	*workspace
	root string
	talk *conversation
}

// turn begins one in a channel, and waits until its thread has a control.
func (w *workspace) turn() *turn {
	w.Helper()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hang")
	w.shows(channel, root, "Working …")
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	for _, c := range w.engine.talks {
		if strings.HasSuffix(c.view.SessionID, root) {
			return &turn{w, root, c}
		}
	}
	w.Fatal("there is no conversation")
	return nil
}

// record changes the conversation.
func (t *turn) record(f func(*conversation)) {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	f(t.talk)
	t.talk.view.Version++
	t.engine.change()
}

// draft begins a reply, and write goes on with it.
func (t *turn) draft(id string) {
	t.feed.send(contract.Event{ConversationID: t.talk.view.ID, Draft: &generation.Draft{ID: id}})
}

func (t *turn) write(id, text string) {
	t.feed.send(contract.Event{ConversationID: t.talk.view.ID, Delta: &generation.Delta{DraftID: id, Kind: generation.Text, Text: text}})
}

// said records the draft as it was written.
func (t *turn) said(id, text string) {
	t.record(func(c *conversation) {
		c.add(contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text), DraftID: id})
	})
}

func (t *turn) call(id, name string) {
	t.record(func(c *conversation) {
		c.add(contract.Message{ID: id, Role: contract.RoleAssistant, ToolCall: &contract.ToolCall{ID: id, Name: name, Arguments: contract.JSON{Raw: json.RawMessage(`{"password":"hunter2"}`)}}})
	})
}

func (t *turn) result(id string, failed bool) {
	t.record(func(c *conversation) {
		c.add(contract.Message{ID: id + "r", Role: contract.RoleTool, ResultOf: id, ToolCall: &contract.ToolCall{ID: id, Name: "x", Result: contract.Inline("hunter2"), IsError: failed}})
	})
}

func (t *turn) end() {
	t.record(func(c *conversation) {
		c.view.Running = false
		for id := range c.requests {
			c.requests[id] = true
		}
	})
}

// message returns the message of the app that begins with a text.
func (t *turn) message(text string) (found fakeslack.Message, ok bool) {
	for _, m := range t.Thread(channel, t.root) {
		if m.User == fakeslack.Bot && strings.HasPrefix(m.Text, text) {
			return m, true
		}
	}
	return found, false
}

// streams waits until a stream shows a text.
func (t *turn) streams(text string) fakeslack.Message {
	t.Helper()
	var m fakeslack.Message
	if !t.Wait(within, func() bool { m, _ = t.message(text); return m.State == fakeslack.StateOpen }) {
		t.Fatalf("no stream of %q: %+v", text, t.Thread(channel, t.root))
	}
	return m
}

// ends waits until a thread shows texts, in which nobody works any more.
func (t *turn) ends(want ...string) []fakeslack.Message {
	t.Helper()
	var thread []fakeslack.Message
	if !t.Wait(within, func() bool {
		thread = slices.DeleteFunc(t.Thread(channel, t.root), func(m fakeslack.Message) bool { return m.User != fakeslack.Bot })
		return fmt.Sprint(t.texts(channel, t.root)) == fmt.Sprint(want) && !slices.ContainsFunc(thread, works)
	}) {
		t.Fatalf("the thread shows %q, want %q", t.texts(channel, t.root), want)
	}
	return thread
}

// works reports whether a message says that the agent works.
func works(m fakeslack.Message) bool {
	_, button := m.Button(card.Stop)
	return button || m.State == fakeslack.StateOpen
}

// replied ends a turn with a text, and waits until a thread shows it.
func (t *turn) replied(text string) []fakeslack.Message {
	t.Helper()
	t.record(func(c *conversation) { c.say(text) })
	t.end()
	return t.ends(text)
}

func states(m fakeslack.Message) (out []string) {
	for _, task := range m.Tasks {
		out = append(out, task.Title+" "+task.Status)
	}
	return out
}
