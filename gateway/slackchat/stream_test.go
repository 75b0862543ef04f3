package slackchat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway/slackchat"
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

func TestAReplyIsStreamed(t *testing.T) {
	w := newWorkspace(t)
	stop := w.gateway()
	turn := w.turn()
	turn.draft("d1")
	for _, word := range []string{"I ", "will ", "look ", "**at", " once**"} {
		turn.write("d1", word)
	}
	first := turn.streams("I will look")
	if strings.Contains(first.Text, "*") {
		t.Errorf("markup that is not whole was sent: %q", first.Text)
	}
	turn.said("d1", "I will look **at once**")
	turn.call("c1", "search<!channel>")
	turn.call("c2", "fetch")
	has := func(want ...string) {
		t.Helper()
		w.await(fmt.Sprint(want), func() bool { m, _ := turn.message("I will look"); return slices.Equal(states(m), want) })
	}
	has("search&lt;!channel&gt; in_progress", "fetch in_progress")
	turn.result("c2", true)
	has("search&lt;!channel&gt; in_progress", "fetch error")
	turn.result("c1", false)
	has("search&lt;!channel&gt; complete", "fetch error")
	turn.draft("d2")
	turn.write("d2", "Found:\n- one <!here>\n- tw")
	turn.streams("I will look *at once*\n\nFound:\n• one &lt;!here&gt;")
	turn.said("d2", "Found:\n- one <!here>\n- two")
	turn.end()
	thread := turn.ends("I will look *at once*\n\nFound:\n• one &lt;!here&gt;\n• two")
	if m := thread[0]; m.TS != first.TS || m.State != fakeslack.StateDone || m.Edits != 0 || !strings.Contains(string(m.Metadata), `"1.0.0"`) || strings.Contains(fmt.Sprintf("%+v %s", m, m.Blocks), "hunter2") {
		t.Errorf("%+v", m)
	}
	if s := w.Session(channel, turn.root); s != "processing" { // chat.stopStream makes it active
		t.Errorf("the session was %q", s)
	}
	updates := len(w.Calls("chat.update"))
	stop()
	w.gateway()
	w.Say("U1", channel, turn.root, fakeslack.Mention+" more")
	w.shows(channel, turn.root, thread[0].Text, "You said: more")
	if n := len(w.Calls("chat.update")) - updates; n > 1 { // the control became the second reply
		t.Errorf("%d messages were changed", n)
	}
}

// A call that waits for its approval is not one that runs, and goes on below the card.
func TestACallThatWaitsGoesOnInTheNextStream(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("I will delete it.") })
	turn.call("c1", "search")
	turn.result("c1", false)
	turn.call("c2", "resources_remove")
	turn.streams("I will delete it.")
	turn.record(func(c *conversation) { w.engine.ask(c) })
	w.shows(channel, turn.root, "I will delete it.", asks)
	m, _ := turn.message("I will delete it.")
	if got := fmt.Sprint(states(m)); got != "[search complete resources_remove pending]" && got != "[search complete]" {
		t.Errorf("%s", got)
	}
	turn.record(func(c *conversation) { // the call runs
		result := contract.ApprovalResult{UUID: c.view.Pending[0].UUID, Decision: contract.Approved, By: "U1", Tool: "resources_remove"}
		w.engine.approvals[result.UUID].Result = &result
		c.view.Pending, c.view.Status, c.view.Running = nil, contract.StatusActive, true
		c.add(contract.Message{Role: contract.RoleUser, Notice: true, Content: contract.Inline("approved"), Approval: &result})
	})
	w.await("the call runs", func() bool {
		thread := w.Thread(channel, turn.root)
		return fmt.Sprint(states(thread[len(thread)-1])) == "[resources_remove in_progress]"
	})
	turn.result("c2", false)
	turn.record(func(c *conversation) { c.say("It is deleted.") })
	turn.end()
	thread := turn.ends("I will delete it.", approved, "It is deleted.")
	if got := fmt.Sprint(states(thread[2])); got != "[resources_remove complete]" {
		t.Errorf("%s", got)
	}
}

