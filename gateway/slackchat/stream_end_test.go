package slackchat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/slackchat"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
)

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
