package slackchat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
)

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
