package slackchat_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

type deputyState = deputy.State

const (
	within  = 10 * time.Second
	channel = "C0GENERAL"
)

// workspace is a Slack with an engine behind it.
type workspace struct {
	*fakeslack.Slack
	*testing.T
	engine *engine
	feed   feed
	made   func(*slackchat.Chat)
	// excused are refusals that a test causes.
	excused []string
}

func newWorkspace(t *testing.T) *workspace {
	w := &workspace{Slack: fakeslack.New(), T: t, engine: newEngine()}
	t.Cleanup(w.Close)
	t.Cleanup(func() {
		for _, p := range w.Problems() {
			if !slices.Contains(w.excused, p) {
				t.Errorf("Slack refuses: %s", p)
			}
		}
	})
	return w
}

// gateway starts a gateway that stops with the test, or before.
func (w *workspace) gateway(change ...func(*slackchat.Options)) (stop func()) {
	logger := slog.New(slog.NewTextHandler(w.Output(), nil))
	o := slackchat.Options{
		Settings: slackchat.Settings{AppToken: fakeslack.AppToken, BotToken: fakeslack.BotToken, APIURL: w.API(), BaseURL: "http://agent.example", Pace: time.Millisecond, LinkLasts: time.Hour},
		Logger:   logger, Now: time.Now,
	}
	backend := service.Backend(w.engine)
	for _, f := range change {
		f(&o)
	}
	if o.Service == nil {
		o.Service = service.New(service.Options{Backend: backend, Blobs: noBlobs{}, Logger: logger})
	}
	o.Followers = live.New(service.ActingItself(o.Service.Closing()), live.Options{Conversations: backend, Blobs: noBlobs{}, Logger: logger, Feed: &w.feed, Pace: live.Pace{Running: 5 * time.Millisecond, Idle: 20 * time.Millisecond, Again: time.Millisecond}})
	chat := slackchat.New(o)
	before := w.Joined()
	if w.made != nil {
		w.made(chat)
	}
	chat.Start(w.Context())
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		chat.Close()
		o.Service.Close()
		o.Followers.Close()
	}
	w.Cleanup(stop)
	if o.Lease == nil {
		w.await("the gateway is connected", func() bool { return w.Joined() > before })
	}
	return stop
}

func (w *workspace) await(what string, holds func() bool) {
	w.Helper()
	if !w.Wait(within, holds) {
		w.Fatalf("%s: not in time; private: %+v; problems: %v", what, w.Private("U1"), w.Problems())
	}
}

// texts are what a thread shows, without the first message.
func (w *workspace) texts(channel, root string) (out []string) {
	for _, m := range w.Thread(channel, root) {
		if m.User == fakeslack.Bot {
			out = append(out, m.Text)
		}
	}
	return out
}

func (w *workspace) shows(channel, root string, want ...string) {
	w.Helper()
	if !w.Wait(within, func() bool { return fmt.Sprint(w.texts(channel, root)) == fmt.Sprint(want) }) {
		w.Fatalf("the thread shows %q, want %q; private: %+v", w.texts(channel, root), want, w.Private("U1"))
	}
}

