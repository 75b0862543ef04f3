//go:build foreign

package fakeslack_test

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/slackchat/fakeslack"
)

const channel = "C0GENERAL"

// workspace is a Slack with an app of Slack's own framework, and what the app prints.
type workspace struct {
	*fakeslack.Slack
	*testing.T
	lines chan string
}

// app starts the app, which ends with the test or before.
func app(t *testing.T) *workspace {
	w := &workspace{fakeslack.New(), t, make(chan string, 100)}
	t.Cleanup(w.Close)
	w.AckWithin = 300 * time.Millisecond
	script, err := filepath.Abs("../../../deploy/conformance/bolt.mjs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, "node", script, w.API())
	cmd.Env = append(os.Environ(), "SLACK_APP_TOKEN="+fakeslack.AppToken, "SLACK_BOT_TOKEN="+fakeslack.BotToken)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			w.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // its lines say what failed
	})
	return w
}

// prints waits until the app prints a line, and returns all up to it.
func (w *workspace) prints(want string) (all []string) {
	w.Helper()
	for line := range w.lines {
		w.Log(line)
		if all = append(all, line); strings.Contains(line, want) {
			return all
		}
	}
	w.Fatalf("the app never printed %q", want)
	return nil
}

// soon waits until the workspace has something.
func (w *workspace) soon(what string, holds func() bool) {
	w.Helper()
	if !w.Wait(10*time.Second, holds) {
		w.Fatalf("%s: %+v; %v; %d envelopes wait; it refuses %v", what, w.sent(), w.Answers(), w.Unacknowledged(), w.Problems())
	}
}

// sent are the texts of the app.
func (w *workspace) sent() (out []string) {
	for _, m := range w.Sent() {
		out = append(out, m.Text)
	}
	return out
}

// replies waits for the last message of a thread.
func (w *workspace) replies(channel, root, want string) fakeslack.Message {
	w.Helper()
	var last fakeslack.Message
	w.soon(want, func() bool {
		thread := w.Thread(channel, root)
		last = thread[len(thread)-1]
		return last.Text == want && last.User == fakeslack.Bot
	})
	return last
}

// An app made with Slack's own framework and clients works in the workspace as it does in Slack.
func TestForeignBolt(t *testing.T) {
	w := app(t)
	w.prints("listening")
	w.Say("U1", channel, "", fakeslack.Mention+" ?")
	w.prints("ready")
	refused := len(w.Problems()) // those that the app expects

	for i, where := range []struct{ channel, kind string }{{channel, "channel"}, {fakeslack.DM("U1"), "im"}} {
		root := w.Say("U1", where.channel, "", "ask")
		card := w.replies(where.channel, root, "a card in "+where.kind)
		if err := w.Press("U2", card, "reject"); err != nil {
			t.Fatal(err)
		}
		w.soon("a dialog", func() bool { return len(w.Views()) > i })
		w.Submit("U2", w.Views()[i], "reason", "text", "too late")
		w.replies(where.channel, root, "7 rejected by U2: too late")
		if err := w.Press("U2", card, "approve"); err != nil {
			t.Fatal(err)
		}
		w.soon("the card is updated", func() bool {
			return slices.ContainsFunc(w.Thread(where.channel, root), func(m fakeslack.Message) bool { return m.TS == card.TS && m.Text == "7 approved by U2" && m.Edits == 1 })
		})
	}
	mention := w.Say("U1", channel, "", "hello "+fakeslack.Mention)
	w.replies(channel, mention, "mentioned by U1, I am "+fakeslack.Bot+" of "+fakeslack.Team)
	w.replies(channel, w.Say("U1", channel, "", "a file", "plan.pdf"), "file_share plan.pdf")

	// It streams, and Slack's own Stop ends the stream under it.
	root := w.Say("U1", channel, "", "stream")
	w.soon("a stream", func() bool {
		thread := w.Thread(channel, root)
		last := thread[len(thread)-1]
		return last.State == fakeslack.StateOpen && last.Text == "I begin" && len(last.Tasks) == 1 && last.Tasks[0].Status == "in_progress"
	})
	w.StopSession("U2", channel, root)
	w.replies(channel, root, "U2 has stopped it: stopped_by_user")
	refused++

	// It connects again when Slack asks for that, and gets what came meanwhile.
	joined := w.Joined()
	w.Disconnect()
	w.Command("U3", channel, "/agent", "status")
	w.soon("the command is answered", func() bool { return slices.Equal(w.Answers(), []string{"seen", "seen", "U3 says status"}) })
	if w.Joined() != joined+1 {
		t.Errorf("it connected %d times more", w.Joined()-joined)
	}
	// Slack refuses for a while, and is asked again when it said.
	w.Limit("chat.postMessage", time.Second)
	mention = w.Say("U1", channel, "", "again "+fakeslack.Mention)
	w.replies(channel, mention, "mentioned by U1, I am "+fakeslack.Bot+" of "+fakeslack.Team)

	// The address of a connection is for one connection.
	if r, err := http.Get(strings.Replace(w.API(), "/api/", "/link?ticket=1", 1)); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("a used ticket: %+v %v", r, err)
	} else {
		r.Body.Close()
		refused++
	}
	w.soon("all is acknowledged", func() bool { return w.Unacknowledged() == 0 })
	w.Say("U1", channel, "", "bye")
	end := w.prints("passed, ")
	if last := end[len(end)-1]; !strings.HasSuffix(last, " 0 failed") {
		t.Error(last)
	}
	if p := w.Problems()[refused:]; len(p) > 0 {
		t.Errorf("Slack refuses %v", p)
	}
}
