package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// plain asks for an approval before it writes; tree writes at once, in parallel to other nodes.
const (
	plain = "prompt: look write look\n"
	tree  = `agent:
  name: pipeline
  type: sequential
  agents:
    - {name: before, prompt: look}
    - name: both
      type: parallel
      agents:
        - {name: writes, prompt: write}
        - {name: looks, prompt: look look}
    - {name: after, prompt: look}
`
	shortestCall = 20 * time.Millisecond
	longestCall  = 250 * time.Millisecond
	// patience bounds the time after a start; a turn that takes longer is lost.
	patience = 2 * time.Minute
	glance   = 10 * time.Millisecond
)

// recovery kills agents at random points of their turns. It measures the time from the start of
// the next process until the model is called again, or a person is asked about a call of
// unknown outcome.
func recovery(ctx context.Context, n size, t *table) (err error) {
	dir, err := os.MkdirTemp("", "bench-recovery-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := newFarEnds(shortestCall, longestCall)
	defer f.close()
	var times []time.Duration
	for _, agent := range []struct{ name, text string }{{"turns", plain}, {"trees", tree}} {
		home := filepath.Join(dir, agent.name)
		if err := os.Mkdir(home, 0o700); err != nil {
			return err
		}
		took, err := kills(ctx, home, agent.name, agent.text, n.kills/2, f)
		if err != nil {
			return fmt.Errorf("%s: %w", agent.name, err)
		}
		t.value(fmt.Sprintf("recovery: %s, %d kills, start to work, median", agent.name, len(took)), ms(quantile(took, .5)), "", true)
		times = append(times, took...)
	}
	median, most := quantile(times, .5), quantile(times, 1)
	t.value(fmt.Sprintf("recovery: %d kills, start to work, median", len(times)), ms(median), "≤ 1000 ms", median <= time.Second)
	t.value(fmt.Sprintf("recovery: %d kills, start to work, maximum", len(times)), ms(most), "≤ 2000 ms", most <= 2*time.Second)
	doubled := f.doubled()
	t.value("recovery: destructive calls made twice", fmt.Sprint(doubled), "0", doubled == 0)
	return nil
}

// kills returns the recovery time after each kill.
func kills(ctx context.Context, dir, name, agent string, n int, f *farEnds) (took []time.Duration, err error) {
	m, err := newMortal(dir, agent, f)
	if err != nil {
		return nil, err
	}
	defer func() {
		if killed := m.kill(); err == nil {
			err = killed
		}
	}()
	whole, err := m.turn(ctx, name, f, 0) // undisturbed
	if err != nil {
		return nil, err
	}
	for i := range n {
		d, err := m.turn(ctx, fmt.Sprintf("%s-%d", name, i), f, 1+rand.N(whole))
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

// turn runs a turn, in which the agent is killed after the given time and restarted. It returns
// the time from the restart until work continued; without a kill, the duration of the turn.
func (m *mortal) turn(ctx context.Context, name string, f *farEnds, after time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	id, err := m.begin(ctx)
	if err != nil {
		return 0, err
	}
	if err := m.send(ctx, id, name); err != nil {
		return 0, err
	}
	began := time.Now()
	if after == 0 {
		_, err := m.follow(ctx, id, nil)
		return time.Since(began), err
	}
	alive, stop := context.WithTimeout(ctx, after)
	_, _ = m.follow(alive, id, nil) // approves calls until the kill
	stop()
	if err := m.kill(); err != nil {
		return 0, err
	}
	for len(f.asked) > 0 {
		<-f.asked
	}
	if err := m.start(); err != nil {
		return 0, err
	}
	at, err := m.follow(ctx, id, f.asked)
	return at.Sub(m.born), err
}

// begin waits until the agent accepts a conversation.
func (m *mortal) begin(ctx context.Context) (string, error) {
	for {
		c, err := m.newChat(ctx, "")
		if err == nil && m.call(ctx, "GET", "/health/ready", nil, nil) == nil {
			return c.id, nil
		}
		if err := wait(ctx); err != nil {
			return "", fmt.Errorf("it does not take conversations: %w", err)
		}
	}
}

// ready waits until the agent accepts conversations.
func (m *mortal) ready(ctx context.Context) error {
	_, err := m.begin(ctx)
	return err
}

// send returns once a message is accepted.
func (m *mortal) send(ctx context.Context, id, text string) error {
	body := strings.NewReader(fmt.Sprintf(`{"message":%q}`, text))
	req, err := http.NewRequestWithContext(ctx, "POST", m.url+"/conversations/"+id+"/messages", body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "respond-async")
	res, err := m.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("a message was answered with %s", res.Status)
	}
	return nil
}

func wait(ctx context.Context) error {
	pause(ctx, time.After(glance))
	return ctx.Err()
}

// state is a conversation as a reader sees it.
type state struct {
	Conversation struct {
		Messages []struct{ Role, Content string }
		Pending  []struct{ UUID, Description string } `json:"pending_approvals"`
	}
}

// over reports whether the turn has an answer.
func (s state) over() bool {
	m := s.Conversation.Messages
	return len(s.Conversation.Pending) == 0 && len(m) > 0 && m[len(m)-1].Role == "assistant" && strings.HasSuffix(m[len(m)-1].Content, "done")
}

// follow follows a turn to its end. It returns the time at which work continued: the model was
// called, an outcome was unknown, or only the answer was left.
func (m *mortal) follow(ctx context.Context, id string, asked <-chan time.Time) (first time.Time, err error) {
	decided := map[string]bool{}
	for {
		var s state
		answered := m.call(ctx, "GET", "/conversations/"+id, nil, &s) == nil
		unknown := answered && m.decide(ctx, s, decided)
		over := answered && s.over()
		select {
		case first = <-earliest(first, asked):
		default:
			if first.IsZero() && (unknown || over) {
				first = time.Now()
			}
		}
		if over {
			return first, nil
		}
		if err := wait(ctx); err != nil {
			return first, fmt.Errorf("the turn does not end: %w", err)
		}
	}
}

// earliest returns nil once the time at which work continued is known.
func earliest(first time.Time, asked <-chan time.Time) <-chan time.Time {
	if first.IsZero() {
		return asked
	}
	return nil
}

// decide approves calls, and rejects the repetition of those of unknown outcome; it reports
// whether there is one.
func (m *mortal) decide(ctx context.Context, s state, decided map[string]bool) (unknown bool) {
	for _, p := range s.Conversation.Pending {
		lost := strings.Contains(p.Description, "OUTCOME UNKNOWN")
		unknown = unknown || lost
		if !decided[p.UUID] {
			decided[p.UUID] = true
			go m.call(ctx, "POST", "/approvals/"+p.UUID, map[string]bool{"approved": !lost}, nil) //nolint:errcheck // a kill ends it
		}
	}
	return unknown
}