// What was streamed cannot be taken back: where a model begins again, the message is changed.
func TestAReplyThatBeginsAgainReplacesTheStream(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	turn := w.turn()
	turn.draft("d1")
	turn.write("d1", "A wrong way to begin")
	first := turn.streams("A wrong")
	turn.draft("d2")
	turn.write("d2", "Right and well")
	w.await("the message is changed", func() bool { m, ok := turn.message("Right"); return ok && m.TS == first.TS })
	if m, _ := turn.message("Right"); m.State == fakeslack.StateOpen || !strings.Contains(string(m.Blocks), card.Stop) {
		t.Errorf("%+v %s", m, m.Blocks)
	}
	turn.replied("Right and well done.")
}

func TestLongRepliesAreSeveralStreams(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	turn := w.turn()
	turn.draft("d1")
	var text strings.Builder
	for n := range 120 {
		line := fmt.Sprintf("This is paragraph %d of a **long** reply, in `code` & words.\n\n", n)
		text.WriteString(line)
		turn.write("d1", line)
		if n == 20 {
			turn.streams("This is paragraph 0")
		}
	}
	turn.said("d1", text.String())
	turn.end()
	w.await("it is whole", func() bool {
		return strings.Contains(strings.Join(w.texts(channel, turn.root), ""), "paragraph 119 ") && !strings.Contains(fmt.Sprint(w.texts(channel, turn.root)), "Working …")
	})
	all := strings.Join(w.texts(channel, turn.root), "\n\n")
	for n := range 120 {
		if strings.Count(all, fmt.Sprintf("paragraph %d of a *long* reply", n)) != 1 {
			t.Errorf("paragraph %d is there %d times", n, strings.Count(all, fmt.Sprintf("paragraph %d of", n)))
		}
	}
	if first := w.Thread(channel, turn.root)[1]; first.State != fakeslack.StateDone || first.Edits != 0 || len(first.Text) > card.MaxReply {
		t.Errorf("%s, changed %d times, %d bytes", first.State, first.Edits, len(first.Text))
	}
}

func TestWorkspacesWithoutStreamsAreAskedOnce(t *testing.T) {
	for _, code := range []string{"unknown_method", "missing_scope", "not_allowed_token_type"} {
		t.Run(code, func(t *testing.T) {
			w := newWorkspace(t)
			w.Miss("chat.startStream", code)
			w.Miss("agents.sessions.setStatus", "not_agent_app")
			w.gateway()
			for range 2 {
				turn := w.turn()
				working := w.Thread(channel, turn.root)[1]
				turn.record(func(c *conversation) { c.say("Slowly") })
				turn.call("c1", "search")
				w.await("the message grows", func() bool {
					m, _ := turn.message("Slowly")
					return m.TS == working.TS && strings.Contains(string(m.Blocks), "Calling search …") && strings.Contains(string(m.Blocks), card.Stop)
				})
				turn.result("c1", false)
				turn.end()
				turn.ends("Slowly")
			}
			if a, b := len(w.Calls("chat.startStream")), len(w.Calls("agents.sessions.setStatus")); a != 1 || b != 1 {
				t.Errorf("%d streams and %d sessions were tried", a, b)
			}
		})
	}
}

// One thread in which Slack takes no stream says nothing of others.
func TestAThreadWithoutStreams(t *testing.T) {
	w := newWorkspace(t)
	w.Refuse("chat.startStream", "channel_type_not_supported")
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("Slowly") })
	w.await("the message grows", func() bool { m, _ := turn.message("Slowly"); return strings.Contains(string(m.Blocks), card.Stop) })
	turn.replied2("Slowly", "done")
	other := w.turn()
	other.record(func(c *conversation) { c.say("Fast") })
	other.streams("Fast")
	other.replied2("Fast", "done")
}

