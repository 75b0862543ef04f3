package protocol_test

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

func streams(events func() iter.Seq2[protocol.Event, error]) *fake {
	return &fake{
		SendStreamFn: func(context.Context, *a2a.SendMessageRequest) iter.Seq2[protocol.Event, error] { return events() },
		SubscribeFn: func(context.Context, *a2a.SubscribeToTaskRequest, string) iter.Seq2[protocol.Event, error] {
			return events()
		},
	}
}

func statusEvent(state a2a.TaskState) *a2a.TaskStatusUpdateEvent {
	return &a2a.TaskStatusUpdateEvent{TaskID: "t1", ContextID: "c1", Status: a2a.TaskStatus{State: state, Timestamp: &noon}}
}

func life() iter.Seq2[protocol.Event, error] {
	artifact := &a2a.TaskArtifactUpdateEvent{TaskID: "t1", ContextID: "c1", Append: true, LastChunk: true,
		Artifact: &a2a.Artifact{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart("two\nlines")}}}
	closing := &a2a.TaskArtifactUpdateEvent{TaskID: "t1", ContextID: "c1", Artifact: &a2a.Artifact{ID: "b"}}
	return stream(nil,
		protocol.Event{ID: "1", Event: task(a2a.TaskStateSubmitted)},
		protocol.Event{},
		protocol.Event{ID: "2", Event: artifact},
		protocol.Event{Event: closing},
		protocol.Event{ID: "bad\nid: 7", Event: &a2a.Message{ID: "m", Role: a2a.MessageRoleAgent, Parts: a2a.ContentParts{a2a.NewTextPart("hi")}}},
		protocol.Event{ID: "4", Event: statusEvent(a2a.TaskStateCompleted)},
	)
}

