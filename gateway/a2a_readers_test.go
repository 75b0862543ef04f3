package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// told is an event of a stream of A2A, whatever its version.
type told struct {
	id, kind, state, text string
	message               string   // the ID of the message that it tells
	history               []string // of a task: the IDs of its messages
	raw                   string
}

// readTold reads an event of A2A 1.0 or 0.3.
func readTold(t *testing.T, e event) told {
	t.Helper()
	body, _ := e.data["result"].(object)
	out := told{id: e.id, kind: fmt.Sprint(body["kind"])}
	for member, kind := range map[string]string{"task": "task", "statusUpdate": "status-update", "artifactUpdate": "artifact-update"} {
		if inner, ok := body[member].(object); ok {
			body, out.kind = inner, kind
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	type message struct {
		MessageID string
		Parts     []struct{ Text string }
	}
	var in struct {
		Status struct {
			State   string
			Message message
		}
		Artifact message
		History  []message
	}
	if err := json.Unmarshal(raw, &in); err != nil || body == nil || e.id == "" {
		t.Fatalf("%v: %v", err, e)
	}
	out.raw, out.message = string(raw), in.Status.Message.MessageID
	out.state = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(in.Status.State, "TASK_STATE_")), "_", "-")
	for _, m := range []message{in.Status.Message, in.Artifact} {
		if len(m.Parts) > 0 {
			out.text = m.Parts[0].Text
		}
	}
	for _, m := range in.History {
		out.history = append(out.history, m.MessageID)
	}
	return out
}

func (e told) over() bool {
	return e.kind != "artifact-update" && slices.Contains([]string{"completed", "failed", "rejected", "canceled"}, e.state)
}

// lasts is false for a state that no message tells: who is away then does not hear of it.
func (e told) lasts() bool {
	return e.kind == "artifact-update" || e.over() || e.text != "" && e.text != pleaseLogin
}

func (e told) brief() string {
	if e.kind == "artifact-update" {
		return "artifact " + e.text
	}
	return strings.TrimSpace(e.state + " " + e.text)
}

// within reports whether a task that was told whole holds what the event tells.
func (e told) within(task told) bool {
	if e.kind == "artifact-update" || e.over() {
		return task.over()
	}
	return slices.Contains(task.history, e.message)
}

// same reports whether two readers were told the same. The request for an approval is told
// at length while it waits.
func (e told) same(o told) bool {
	return e.id == o.id && e.kind == o.kind && (e.raw == o.raw || e.state == o.state && e.state == "input-required")
}

// follower follows a task over streams that break at any moment.
type follower struct {
	*api
	*rand.Rand
	v03, sends bool
	id         string
	got        []told
	cuts       int
}

func (c *follower) follow() {
	for len(c.got) == 0 || !c.got[len(c.got)-1].over() {
		s := c.connect()
		away := time.NewTimer(time.Duration(c.IntN(1500)) * time.Millisecond)
		select {
		case <-s.done:
		case <-away.C:
		}
		away.Stop()
		s.leave()
		<-s.done
		if strings.Contains(s.raw(), "the task is over") {
			return // it came too late to follow anything
		}
		c.take(s.events())
		c.cuts++
		time.Sleep(time.Duration(c.IntN(300)) * time.Millisecond)
	}
}

// take keeps what arrived before the stream broke.
func (c *follower) take(events []event) {
	if len(events) > 0 && c.IntN(2) == 0 {
		events = events[:c.IntN(len(events)+1)]
	}
	for _, e := range events {
		if e.id != "" || !c.v03 { // a stream of 0.3 may end with what the task said already
			c.got = append(c.got, readTold(c.t, e))
		}
	}
}

// connect goes on behind the last event. Who sends the message sends it again until there
// is one.
func (c *follower) connect() *stream {
	if len(c.got) > 0 {
		return c.subscribe(c.got[len(c.got)-1].id)
	}
	if !c.sends {
		return c.subscribe("")
	}
	if c.v03 {
		return c.stream("message/stream", object{"message": object{
			"messageId": "m-1", "role": "user", "parts": []any{object{"kind": "text", "text": "go"}},
		}})
	}
	return c.stream("SendStreamingMessage", said("m-1", "go", nil))
}

func (c *follower) subscribe(last string) *stream {
	method := "SubscribeToTask"
	if c.v03 {
		method = "tasks/resubscribe"
	}
	if last == "" {
		return c.stream(method, object{"id": c.id})
	}
	return c.stream(method, object{"id": c.id}, "Last-Event-ID: "+last)
}

func (c *follower) stream(method string, params any, headers ...string) *stream {
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.open("POST", "/a2a", string(body), headers...)
}

// all is what the task comes to for somebody who knows nothing of it yet.
func (c *follower) all() (out []told) {
	for _, e := range c.subscribe("0/").whole() {
		if e := readTold(c.t, e); e.lasts() {
			out = append(out, e)
		}
	}
	return out
}

// check compares what the client was told with what is told to everybody.
func (c *follower) check(all []told) error {
	if len(c.got) == 0 {
		return nil
	}
	begin := c.got[0]
	if begin.kind != "task" {
		return fmt.Errorf("it begins with %s", begin.raw)
	}
	var want, got []told
	for _, e := range all {
		if !e.within(begin) {
			want = append(want, e)
		}
	}
	for _, e := range c.got[1:] {
		if e.lasts() {
			got = append(got, e)
		}
	}
	if !slices.EqualFunc(want, got, told.same) {
		return fmt.Errorf("begun with %s %s\n(-want +got):\n%s", begin.id, begin.state, cmp.Diff(lines(want), lines(got)))
	}
	return nil
}

func lines(list []told) (out []string) {
	for _, e := range list {
		out = append(out, e.id+" "+e.kind+" "+e.brief())
	}
	return out
}