// replied2 ends a turn that has said something with another text.
func (t *turn) replied2(before, text string) []fakeslack.Message {
	t.Helper()
	t.record(func(c *conversation) { c.say(text) })
	t.end()
	return t.ends(before + "\n\n" + text)
}

func TestStreamsObeyRateLimits(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("One.") })
	turn.streams("One.")
	w.Limit("chat.appendStream", time.Second)
	w.Limit("chat.stopStream", time.Second)
	began := time.Now()
	turn.record(func(c *conversation) { c.say("Two.") })
	turn.streams("One.\n\nTwo.")
	if d := time.Since(began); d < time.Second {
		t.Errorf("appended after %s", d)
	}
	if m := turn.replied2("One.\n\nTwo.", "Three."); m[0].Edits != 0 || time.Since(began) < 2*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), m)
	}

	// Nobody waits for a stream: the message is changed as long as Slack starts none.
	w.Limit("chat.startStream", time.Hour)
	other := w.turn()
	other.record(func(c *conversation) { c.say("Now.") })
	w.await("it is there", func() bool { _, ok := other.message("Now."); return ok })
	other.replied2("Now.", "Then.")
	if n := len(w.Calls("chat.startStream")); n != 1 {
		t.Errorf("%d streams", n)
	}
}

func TestAStreamThatSlackEndsGoesOnAsAMessage(t *testing.T) {
	const ended = "chat.appendStream: message_not_in_streaming_state"
	t.Run("unexpectedly", func(t *testing.T) {
		w := newWorkspace(t)
		w.excused = []string{ended, "chat.stopStream: message_not_in_streaming_state"}
		w.gateway()
		turn := w.turn()
		turn.record(func(c *conversation) { c.say("One.") })
		first := turn.streams("One.")
		w.Expire()
		turn.call("c1", "search")
		w.await("the message grows", func() bool {
			m, _ := turn.message("One.")
			return m.TS == first.TS && strings.Contains(string(m.Blocks), "Calling search …") && strings.Contains(string(m.Blocks), card.Stop)
		})
		turn.result("c1", false)
		turn.replied2("One.", "Two.")
		if s := w.Session(channel, turn.root); s != "active" {
			t.Errorf("the session is %q", s)
		}
	})
	t.Run("after its time, although nothing happens", func(t *testing.T) {
		w := newWorkspace(t)
		w.gateway(func(o *slackchat.Options) { o.StreamLife = 100 * time.Millisecond })
		turn := w.turn()
		turn.record(func(c *conversation) { c.say("One.") })
		w.await("the message has the button", func() bool {
			m, ok := turn.message("One.")
			return ok && m.State == fakeslack.StateDone && strings.Contains(string(m.Blocks), card.Stop) && len(w.Thread(channel, turn.root)) == 2
		})
		turn.replied2("One.", "Two.")
	})
	t.Run("with calls that take long", func(t *testing.T) {
		w := newWorkspace(t)
		w.gateway(func(o *slackchat.Options) { o.StreamLife = 200 * time.Millisecond })
		turn := w.turn()
		turn.call("c1", "build")
		turn.call("c2", "test")
		turn.result("c1", false)
		shows := func(tasks string, state string) (found fakeslack.Message) {
			t.Helper()
			w.await(tasks, func() bool {
				for _, m := range w.Thread(channel, turn.root) {
					if fmt.Sprint(states(m)) == tasks && m.State == state && m.TS != found.TS {
						found = m
						return true
					}
				}
				return false
			})
			return found
		}
		first := shows("[build complete test in_progress]", fakeslack.StateOpen)
		w.await("another stream has taken over", func() bool {
			thread := w.Thread(channel, turn.root)
			last := thread[len(thread)-1]
			return len(thread) == 3 && last.TS != first.TS && fmt.Sprint(states(last)) == "[build complete test in_progress]"
		})
		turn.result("c2", true)
		turn.replied("Built.")
	})
	t.Run("at its end", func(t *testing.T) {
		w := newWorkspace(t)
		w.excused = []string{"chat.stopStream: message_not_in_streaming_state"}
		w.gateway()
		turn := w.turn()
		turn.record(func(c *conversation) { c.say("One.") })
		turn.streams("One.")
		w.Expire()
		turn.end()
		turn.ends("One.")
		w.await("it says how it ended", func() bool { m, _ := turn.message("One."); return m.Edits == 1 })
	})
	t.Run("as a message that cannot be changed", func(t *testing.T) {
		w := newWorkspace(t)
		w.excused = []string{"chat.stopStream: message_not_in_streaming_state"}
		w.gateway()
		turn := w.turn()
		turn.record(func(c *conversation) { c.say("One.") })
		first := turn.streams("One.")
		w.Expire()
		w.Refuse("chat.update", "block_mismatch")
		turn.end()
		w.await("another message replaces it", func() bool { m, ok := turn.message("One."); return ok && m.TS != first.TS })
		turn.ends("One.")
	})
}