func TestStreams(t *testing.T) {
	for _, tt := range []struct {
		method, params string
		want           []string
	}{
		{"SendStreamingMessage", hello10, []string{
			`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"` + noonWritten + `"}}}`,
			`{"artifactUpdate":{"taskId":"t1","contextId":"c1","append":true,"lastChunk":true,"artifact":{"artifactId":"a","parts":[{"text":"two\nlines"}]}}}`,
			`{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"b","parts":[]}}}`,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`,
			`{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"` + noonWritten + `"}}}`,
		}},
		{"message/stream", hello03, []string{
			`{"kind":"task","id":"t1","contextId":"c1","status":{"state":"submitted","timestamp":"` + noonWritten + `"}}`,
			`{"kind":"artifact-update","taskId":"t1","contextId":"c1","append":true,"lastChunk":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"two\nlines"}]}}`,
			`{"kind":"artifact-update","taskId":"t1","contextId":"c1","artifact":{"artifactId":"b","parts":[]}}`,
			`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}`,
			`{"kind":"status-update","final":true,"taskId":"t1","contextId":"c1","status":{"state":"completed","timestamp":"` + noonWritten + `"}}`,
		}},
	} {
		t.Run(tt.method, func(t *testing.T) {
			got := post(t, streams(life), rpc(tt.method, tt.params))
			h := got.header
			if got.status != 200 || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-cache" || h.Get("X-Accel-Buffering") != "no" {
				t.Errorf("got %d %v", got.status, h)
			}
			if !strings.Contains(got.body, "\n\n: keep-alive\n\n") {
				t.Errorf("no sign of life in %s", got.body)
			}
			all := frames(t, got.body)
			if len(all) != len(tt.want) {
				t.Fatalf("got %s", got.body)
			}
			var ids []string
			for i, f := range all {
				ids = append(ids, f.id)
				if f.data["jsonrpc"] != "2.0" || f.data["id"] != "1" || len(f.data) != 3 {
					t.Errorf("frame %v", f.data)
				}
				same(t, f.data["result"], tt.want[i])
			}
			if !slices.Equal(ids, []string{"1", "2", "", "", "4"}) {
				t.Errorf("ids %q", ids)
			}
		})
	}
}

func TestTheLastStatusOf03IsFinal(t *testing.T) {
	for state, want := range map[a2a.TaskState]bool{
		a2a.TaskStateSubmitted: false, a2a.TaskStateWorking: false, a2a.TaskStateInputRequired: true, a2a.TaskStateAuthRequired: true,
		a2a.TaskStateCompleted: true, a2a.TaskStateCanceled: true, a2a.TaskStateFailed: true, a2a.TaskStateRejected: true,
	} {
		h := streams(func() iter.Seq2[protocol.Event, error] { return stream(nil, protocol.Event{Event: statusEvent(state)}) })
		result := frames(t, post(t, h, rpc("message/stream", hello03)).body)[0].data["result"].(map[string]any)
		if result["final"] != want {
			t.Errorf("%s: got %v", state, result)
		}
	}
}

// If the first event of a stream is the last, it is the task itself. Clients of 0.3 wait for
// a status that is final.
func TestAStreamOf03EndsWithAStatusThatIsFinal(t *testing.T) {
	for name, tt := range map[string]struct {
		method, params string
		events         []a2a.Event
		frames         int
	}{
		"a task that is over":       {"message/stream", hello03, []a2a.Event{task(a2a.TaskStateFailed)}, 2},
		"one that waits":            {"message/stream", hello03, []a2a.Event{task(a2a.TaskStateInputRequired)}, 2},
		"one that wants a login":    {"message/stream", hello03, []a2a.Event{task(a2a.TaskStateAuthRequired)}, 2},
		"a subscription":            {"tasks/resubscribe", `{"id":"t1"}`, []a2a.Event{task(a2a.TaskStateCompleted)}, 2},
		"one that is at work":       {"message/stream", hello03, []a2a.Event{task(a2a.TaskStateWorking)}, 1},
		"a status is there already": {"message/stream", hello03, []a2a.Event{task(a2a.TaskStateWorking), statusEvent(a2a.TaskStateFailed)}, 2},
		"1.0":                       {"SendStreamingMessage", hello10, []a2a.Event{task(a2a.TaskStateCompleted)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var events []protocol.Event
			for _, e := range tt.events {
				events = append(events, protocol.Event{ID: "1", Event: e})
			}
			h := streams(func() iter.Seq2[protocol.Event, error] { return stream(nil, events...) })
			all := frames(t, post(t, h, rpc(tt.method, tt.params)).body)
			if len(all) != tt.frames {
				t.Fatalf("got %v", all)
			}
			if last := all[len(all)-1]; len(all) > len(events) {
				state := strings.ToLower(strings.TrimPrefix(string(events[0].Event.(*a2a.Task).Status.State), "TASK_STATE_"))
				same(t, last.data["result"], `{"kind":"status-update","final":true,"taskId":"t1","contextId":"c1",
					"status":{"state":"`+strings.ReplaceAll(state, "_", "-")+`","timestamp":"`+noonWritten+`"}}`)
				if last.id != "" {
					t.Errorf("it has the id %q, from which no client can resume", last.id)
				}
			}
		})
	}
}

func TestAStreamThatAClosingServerCutsOffHasNoEnd(t *testing.T) {
	closing, stop := context.WithCancel(context.Background())
	h := streams(func() iter.Seq2[protocol.Event, error] {
		return func(yield func(protocol.Event, error) bool) {
			yield(protocol.Event{ID: "1", Event: task(a2a.TaskStateInputRequired)}, nil)
			stop()
		}
	})
	got := postTo(t, protocol.New(h, protocol.Options{Closing: closing}), rpc("tasks/resubscribe", `{"id":"t1"}`))
	if all := frames(t, got.body); len(all) != 1 {
		t.Errorf("got %s", got.body)
	}
}

func TestAnErrorBeforeTheStreamIsAJSONReplyIn10(t *testing.T) {
	h := streams(func() iter.Seq2[protocol.Event, error] { return stream(a2a.ErrTaskNotFound) })
	for _, tt := range []struct{ method, params string }{
		{"SendStreamingMessage", hello10}, {"SubscribeToTask", `{"id":"t"}`},
	} {
		got := post(t, h, rpc(tt.method, tt.params))
		if got.status != 200 || got.header.Get("Content-Type") != "application/json" || got.code() != -32001 {
			t.Errorf("%s: got %d %s", tt.method, got.status, got.body)
		}
	}
}

func TestAStreamOf03HasEvenItsFirstErrorAsAnEvent(t *testing.T) {
	h := streams(func() iter.Seq2[protocol.Event, error] { return stream(a2a.ErrTaskNotFound) })
	for _, tt := range []struct{ method, params string }{
		{"tasks/resubscribe", `{"id":"nonexistent"}`}, {"message/stream", hello03},
	} {
		got := post(t, h, rpc(tt.method, tt.params))
		all := frames(t, got.body)
		if got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" || len(all) != 1 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		same(t, all[0].data, `{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"task not found"}}`)
	}
}

func TestAnErrorInAStreamIsItsLastEvent(t *testing.T) {
	for name, events := range map[string]func() iter.Seq2[protocol.Event, error]{
		"behind an event": func() iter.Seq2[protocol.Event, error] {
			return stream(errors.New("secret"), protocol.Event{ID: "1", Event: task(a2a.TaskStateWorking)})
		},
		"behind a sign of life": func() iter.Seq2[protocol.Event, error] { return stream(errors.New("secret"), protocol.Event{}) },
		"a panic": func() iter.Seq2[protocol.Event, error] {
			return func(yield func(protocol.Event, error) bool) {
				yield(protocol.Event{Event: task(a2a.TaskStateWorking)}, nil)
				panic("secret")
			}
		},
		"what cannot be written": func() iter.Seq2[protocol.Event, error] {
			bad := task(a2a.TaskStateWorking)
			bad.Metadata = map[string]any{"f": func() {}}
			return stream(nil, protocol.Event{}, protocol.Event{Event: bad}, protocol.Event{Event: task(a2a.TaskStateWorking)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, streams(events), rpc("SendStreamingMessage", hello10))
			all := frames(t, got.body)
			last, _ := all[len(all)-1].data["error"].(map[string]any)
			if got.header.Get("Content-Type") != "text/event-stream" || last["code"] != -32603.0 || strings.Contains(got.body, "secret") {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestAStreamWithoutEvents(t *testing.T) {
	got := post(t, streams(func() iter.Seq2[protocol.Event, error] { return stream(nil) }), rpc("SubscribeToTask", `{"id":"t"}`))
	if got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" || got.body != "" {
		t.Errorf("got %d %q", got.status, got.body)
	}
}

func TestSubscribeResumesAfterTheLastEventID(t *testing.T) {
	for _, method := range []string{"SubscribeToTask", "tasks/resubscribe"} {
		for _, last := range []string{"", "e-17"} {
			var task, after string
			h := &fake{SubscribeFn: func(_ context.Context, r *a2a.SubscribeToTaskRequest, a string) iter.Seq2[protocol.Event, error] {
				task, after = string(r.ID), a
				return stream(nil)
			}}
			post(t, h, rpc(method, `{"id":"t"}`), "Last-Event-ID", last)
			if task != "t" || after != last {
				t.Errorf("%s behind %q: got %q, %q", method, last, task, after)
			}
		}
	}
}

// feed returns a Handler whose stream a test fills while a client reads it.
func feed(events <-chan protocol.Event, ended chan<- struct{}) *fake {
	return &fake{SubscribeFn: func(ctx context.Context, _ *a2a.SubscribeToTaskRequest, _ string) iter.Seq2[protocol.Event, error] {
		return func(yield func(protocol.Event, error) bool) {
			defer close(ended)
			for {
				select {
				case <-ctx.Done():
					yield(protocol.Event{}, ctx.Err())
					return
				case e := <-events:
					if !yield(e, nil) {
						return
					}
				}
			}
		}
	}}
}

func open(t *testing.T, url string) *http.Response {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(rpc("SubscribeToTask", `{"id":"t"}`)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func TestEveryEventIsFlushed(t *testing.T) {
	events, ended := make(chan protocol.Event, 1), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(protocol.New(feed(events, ended), silent).RPC))
	defer srv.Close()
	events <- protocol.Event{} // a keep-alive begins the stream
	res := open(t, srv.URL)
	lines := bufio.NewScanner(res.Body)
	for _, want := range []string{": keep-alive", "", "id: 1", `data: {"jsonrpc":"2.0","id":"1","result":{"task":`} {
		if want == "id: 1" {
			events <- protocol.Event{ID: "1", Event: task(a2a.TaskStateWorking)}
		}
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("got %q, want %q", lines.Text(), want)
		}
	}
	_ = res.Body.Close()
	<-ended // the Handler's context ends with the client
}

func TestClosingEndsStreams(t *testing.T) {
	for name, first := range map[string]bool{"that have begun": true, "that have not": false} {
		t.Run(name, func(t *testing.T) {
			closing, stop := context.WithCancel(context.Background())
			defer stop()
			events, ended := make(chan protocol.Event, 1), make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(protocol.New(feed(events, ended), protocol.Options{Closing: closing}).RPC))
			defer srv.Close()
			if first {
				events <- protocol.Event{ID: "1", Event: task(a2a.TaskStateWorking)}
			} else {
				stop()
			}
			res := open(t, srv.URL)
			lines := bufio.NewScanner(res.Body)
			for lines.Scan() {
				stop()
				if strings.Contains(lines.Text(), `"error"`) {
					t.Errorf("got %s", lines.Text())
				}
			}
			if lines.Err() != nil || res.Header.Get("Content-Type") != "text/event-stream" {
				t.Errorf("got %v %v", lines.Err(), res.Header)
			}
			<-ended
		})
	}
}

// broken is a connection that accepts only the headers.
type broken struct{ *httptest.ResponseRecorder }

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestAHandlerIsStoppedWhenTheClientIsGone(t *testing.T) {
	taken := 0
	h := streams(func() iter.Seq2[protocol.Event, error] {
		return func(yield func(protocol.Event, error) bool) {
			for yield(protocol.Event{Event: task(a2a.TaskStateWorking)}, nil) {
				taken++
			}
		}
	})
	req := httptest.NewRequest("POST", "/a2a", strings.NewReader(rpc("SendStreamingMessage", hello10)))
	req.Header.Set("Content-Type", "application/json")
	protocol.New(h, silent).RPC(broken{httptest.NewRecorder()}, req)
	if taken != 0 {
		t.Errorf("%d events were taken", taken)
	}
}
