package slackchat_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
)

// What somebody sends who is not linked holds up nobody else, and is not looked up each time.
func TestAUserWithoutALinkHoldsUpNobody(t *testing.T) {
	o := newOffice(t)
	o.link("U1", o.key("alice", contract.ScopeConverse, contract.ScopeRead))
	o.Say("U1", fakeslack.DM("U1"), "", "one") // now the link is known
	o.await("it is taken", func() bool { return o.engine.taken() == 1 })
	before := len(o.Calls("conversations.history"))
	for n := range 5 {
		o.Say("U8", channel, "", fakeslack.Mention+" hello")
		o.invited("U8", n+1)
	}
	if n := len(o.Calls("conversations.history")) - before; n != 1 {
		t.Errorf("the direct messages were read %d times", n)
	}
	o.Limit("conversations.history", time.Minute)
	o.Say("U9", channel, "", fakeslack.Mention+" hello")
	o.await("Slack asks to wait", func() bool { return o.Limits("conversations.history") == 0 })
	root := o.Say("U1", channel, "", fakeslack.Mention+" two")
	o.shows(channel, root, "You said: two")
}

// However much was written since, a login link is used once, and no link is left after the end of all.
func TestLinksAreFoundInLongDirectMessages(t *testing.T) {
	o := newOffice(t)
	dm := fakeslack.DM("U1")
	o.Say("U1", dm, "", "hello")
	first := o.invited("U1", 1)
	o.Say("U1", dm, "", "hello")
	second := o.invited("U1", 2)
	b := o.browser()
	b.open("/login/"+o.key("alice", contract.ScopeConverse, contract.ScopeRead), nil)
	confirm := func(link string, want int) {
		t.Helper()
		if status, page := b.confirm(link); status != want {
			t.Errorf("%d %s", status, page)
		}
	}
	confirm(first, http.StatusOK)
	o.Fill("U1", dm, "", 250)
	confirm(second, http.StatusOK)
	confirm(first, http.StatusConflict)
	o.Fill("U1", dm, "", 250)
	o.Command("U1", channel, "/agent", "unlink")
	o.await("it is answered", func() bool { return strings.Contains(strings.Join(o.Answers(), ""), "not linked to your account") })
	for _, m := range o.Thread(dm, "") {
		if strings.Contains(m.Text, "You are `alice`") {
			t.Errorf("%+v is left", m)
		}
	}
	o.Say("U1", dm, "", "hello")
	o.invited("U1", 3)
	confirm(first, http.StatusConflict)
	confirm(second, http.StatusConflict)
	o.Command("U1", channel, "/agent", "unlink")
	o.await("it is answered", func() bool {
		return strings.Contains(strings.Join(o.Answers(), ""), "You are not linked to an account")
	})
}

// Slack is not asked to send again what is too much; its author gets one notice.
func TestAUserWhoSendsTooMuchIsStopped(t *testing.T) {
	w := newWorkspace(t)
	const most, more = 20, 5
	free := make(chan struct{})
	w.engine.before = func() error { <-free; return nil }
	w.gateway()
	for range most + more {
		w.Say("U1", fakeslack.DM("U1"), "", "hello")
	}
	w.await("what is too much is acknowledged", func() bool { return len(w.Acks()) >= more })
	w.toldTimes("U1", "faster than the agent takes it", 1)
	close(free)
	w.await("the others are taken", func() bool { return w.engine.taken() == most && w.Unacknowledged() == 0 })
	w.Say("U1", fakeslack.DM("U1"), "", "hello")
	w.await("the next one is taken", func() bool { return w.engine.taken() == most+1 })
}