func TestTheButtonStopsAStream(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("One.") })
	turn.call("c1", "search")
	turn.streams("One.")
	working, _ := turn.message("Working …")
	if err := w.Press("U1", working, card.Stop); err != nil {
		t.Fatal(err)
	}
	m := turn.ends("One.\n\nThe turn was stopped.")[0]
	if len(w.engine.cancelled) != 1 || m.State != fakeslack.StateDone || strings.Contains(fmt.Sprint(states(m)), "in_progress") {
		t.Errorf("%+v; %+v", w.engine.cancelled, m)
	}
}

// Slack's own Stop ends the stream before the agent knows it. The turn is cancelled, and the message says so.
func TestSlacksOwnStop(t *testing.T) {
	w := newWorkspace(t)
	w.excused = []string{"chat.appendStream: stopped_by_user", "chat.stopStream: stopped_by_user", "chat.stopStream: message_not_in_streaming_state"}
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("One.") })
	first := turn.streams("One.")
	w.Move("U7", "T0OTHER")
	w.StopSession("U7", channel, turn.root)
	w.await("it is acknowledged", func() bool { return w.Unacknowledged() == 0 })
	turn.call("c1", "search")
	w.await("nobody of another workspace stops it", func() bool {
		m, _ := turn.message("One.")
		return m.TS == first.TS && strings.Contains(string(m.Blocks), "Calling search …")
	})
	w.StopSession("U2", channel, turn.root)
	turn.ends("One.\n\nThe turn was stopped.")
	if c := w.engine.cancelled; len(c) != 1 || c[0].By != "U2" {
		t.Errorf("%+v", c)
	}
	other := w.turn()
	other.record(func(c *conversation) { c.say("Two.") })
	other.streams("Two.")
	w.StopSession("U3", channel, other.root)
	other.ends("Two.\n\nThe turn was stopped.")
	if s := w.Session(channel, other.root); len(w.engine.cancelled) != 2 || s != "active" {
		t.Errorf("%+v; the session is %q", w.engine.cancelled, s)
	}
}

// killed ends a gateway that leaves its stream as it is.
func (t *turn) killed(stop func()) {
	t.Miss("chat.stopStream", "internal_error")
	stop()
	t.Miss("chat.stopStream", "")
}

