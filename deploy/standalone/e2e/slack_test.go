package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
)

// The agent is killed while a card waits in Slack, and while it streams a reply in another thread. The next
// one finds the card, takes the press, and the thread goes on; the stream becomes the reply.
func TestASlackThreadOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	slack := fakeslack.New()
	t.Cleanup(slack.Close)
	h := newHome(t)
	h.extra = fmt.Sprintf("clients: {slack: {api_url: %q}}\n", slack.API())
	h.more = map[string]string{}
	maps.Copy(h.more, map[string]string{"SLACK_APP_TOKEN": fakeslack.AppToken, "SLACK_BOT_TOKEN": fakeslack.BotToken})
	_, agent := h.outside()
	channel := fakeslack.DM("U1")
	root := slack.Say("U1", channel, "", `call note_add {"name":"x"}`)
	var c fakeslack.Message
	await := func(what string, holds func() bool) {
		t.Helper()
		if !slack.Wait(time.Minute, holds) {
			t.Fatalf("%s: %+v; %+v; %v", what, slack.Thread(channel, root), slack.Private("U1"), slack.Problems())
		}
	}
	await("there is a card", func() bool {
		for _, m := range slack.Thread(channel, root) {
			if _, ok := m.Button(card.Approve); ok {
				c = m
				return true
			}
		}
		return false
	})
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	h.model.Reply(llmtest.WaitAfter(4, "Hello, it is me, and this takes a while.", hold))
	dm := fakeslack.DM("U2")
	question := slack.Say("U2", dm, "", "hello")
	var stream fakeslack.Message
	await("a reply is streamed", func() bool {
		for _, m := range slack.Thread(dm, question) {
			if m.State == fakeslack.StateOpen {
				stream = m
			}
		}
		return stream.TS != ""
	})
	agent.kill()
	h.outside()
	await("the next agent is connected", func() bool { return slack.Joined() > 1 })
	if err := slack.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	await("the call has run, and the thread says so", func() bool {
		thread := slack.Thread(channel, root)
		cards := slices.IndexFunc(thread, func(m fakeslack.Message) bool { return m.TS == c.TS && strings.Contains(m.Text, "Approved by U1") })
		_, working := thread[len(thread)-1].Button(card.Stop)
		return cards >= 0 && cards < len(thread)-1 && !working && thread[len(thread)-1].User == fakeslack.Bot
	})
	await("the stream is the reply", func() bool {
		thread := slack.Thread(dm, question)
		return len(thread) == 2 && thread[1].TS == stream.TS && thread[1].Text == "You said: hello" && thread[1].State == fakeslack.StateDone
	})
	if got := len(h.tools.called("note_add")); got != 1 {
		t.Errorf("the call ran %d times", got)
	}
	if p := slack.Problems(); len(p) > 0 {
		t.Errorf("Slack refuses %v", p)
	}
}