// card returns the card of a thread when it has one with a button.
func (w *workspace) card(channel, root string) (found fakeslack.Message) {
	w.Helper()
	w.await("the thread has a card", func() bool {
		for _, m := range w.Thread(channel, root) {
			if _, ok := m.Button(card.Later); ok {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (w *workspace) told(user, text string) {
	w.Helper()
	if !w.Wait(within, func() bool {
		for _, m := range w.Private(user) {
			if strings.Contains(m.Text, text) {
				return true
			}
		}
		return false
	}) {
		w.Fatalf("%s is not told %q, but: %+v", user, text, w.Private(user))
	}
}

const (
	asks     = "Run resources_remove?"
	approved = "Run resources_remove?: Approved by U1"
)

func TestAMessageIsAnsweredAndACardIsPressed(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	for _, want := range []string{"resources_remove", "resources", "helper", "db-1", "may destroy something", "expires", "Remove it"} {
		if !strings.Contains(string(c.Blocks), want) {
			t.Errorf("the card does not say %q: %s", want, c.Blocks)
		}
	}
	w.shows(channel, root, "I will delete it.", asks)
	if err := w.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.")
	if _, ok := w.Thread(channel, root)[2].Button(card.Approve); ok {
		t.Error("the card of a decided approval has buttons")
	}
	w.Say("U1", channel, root, fakeslack.Mention+" thanks")
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.", "You said: thanks")
	if n := w.engine.taken(); n != 2 {
		t.Errorf("%d messages were taken", n)
	}
	for _, a := range w.Acks() {
		if a.After > 3*time.Second || a.Attempts != 1 {
			t.Errorf("acknowledged after %s, attempt %d", a.After, a.Attempts)
		}
	}
}

func TestDirectMessagesNeedNoMention(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", fakeslack.DM("U1"), "", "a &lt;b&gt; <https://x.example|x>")
	w.shows(fakeslack.DM("U1"), root, "You said: a &lt;b&gt; https://x.example")
	w.Say("U1", channel, "", "not for the agent")
	other := w.Say("U1", fakeslack.DM("U1"), "", "second")
	w.shows(fakeslack.DM("U1"), other, "You said: second")
	if n := w.engine.taken(); n != 2 {
		t.Errorf("%d messages were taken", n)
	}
}

func TestAMessageIsTakenOnceHoweverOftenSlackSendsIt(t *testing.T) {
	w := newWorkspace(t)
	stop := w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.shows(channel, root, "You said: hello")
	w.Repeat(channel, root)
	w.await("all is acknowledged", func() bool { return w.Unacknowledged() == 0 && len(w.Acks()) == 4 })
	stop()
	w.gateway()
	w.Repeat(channel, root) // another gateway knows it, too
	w.await("all is acknowledged", func() bool { return w.Unacknowledged() == 0 && len(w.Acks()) == 6 })
	w.Say("U1", channel, root, fakeslack.Mention+" again")
	w.shows(channel, root, "You said: hello", "You said: again")
	if n := w.engine.taken(); n != 2 {
		t.Errorf("%d messages were taken", n)
	}
}

// A connection that ends before an event was acknowledged gets it again.
func TestAnEventThatNobodyAcknowledgedComesAgain(t *testing.T) {
	w := newWorkspace(t)
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.gateway()
	w.shows(channel, root, "You said: hello")
}

func TestRejectWithAReason(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	if err := w.Press("U2", w.card(channel, root), card.Reject); err != nil {
		t.Fatal(err)
	}
	w.await("the dialog is open", func() bool { return len(w.Views()) == 1 })
	w.Submit("U2", w.Views()[0], card.ReasonBlock, card.ReasonAction, "not <!here>")
	w.shows(channel, root, "I will delete it.", "Run resources_remove?: Rejected by U2", "I have left it: not &lt;!here&gt;")
	if blocks := string(w.Thread(channel, root)[2].Blocks); !strings.Contains(blocks, `not \u0026lt;!here\u0026gt;`) {
		t.Errorf("the reason is not quoted: %s", blocks)
	}
}

func TestAPressTooLateGetsATrueAnswer(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	press := func(user, action string) {
		t.Helper()
		if err := w.Press(user, c, action); err != nil {
			t.Fatal(err)
		}
	}
	press("U1", card.Approve)
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.")
	press("U1", card.Approve)
	w.told("U1", "This is decided: Approved by U1.")
	press("U2", card.Approve)
	w.told("U2", "This was over before: Approved by U1. Your press decided nothing.")
	press("U3", card.Reject)
	w.told("U3", "This was over before: Approved by U1.")
	press("U4", card.Later)
	w.told("U4", "This was over before: Approved by U1.")
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.")
}

func TestAfterExpiry(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	if _, err := w.engine.end(c0(c), contract.ApprovalResult{Decision: contract.Expired}); err != nil {
		t.Fatal(err)
	}
	if err := w.Press("U2", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.told("U2", "Expired: nobody decided in time")
	w.await("the card says so", func() bool {
		return strings.Contains(fmt.Sprint(w.texts(channel, root)), "Run resources_remove?: Expired: nobody decided in time")
	})
}

// c0 returns the approval of a card.
func c0(m fakeslack.Message) string {
	uuid, _ := m.Button(card.Later)
	return uuid
}

func TestNotNow(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	if err := w.Press("U2", w.card(channel, root), card.Later); err != nil {
		t.Fatal(err)
	}
	w.told("U2", "Put off for two hours, for you.")
	w.shows(channel, root, "I will delete it.", asks)
}

func TestAMessageWhileACallWaitsIsNotSent(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	w.card(channel, root)
	w.Say("U1", channel, root, fakeslack.Mention+" and more")
	w.told("U1", "was not sent")
}

// A gateway that starts finds the cards of what waits, and of what was decided meanwhile.
func TestCardsOutliveTheGateway(t *testing.T) {
	w := newWorkspace(t)
	stop := w.gateway()
	waits := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, waits)
	decided := w.Say("U1", channel, "", fakeslack.Mention+" delete db-2")
	other := w.card(channel, decided)
	w.shows(channel, decided, "I will delete it.", asks)
	stop()
	if _, err := w.engine.end(c0(other), contract.ApprovalResult{Decision: contract.Approved, By: "alice"}); err != nil {
		t.Fatal(err)
	}
	w.gateway()
	w.shows(channel, decided, "I will delete it.", "Run resources_remove?: Approved by alice", "It is deleted.")
	w.shows(channel, waits, "I will delete it.", asks)
	if err := w.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, waits, "I will delete it.", approved, "It is deleted.")
}

func TestACardThatIsDecidedElsewhereChanges(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	if _, err := w.engine.end(c0(c), contract.ApprovalResult{Decision: contract.Rejected, By: "alice", Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", "Run resources_remove?: Rejected by alice", "I have left it: no")
}

func TestTheStopButton(t *testing.T) {
	w := newWorkspace(t)
	stop := w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hang")
	w.shows(channel, root, "Working …")
	stop()
	w.gateway() // it goes on with the message
	working := w.Thread(channel, root)[1]
	if err := w.Press("U1", working, card.Stop); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "The turn was stopped.")
	if _, ok := w.Thread(channel, root)[1].Button(card.Stop); ok || len(w.engine.cancelled) != 1 || w.engine.cancelled[0].By != "U1" {
		t.Errorf("stopped %+v", w.engine.cancelled)
	}
}

func TestLongTextsAndMarkup(t *testing.T) {
	w := newWorkspace(t)
	w.engine.reply = func(string) string {
		return "<!channel> **bold**\n```\n" + strings.Repeat("line of <code>\n", 400) + "```\nend"
	}
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" long")
	w.await("it is there", func() bool { return strings.HasSuffix(strings.Join(w.texts(channel, root), ""), "end") })
	pieces := w.texts(channel, root)
	if len(pieces) < 3 || !strings.HasPrefix(pieces[0], "&lt;!channel&gt; *bold*") {
		t.Errorf("%d pieces, %q", len(pieces), pieces[0])
	}
	for _, p := range pieces {
		if strings.Count(p, "```")%2 != 0 || strings.ContainsAny(p, "<>") {
			t.Errorf("a piece is not whole, or has markup: %q", p)
		}
	}
}

func TestRateLimitsAreObeyed(t *testing.T) {
	w := newWorkspace(t)
	w.Limit("chat.postMessage", time.Second)
	w.gateway()
	began := time.Now()
	root := w.Say("U1", channel, "", fakeslack.Mention+" hello")
	w.shows(channel, root, "You said: hello")
	if calls := w.Calls("chat.postMessage"); len(calls) != 1 || calls[0].Sub(began) < time.Second {
		t.Errorf("called after %s", calls[0].Sub(began))
	}
}

func TestMessagesChangeAtTheirPace(t *testing.T) {
	w := newWorkspace(t)
	const pace = 150 * time.Millisecond
	w.gateway(func(o *slackchat.Options) { o.Pace = pace })
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	if err := w.Press("U1", w.card(channel, root), card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.")
	calls := append(w.Calls("chat.postMessage"), w.Calls("chat.update")...)
	for i, a := range calls {
		for _, b := range calls[i+1:] {
			if d := b.Sub(a).Abs(); d < pace-20*time.Millisecond {
				t.Errorf("two calls within %s", d)
			}
		}
	}
}

func TestCommands(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	w.card(channel, root)
	w.Say("U2", channel, root, fakeslack.Mention+" !inbox")
	w.told("U2", "resources_remove  destructive")
	for _, m := range w.Private("U2") { // arguments may be secrets
		if strings.Contains(m.Text, "db-1") {
			t.Error(m.Text)
		}
	}
	w.Say("U2", channel, root, fakeslack.Mention+" !new")
	w.told("U2", "a thread is a conversation")
	w.Command("U3", channel, "/agent", "help")
	w.await("the command is answered", func() bool { return strings.Contains(strings.Join(w.Answers(), ""), "!inbox") })
	w.Say("U2", channel, root, fakeslack.Mention+" !reject because")
	w.shows(channel, root, "I will delete it.", "Run resources_remove?: Rejected by U2", "I have left it: because")
}

func TestSecretsAndLongArgumentsAreForThePage(t *testing.T) {
	for name, arguments := range map[string]string{
		"secret": `{"user":"a","password":"hunter2"}`,
		"long":   `{"text":"` + strings.Repeat("x", 4000) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.engine.arguments = arguments
			w.gateway()
			root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
			c := w.card(channel, root)
			if _, ok := c.Button(card.Approve); ok || strings.Contains(string(c.Blocks), "hunter2") || strings.Contains(string(c.Blocks), "xxxx") {
				t.Errorf("%s", c.Blocks)
			}
			if !strings.Contains(string(c.Blocks), "http://agent.example/#/a/"+c0(c)) {
				t.Errorf("no link: %s", c.Blocks)
			}
		})
	}
}

func TestWhoSendsFilesIsToldThatNobodyReadsThem(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" look", "a.txt")
	w.shows(channel, root, "You said: look")
	w.toldTimes("U1", "The files of your message are not read", 1)
	root = w.Say("U2", fakeslack.DM("U2"), "", "look", "a.txt")
	w.shows(fakeslack.DM("U2"), root, "You said: look")
	w.toldTimes("U2", "The files of your message are not read", 1)
}

// What a person has deleted is not posted again.
func TestADeletedMessageStaysDeleted(t *testing.T) {
	w := newWorkspace(t)
	w.gateway()
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	w.shows(channel, root, "I will delete it.", asks)
	w.Delete(channel, c.TS)
	if _, err := w.engine.end(c0(c), contract.ApprovalResult{Decision: contract.Approved, By: "alice"}); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", "It is deleted.")
}
