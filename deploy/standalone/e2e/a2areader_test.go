package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// taskEvent is an event of an A2A stream, of either version.
type taskEvent struct {
	id, kind, state, text string
	message               string   // the ID of its message
	history               []string // for a task: the IDs of its messages
	raw                   string
}

type eventMessage struct {
	MessageID string
	Parts     []struct{ Text string }
}

// timestamps are not compared: a step that was being recorded when the agent was killed is
// recorded again later.
var timestamps = regexp.MustCompile(`,?"timestamp":"[^"]*"`)

// readEvent reads the members of an event. A2A 1.0 wraps them in an object, in a member that is
// named by the kind.
func readEvent(id, kind string, raw json.RawMessage) (taskEvent, error) {
	var in struct {
		Kind   string
		Status struct {
			State   string
			Message eventMessage
		}
		Artifact eventMessage
		History  []eventMessage
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return taskEvent{}, fmt.Errorf("read %s: %w", raw, err)
	}
	out := taskEvent{id: id, kind: kind, message: in.Status.Message.MessageID, raw: timestamps.ReplaceAllString(string(raw), "")}
	if kind == "" {
		out.kind = in.Kind
	}
	out.state = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(in.Status.State, "TASK_STATE_")), "_", "-")
	for _, m := range []eventMessage{in.Status.Message, in.Artifact} {
		if len(m.Parts) > 0 {
			out.text = m.Parts[0].Text
		}
	}
	for _, m := range in.History {
		out.history = append(out.history, m.MessageID)
	}
	return out, nil
}

// readFrame reads the data of an event of either version.
func readFrame(id, data string) (taskEvent, error) {
	var frame struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(data), &frame); err != nil {
		return taskEvent{}, fmt.Errorf("read %s: %w", data, err)
	}
	var wrapped struct{ Task, StatusUpdate, ArtifactUpdate json.RawMessage }
	if err := json.Unmarshal(frame.Result, &wrapped); err != nil || frame.Error != nil {
		return taskEvent{}, fmt.Errorf("an event that is none: %s", data)
	}
	switch {
	case wrapped.Task != nil:
		return readEvent(id, "task", wrapped.Task)
	case wrapped.StatusUpdate != nil:
		return readEvent(id, "status-update", wrapped.StatusUpdate)
	case wrapped.ArtifactUpdate != nil:
		return readEvent(id, "artifact-update", wrapped.ArtifactUpdate)
	}
	return readEvent(id, "", frame.Result)
}

func (e taskEvent) over() bool {
	return e.kind != "artifact-update" && slices.Contains([]string{"completed", "failed", "rejected", "canceled"}, e.state)
}

func (e taskEvent) brief() string {
	switch {
	case e.kind == "artifact-update":
		return "artifact " + e.text
	case e.state == "input-required": // has more text while it waits
		return e.state
	}
	return strings.TrimSpace(e.state + " " + e.text)
}

// within reports whether a complete task contains the content of the event.
func (e taskEvent) within(task taskEvent) bool {
	if e.kind == "artifact-update" || e.over() {
		return task.over()
	}
	return slices.Contains(task.history, e.message)
}

// same reports whether two readers received the same event. An approval request has more text
// while it waits, so that text is not compared.
func (e taskEvent) same(o taskEvent) bool {
	return e.id == o.id && e.kind == o.kind && (e.raw == o.raw || e.state == o.state && e.state == "input-required")
}

func lines(list []taskEvent) (out []string) {
	for _, e := range list {
		raw := e.raw
		if e.state == "input-required" {
			raw = ""
		}
		out = append(out, e.id+" "+e.kind+" "+e.brief()+" "+raw)
	}
	return out
}

// reader follows a task over connections that break.
type reader struct {
	*rand.Rand
	t          *testing.T
	base       string
	job        *job
	v03, sends bool
	got        []taskEvent
	cuts       int
	refused    []string // errors of an agent that could not read the task yet
	late       bool     // the task ended before the first event
}