// A gateway that was killed has left a stream, of which only Slack knows. The next one makes it right.
func TestAStreamOutlivesTheGateway(t *testing.T) {
	const text = "One. Two"
	for name, c := range map[string]struct {
		meanwhile func(*turn)
		then      func(*turn, fakeslack.Message)
	}{
		"while the turn runs": {func(*turn) {}, func(turn *turn, left fakeslack.Message) {
			turn.await("the next gateway goes on", func() bool {
				m, ok := turn.message("One.")
				_, working := turn.message("Working …")
				return ok && working && m.TS == left.TS && m.State == fakeslack.StateDone
			})
			turn.said("d1", text+" three.")
			turn.await("the text is known", func() bool {
				m, ok := turn.message(text + " three.")
				return ok && m.TS == left.TS && works(m)
			})
			turn.end()
			turn.ends(text + " three.")
		}},
		"after the turn": {func(turn *turn) { turn.said("d1", text+" three."); turn.end() }, func(turn *turn, left fakeslack.Message) {
			if m := turn.ends(text + " three.")[0]; m.TS != left.TS {
				turn.Errorf("it is another message")
			}
		}},
		"after five minutes": {func(turn *turn) { turn.said("d1", text+" three."); turn.end(); turn.Expire() }, func(turn *turn, _ fakeslack.Message) {
			turn.excused = []string{"chat.stopStream: message_not_in_streaming_state"}
			turn.ends(text + " three.")
		}},
		"which was given up": {func(turn *turn) { turn.record(func(c *conversation) { turn.engine.ask(c) }) }, func(turn *turn, _ fakeslack.Message) {
			turn.shows(channel, turn.root, asks)
		}},
		"and another turn ended": {func(turn *turn) {
			turn.said("d1", text+" three.")
			turn.end()
			turn.record(func(c *conversation) {
				c.add(contract.Message{Role: contract.RoleUser, Content: contract.Inline("from the page")})
				c.say("Elsewhere.")
			})
		}, func(turn *turn, _ fakeslack.Message) { turn.ends(text+" three.", "Elsewhere.") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			stop := w.gateway()
			turn := w.turn()
			turn.draft("d1")
			turn.write("d1", text)
			left := turn.streams("One.")
			turn.killed(stop)
			if m, _ := turn.message("One."); m.State != fakeslack.StateOpen {
				t.Fatalf("%+v", m)
			}
			c.meanwhile(turn)
			w.gateway()
			c.then(turn, left)
		})
	}
}

// A gateway that is closed ends its stream.
func TestAGatewayThatIsClosedEndsItsStream(t *testing.T) {
	w := newWorkspace(t)
	stop := w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("One.") })
	left := turn.streams("One.")
	turn.record(func(c *conversation) { c.say("Two.") })
	turn.streams("One.\n\nTwo.") // it knows that the stream began
	stop()
	if m, _ := turn.message("One."); m.State != fakeslack.StateDone {
		t.Errorf("%+v", m)
	}
	w.gateway()
	if m := turn.replied2("One.\n\nTwo.", "Three.")[0]; m.TS != left.TS {
		t.Error("it is another message")
	}
}

// Two gateways may follow a thread for a moment: a lease is lost before its holder knows it.
func TestTwoGatewaysLeaveOneReply(t *testing.T) {
	w := newWorkspace(t)
	w.excused = []string{"chat.appendStream: message_not_in_streaming_state", "chat.stopStream: message_not_in_streaming_state", "chat.delete: message_not_found"}
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("One.") })
	turn.streams("One.")
	w.gateway()
	w.await("the other one has taken over", func() bool { m, _ := turn.message("One."); return m.State == fakeslack.StateDone })
	turn.record(func(c *conversation) { c.say("Two.") })
	turn.replied2("One.\n\nTwo.", "Three.")
}

func TestAConversationThatIsDeletedEndsItsStream(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	turn := w.turn()
	turn.record(func(c *conversation) { c.say("One.") })
	turn.streams("One.")
	turn.record(func(c *conversation) { delete(w.engine.talks, c.view.ID) })
	turn.ends("One.")
}

// A message of the app without metadata may be of another program that has its token: only what is below a
// control is a stream.
func TestMessagesOfOtherProgramsStay(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.shows(channel, root, "You said: hello")
	w.Fill(fakeslack.Bot, channel, root, 1)
	w.Say("U1", channel, root, fakeslack.Mention+" again")
	w.shows(channel, root, "You said: hello", "more", "You said: again")
}
