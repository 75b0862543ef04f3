package slackchat_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/slackchat"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
)

const notWhole = "only a call that a card of this thread shows whole can be approved here"

func (e *engine) result(uuid string) *contract.ApprovalResult {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.approvals[uuid].Result
}

// toldTimes waits until a person was told a text so often.
func (w *workspace) toldTimes(user, text string, n int) {
	w.Helper()
	w.await("the person is told: "+text, func() bool {
		times := 0
		for _, m := range w.Private(user) {
			if strings.Contains(strings.ToLower(m.Text), strings.ToLower(text)) {
				times++
			}
		}
		return times == n
	})
}

func TestCommandsApproveWhatTheirThreadShowsWhole(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	whole := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	shown := w.card(channel, whole)
	w.engine.mu.Lock()
	w.engine.arguments = `{"name":"db-1","password":"hunter2"}`
	w.engine.mu.Unlock()
	partly := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	hidden := w.card(channel, partly)
	link := "http://agent.example/#/a/" + c0(hidden)

	w.Say("U2", channel, partly, fakeslack.Mention+" !approve")
	w.toldTimes("U2", notWhole, 1)
	w.told("U2", link)
	w.Say("U2", channel, partly, fakeslack.Mention+" !approve "+c0(hidden))
	w.toldTimes("U2", notWhole, 2)
	w.Say("U2", channel, partly, fakeslack.Mention+" !approve #"+c0(shown)[:8]) // of another thread
	w.toldTimes("U2", notWhole, 3)
	for n, uuid := range []string{c0(hidden), c0(shown)} {
		w.Command("U2", channel, "/agent", "approve "+uuid)
		w.await("the command is answered", func() bool { return len(w.Answers()) == n+1 && strings.Contains(w.Answers()[n], uuid) })
	}
	forged := shown
	forged.Blocks = bytes.ReplaceAll(shown.Blocks, []byte(c0(shown)), []byte(c0(hidden)))
	if err := w.Press("U3", forged, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.toldTimes("U3", notWhole, 1)
	for _, c := range []fakeslack.Message{hidden, shown} {
		if r := w.engine.result(c0(c)); r != nil {
			t.Fatalf("decided: %+v", r)
		}
	}
	w.Say("U2", channel, whole, fakeslack.Mention+" !approve")
	w.shows(channel, whole, "I will delete it.", "Run resources_remove?: Approved by U2", "It is deleted.")
	w.Say("U2", channel, partly, fakeslack.Mention+" !reject no")
	w.shows(channel, partly, "I will delete it.", "Run resources_remove?: Rejected by U2", "I have left it: no")
}

// Slack writes quotation marks of its own. The reply does not repeat values.
func TestACommandApprovesWithChanges(t *testing.T) {
	w := newWorkspace(t)
	w.engine.edit = []string{"name"}
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	shown := w.card(channel, root)
	w.Say("U2", channel, root, fakeslack.Mention+" !approve force=true")
	w.told("U2", `"force" may not be changed`)
	if r := w.engine.result(c0(shown)); r != nil {
		t.Fatalf("decided: %+v", r)
	}
	w.Say("U2", channel, root, fakeslack.Mention+" !approve name=“db 2” smaller")
	w.await("it is decided", func() bool { return w.engine.result(c0(shown)) != nil })
	r := w.engine.result(c0(shown))
	if r.Reason != "smaller" || r.Revision == nil || r.Revision.Edit != contract.Hash([]byte(`{"name":"db 2"}`)) {
		t.Errorf("%+v", r)
	}
	w.told("U2", "resources_remove with name")
	for _, m := range w.Private("U2") {
		if strings.Contains(m.Text, "secret") {
			t.Errorf("%q", m.Text)
		}
	}
}

// A command is for what its author has seen.
func TestACommandDoesNotDecideWhatCameLater(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	w.Limit("chat.postMessage", time.Second)
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	w.await("it waits", func() bool {
		w.engine.mu.Lock()
		defer w.engine.mu.Unlock()
		return len(w.engine.approvals) == 1 && len(w.Calls("chat.postMessage")) == 0
	})
	w.Say("U1", channel, root, fakeslack.Mention+" !approve")
	w.told("U1", "No approval is shown here")
	if r := w.engine.result(c0(w.card(channel, root))); r != nil {
		t.Errorf("decided: %+v", r)
	}
}

// What Slack does not take stops neither the thread nor the rest of it.
func TestAMessageThatSlackDoesNotTake(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	const instead = "Slack has not taken what belongs here. <http://agent.example|Read it on the page>."
	w.Refuse("chat.postMessage", "invalid_blocks")
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.shows(channel, root, instead)
	w.Refuse("chat.postMessage", "")
	w.Refuse("chat.postMessage", "invalid_blocks") // the card
	w.Say("U1", channel, root, fakeslack.Mention+" delete db-1")
	w.await("the card is not taken", func() bool { return strings.Contains(strings.Join(w.texts(channel, root), ""), "/#/a/") })
	w.Say("U1", channel, root, fakeslack.Mention+" !approve")
	w.toldTimes("U1", notWhole, 1)
	w.Say("U1", channel, root, fakeslack.Mention+" !reject "+strings.Repeat("<&>", 700))
	w.await("the thread goes on", func() bool {
		texts := w.texts(channel, root)
		return len(texts) >= 4 && strings.Contains(texts[2], "Rejected by U1") && strings.HasPrefix(texts[3], "I have left it")
	})
}

// What Slack does not let the app change stops neither the thread nor the rest of it, and is not
// tried for ever.
func TestAMessageThatCannotBeChanged(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	w.Refuse("chat.update", "edit_window_closed")
	if err := w.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", asks, "It is deleted.")
	w.Say("U1", channel, root, fakeslack.Mention+" thanks")
	w.shows(channel, root, "I will delete it.", asks, "It is deleted.", "You said: thanks")
	w.Say("U1", channel, root, fakeslack.Mention+" more")
	w.shows(channel, root, "I will delete it.", asks, "It is deleted.", "You said: thanks", "You said: more")
}

// What stands in place of a reply stays where Slack does not let the app delete it.
func TestAMessageThatCannotBeDeleted(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hang")
	w.shows(channel, root, "Working …")
	w.Refuse("chat.delete", "compliance_exports_prevent_deletion")
	w.engine.mu.Lock()
	for _, c := range w.engine.talks {
		w.engine.ask(c)
	}
	w.engine.mu.Unlock()
	if err := w.Press("U1", w.card(channel, root), card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "Working …", approved, "It is deleted.")
	w.Say("U1", channel, root, fakeslack.Mention+" thanks")
	w.shows(channel, root, "Working …", approved, "It is deleted.", "You said: thanks")
	w.Say("U1", channel, root, fakeslack.Mention+" more")
	w.shows(channel, root, "Working …", approved, "It is deleted.", "You said: thanks", "You said: more")
}

// A card is found behind any number of messages.
func TestCommandsInALongThread(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.shows(channel, root, "You said: hello")
	w.Fill("U2", channel, root, 4200)
	w.Say("U1", channel, root, fakeslack.Mention+" delete db-1")
	w.card(channel, root)
	w.Say("U1", channel, root, fakeslack.Mention+" !approve")
	w.shows(channel, root, "You said: hello", "I will delete it.", approved, "It is deleted.")
}

// A command has no thread to which a message could be sent.
func TestACommandDropsNoMessage(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	for n, text := range []string{"help\nand this", "model x\nhello", "inbox\n!!no command"} {
		w.Command("U1", channel, "/agent", text)
		w.await("it is answered", func() bool { return len(w.Answers()) == n+1 })
		if got := w.Answers()[n]; !strings.Contains(got, "takes commands, and no message") || !strings.Contains(got, "Nothing was carried out") {
			t.Errorf("%q: %q", text, got)
		}
	}
	w.Command("U1", channel, "/agent", "help\n!inbox")
	w.await("it is answered", func() bool { return len(w.Answers()) == 4 })
	if got := w.Answers()[3]; !strings.Contains(got, "Nothing waits.") {
		t.Errorf("%q", got)
	}
}

// In a channel that is shared, users of other organisations are nobody.
func TestUsersOfOtherWorkspacesAreNotHeard(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	w.Move("U7", "T0OTHER")
	w.Say("U7", channel, "", fakeslack.Mention+" hello")
	w.Say("U7", fakeslack.DM("U7"), "", "hello")
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	if err := w.Press("U7", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.Command("U7", channel, "/agent", "inbox")
	w.await("the command is answered", func() bool { return len(w.Answers()) == 1 })
	if got := w.Answers()[0]; got != "This agent is for the people of its own workspace." {
		t.Errorf("%q", got)
	}
	if err := w.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.")
	if n := w.engine.taken(); n != 1 {
		t.Errorf("%d messages were taken", n)
	}
}

// broken is a lease that is lost once, and held again by the same gateway.
type broken struct{ lost, over chan struct{} }

func (l broken) Hold(ctx context.Context, f func(context.Context)) {
	first, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, cancel)
	go func() {
		select {
		case <-l.lost:
		case <-ctx.Done():
		}
		cancel()
		close(l.over)
	}()
	f(first)
	f(ctx)
}

// A message that was not taken when the connection ended is taken when it comes again.
func TestAMessageThatWasNotTakenIsNotRemembered(t *testing.T) {
	w := newWorkspace(t)
	l := broken{make(chan struct{}), make(chan struct{})}
	first := true
	w.engine.before = func() error {
		if !first {
			return nil
		}
		first = false
		close(l.lost)
		<-l.over
		return context.Canceled
	}
	w.gateway(func(o *slackchat.Options) { o.Lease = l })
	w.await("it is connected", func() bool { return w.Joined() == 1 })
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.shows(channel, root, "You said: hello")
}

// The rules may end an approval while somebody approves it.
func TestThePersonWhoPressesIsToldTheRule(t *testing.T) {
	o := newOffice(t)
	o.link("U1", o.key("boss", contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove, contract.ScopeApproveAll))
	root := o.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := o.card(channel, root)
	const words = `the rule "freeze" refuses the call now.`
	o.engine.mu.Lock()
	o.engine.refuses = words
	o.engine.mu.Unlock()
	if err := o.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	o.told("U1", "The rule \"freeze\" refuses the call now.")
}