// follow breaks its connections at random moments and resumes after its last event.
func (r *reader) follow() {
	deadline := time.Now().Add(2 * patience)
	for !r.done() {
		if time.Now().After(deadline) {
			r.t.Errorf("a reader of %s is not at its end: %v", r.job.name, lines(r.got))
			return
		}
		ctx, leave := context.WithTimeout(context.Background(), time.Duration(50+r.IntN(2500))*time.Millisecond)
		r.read(ctx, 1+r.IntN(4))
		leave()
		r.cuts++
		time.Sleep(time.Duration(50+r.IntN(400)) * time.Millisecond)
	}
}

// followToTheEnd reads one connection to its end.
func (r *reader) followToTheEnd() { r.read(context.Background(), -1) }

func (r *reader) done() bool { return r.late || len(r.got) > 0 && r.got[len(r.got)-1].over() }

// all returns the events of the task for a new reader.
func (r *reader) all() []taskEvent {
	r.got = []taskEvent{{id: "0/"}}
	r.followToTheEnd()
	return r.got[1:]
}

// read reads at most the given number of events of a new stream; a negative number means all.
// It returns without events if the agent is down.
func (r *reader) read(ctx context.Context, most int) {
	res, err := http.DefaultClient.Do(r.request(ctx))
	if err != nil {
		return
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	id, data := "", ""
	for most != 0 && lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			id = strings.TrimPrefix(line, "id: ")
		case strings.HasPrefix(line, "data: "):
			data = strings.TrimPrefix(line, "data: ")
		case line == "" && data != "": // the event is complete
			if strings.Contains(data, `"SERVER_ERROR"`) || strings.Contains(data, `"error":{"code":-32000,`) {
				r.refused = append(r.refused, data)
				return // the agent has just started
			}
			e, err := readFrame(id, data)
			if err != nil {
				r.t.Error(err)
				return
			}
			if id != "" || !r.v03 { // a stream of 0.3 may end with an event whose content was in the task
				r.got = append(r.got, e)
			}
			id, data, most = "", "", most-1
		case strings.Contains(line, "the task is over"):
			r.late = len(r.got) == 0
		}
	}
}

// request resumes after the last event. A reader that sends the message repeats it until it has
// an event.
func (r *reader) request(ctx context.Context) *http.Request {
	method, params, last := "SubscribeToTask", any(map[string]any{"id": r.job.id}), ""
	if len(r.got) > 0 {
		last = r.got[len(r.got)-1].id
	}
	switch {
	case r.sends && last == "" && r.v03:
		method, params = "message/stream", map[string]any{"message": map[string]any{
			"messageId": r.job.name, "role": "user", "parts": []any{map[string]any{"kind": "text", "text": r.job.text()}},
		}}
	case r.sends && last == "":
		method, params = "SendStreamingMessage", map[string]any{"message": map[string]any{
			"messageId": r.job.name, "role": "ROLE_USER", "parts": []any{map[string]any{"text": r.job.text()}},
		}}
	case r.v03:
		method = "tasks/resubscribe"
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequestWithContext(ctx, "POST", r.base+"/a2a", strings.NewReader(string(body)))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	return req
}

// check compares the reader's events with those of a new reader. State changes without a
// message reach only readers that are connected, so they are ignored.
func (r *reader) check(all []taskEvent) error {
	if len(r.got) == 0 {
		return nil
	}
	begin := r.got[0]
	if begin.kind != "task" {
		return fmt.Errorf("it begins with %s", begin.raw)
	}
	var want, got []taskEvent
	for _, e := range all {
		if !e.within(begin) {
			want = append(want, e)
		}
	}
	for _, e := range r.got[1:] {
		if e.text != "" || e.over() || e.kind == "task" {
			got = append(got, e)
		}
	}
	if !slices.EqualFunc(want, got, taskEvent.same) {
		return fmt.Errorf("begun with %s %s\n(-want +got):\n%s", begin.id, begin.brief(), cmp.Diff(lines(want), lines(got)))
	}
	return nil
}
