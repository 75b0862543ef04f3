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

// taskEvent is an event of a task stream, in any version.
type taskEvent struct {
	id, kind, state, text string
	message               string   // ID of the message in it
	history               []string // for a task, the IDs of its messages
	raw                   string
}

// readTaskEvent reads an event of A2A 1.0 or 0.3.
func readTaskEvent(t *testing.T, e event) taskEvent {
	t.Helper()
	body, _ := e.data["result"].(object)
	out := taskEvent{id: e.id, kind: fmt.Sprint(body["kind"])}
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

func (e taskEvent) over() bool {
	return e.kind != "artifact-update" && slices.Contains([]string{"completed", "failed", "rejected", "canceled"}, e.state)
}

// isRecorded reports whether readers that were away get the event too. A state without a
// message is sent only to connected readers.
func (e taskEvent) isRecorded() bool {
	return e.kind == "artifact-update" || e.over() || e.text != "" && e.text != pleaseLogin
}

func (e taskEvent) brief() string {
	if e.kind == "artifact-update" {
		return "artifact " + e.text
	}
	return strings.TrimSpace(e.state + " " + e.text)
}

// within reports whether a whole task contains what the event says.
func (e taskEvent) within(task taskEvent) bool {
	if e.kind == "artifact-update" || e.over() {
		return task.over()
	}
	return slices.Contains(task.history, e.message)
}

// same reports whether two readers got the same. The request for an approval has more details
// while it waits.
func (e taskEvent) same(o taskEvent) bool {
	return e.id == o.id && e.kind == o.kind && (e.raw == o.raw || e.state == o.state && e.state == "input-required")
}

// follower follows a task over streams that break at any moment.
type follower struct {
	*api
	*rand.Rand
	v03, sends bool
	id         string
	got        []taskEvent
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
			return // it connected too late to get events
		}
		c.take(s.events())
		c.cuts++
		time.Sleep(time.Duration(c.IntN(300)) * time.Millisecond)
	}
}

// take keeps the events that arrived before the stream broke.
func (c *follower) take(events []event) {
	if len(events) > 0 && c.IntN(2) == 0 {
		events = events[:c.IntN(len(events)+1)]
	}
	for _, e := range events {
		if e.id != "" || !c.v03 { // a stream of 0.3 may end with a status that the task had already
			c.got = append(c.got, readTaskEvent(c.t, e))
		}
	}
}

// connect resumes after the last event. The sender of the message repeats it until there is
// an event.
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

// all returns the events for a reader that connects after the end.
func (c *follower) all() (out []taskEvent) {
	for _, e := range c.subscribe("0/").whole() {
		if e := readTaskEvent(c.t, e); e.isRecorded() {
			out = append(out, e)
		}
	}
	return out
}

// check compares what the client got with what other readers get.
func (c *follower) check(all []taskEvent) error {
	if len(c.got) == 0 {
		return nil
	}
	begin := c.got[0]
	if begin.kind != "task" {
		return fmt.Errorf("it begins with %s", begin.raw)
	}
	var want, got []taskEvent
	for _, e := range all {
		if !e.within(begin) {
			want = append(want, e)
		}
	}
	for _, e := range c.got[1:] {
		if e.isRecorded() {
			got = append(got, e)
		}
	}
	if !slices.EqualFunc(want, got, taskEvent.same) {
		return fmt.Errorf("begun with %s %s\n(-want +got):\n%s", begin.id, begin.state, cmp.Diff(lines(want), lines(got)))
	}
	return nil
}

func lines(list []taskEvent) (out []string) {
	for _, e := range list {
		out = append(out, e.id+" "+e.kind+" "+e.brief())
	}
	return out
}
