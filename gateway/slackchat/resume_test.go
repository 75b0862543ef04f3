package slackchat_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
)

// unstreamed begins a turn in a workspace that takes no streams.
func unstreamed(t *testing.T) (w *workspace, talk *turn, stop func()) {
	w = newWorkspace(t)
	w.Miss("chat.startStream", "unknown_method")
	w.Miss("agents.sessions.setStatus", "not_agent_app")
	stop = w.gateway()
	first := w.turn()
	first.record(func(c *conversation) { c.say("Slowly") })
	w.await("the gateway knows it", func() bool { _, ok := first.message("Slowly"); return ok && len(w.Calls("chat.startStream")) > 0 })
	first.replied2("Slowly", "done")
	return w, w.turn(), stop
}

// elsewhere begins a turn with a message that comes from somewhere else.
func (t *turn) elsewhere(text string) {
	t.record(func(c *conversation) {
		c.add(contract.Message{Role: contract.RoleUser, Content: contract.Inline("from the page")})
		c.say(text)
		c.view.Running = true
	})
}

// A gateway that streams nothing has left "Working …" when it was stopped. The next one brings that up to date,
// whatever has happened since.
func TestWorkingIsBroughtUpToDate(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 1000))
	for name, c := range map[string]struct {
		meanwhile func(*turn)
		want      []string
	}{
		"the turn ended": {func(talk *turn) { talk.record(func(c *conversation) { c.say("Done.") }); talk.end() }, []string{"Done."}},
		"another turn ended": {func(talk *turn) {
			talk.record(func(c *conversation) { c.say("Done.") })
			talk.elsewhere("Elsewhere.")
			talk.end()
		}, []string{"Done.", "Elsewhere."}},
		"two turns ended": {func(talk *turn) {
			talk.record(func(c *conversation) { c.say("Done.") })
			talk.elsewhere("Not told here.")
			talk.elsewhere("The last one.")
			talk.end()
		}, []string{"Done.", "The last one."}},
		"a call waits in another turn": {func(talk *turn) {
			talk.record(func(c *conversation) { c.say("Done.") })
			talk.elsewhere("I will delete it.")
			talk.record(func(c *conversation) { talk.engine.ask(c) })
		}, []string{"Done.", "I will delete it.", asks}},
		"the conversation was closed": {func(talk *turn) {
			talk.end()
			talk.record(func(c *conversation) { c.say("Done."); c.view.Status = contract.StatusCompleted })
		}, []string{"Done."}},
	} {
		t.Run(name, func(t *testing.T) {
			w, talk, stop := unstreamed(t)
			stop()
			c.meanwhile(talk)
			w.gateway()
			talk.ends(c.want...)
		})
	}
	t.Run("with a long reply", func(t *testing.T) {
		w, talk, stop := unstreamed(t)
		stop()
		talk.record(func(c *conversation) { c.say(long) })
		talk.elsewhere("Elsewhere.")
		talk.end()
		w.gateway()
		w.await("all of it is there", func() bool {
			texts := w.texts(channel, talk.root)
			return len(texts) > 2 && strings.Join(strings.Fields(strings.Join(texts, " ")), " ") == long+" Elsewhere."
		})
	})
	t.Run("another turn runs", func(t *testing.T) {
		w, talk, stop := unstreamed(t)
		stop()
		talk.record(func(c *conversation) { c.say("Done.") })
		talk.elsewhere("One.")
		w.gateway()
		w.await("the first turn has ended, the second works", func() bool {
			first, ok := talk.message("Done.")
			second, there := talk.message("One.")
			return ok && there && !works(first) && works(second)
		})
		talk.end()
		talk.ends("Done.", "One.")
	})
}

// A turn that was shown to its end is left as it is: what somebody has deleted stays deleted, and nothing is called.
func TestAFormerTurnThatIsCompleteIsLeft(t *testing.T) {
	w := newWorkspace(t)
	w.engine.reply = func(string) string { return strings.TrimSpace(strings.Repeat("word ", 1000)) }
	stop := w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.await("two pieces", func() bool { return len(w.texts(channel, root)) == 2 })
	stop()
	piece := w.Thread(channel, root)[2]
	w.Delete(channel, piece.TS)
	var talk *turn
	w.engine.mu.Lock()
	for _, c := range w.engine.talks {
		talk = &turn{w, root, c}
	}
	w.engine.mu.Unlock()
	talk.elsewhere("Elsewhere.")
	talk.end()
	w.gateway()
	w.await("the other turn is there", func() bool { _, ok := talk.message("Elsewhere."); return ok })
	if n := len(w.texts(channel, root)); n != 2 || len(w.Calls("chat.update")) > 0 {
		t.Errorf("%d messages, %d changes", n, len(w.Calls("chat.update")))
	}
}
