package peer_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// stream answers with a stream of events.
func stream(w http.ResponseWriter, r request, results ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, result := range results {
		var data strings.Builder
		rpc(&data, r, result)
		fmt.Fprintf(w, ": a comment\r\nid: 1\r\ndata: %s\r\n\r\n", strings.TrimSpace(data.String()))
	}
	w.(http.Flusher).Flush()
}

func statusUpdate(state string) any {
	return map[string]any{"statusUpdate": map[string]any{"taskId": "t1", "contextId": "c1", "status": map[string]any{"state": state}}}
}

func chunk(text string, more bool) any {
	return map[string]any{"artifactUpdate": map[string]any{
		"taskId": "t1", "contextId": "c1", "append": more, "artifact": map[string]any{"artifactId": "x", "parts": []any{map[string]any{"text": text}}},
	}}
}

// countPauses counts pauses.
func countPauses(n *int) func(context.Context, time.Duration) {
	return func(context.Context, time.Duration) { *n++ }
}

func TestAStreamNeedsNoOtherRequest(t *testing.T) {
	r := serveLibrary(t, flavours["1.0 streaming"], echo)
	send(t, peers(t, peer.Options{}), start(r, "hello"))
	same(t, "asked", r.calledMethods(), []string{"SendStreamingMessage"})
}

func TestATextThatComesInPiecesIsOneText(t *testing.T) {
	r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
		stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")}, chunk("Hel", false), chunk("lo, ", true), chunk("you", true),
			statusUpdate("TASK_STATE_COMPLETED"))
	})
	same(t, "text", send(t, peers(t, peer.Options{}), start(r, "hello")).Text, "Hello, you")
}

// cutWriter aborts the connection after a number of events.
type cutWriter struct {
	http.ResponseWriter
	events int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	if strings.Contains(string(p), "data:") {
		c.Flush()
		if c.events--; c.events == 0 {
			panic(http.ErrAbortHandler)
		}
	}
	return n, err
}

func (c *cutWriter) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

func TestABrokenStreamIsTakenUpAgain(t *testing.T) {
	for _, name := range []string{"1.0 streaming", "0.3 streaming"} {
		t.Run(name, func(t *testing.T) {
			s := slowWork{make(chan struct{})}
			r := serveLibrary(t, flavours[name], s.work)
			handler := r.Config.Handler
			broken := 0
			r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.Method == http.MethodPost {
					if broken++; broken == 1 {
						w = &cutWriter{w, 2}
					}
				}
				handler.ServeHTTP(w, req)
			})
			r.InsteadFn = func(_ http.ResponseWriter, in request) bool {
				if in.Method == "SubscribeToTask" || in.Method == "tasks/resubscribe" {
					close(s.free)
				}
				return false
			}
			reply := send(t, peers(t, peer.Options{}), start(r, "hello"))
			same(t, "reply", fmt.Sprint(reply.State, " ", reply.Text), "completed at last")
			if n := len(r.calledMethods()); n < 4 {
				t.Errorf("asked only %v", r.calledMethods())
			}
		})
	}
}

func TestAStreamThatBreaksBeforeItSaysAnythingIsALostAnswer(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, request){
		"abort": func(http.ResponseWriter, request) { panic(http.ErrAbortHandler) },
		"empty": func(w http.ResponseWriter, in request) { stream(w, in) },
		"half": func(w http.ResponseWriter, in request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, card10(true), answer)
			wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), contract.KindPeerUnavailable)
		})
	}
}

func TestAnAgentMayAnswerAStreamWithoutOne(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, request)
		want   string
	}{
		"one document": {func(w http.ResponseWriter, in request) {
			w.Header().Set("Content-Type", "application/json")
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
		}, "done"},
		"it cannot stream after all": {func(w http.ResponseWriter, in request) {
			if in.Method == "SendStreamingMessage" {
				rpc(w, in, map[string]any{"code": -32004, "message": "no streams"})
				return
			}
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", in.Method)})
		}, "SendMessage"},
		"its stream cannot be joined": {func(w http.ResponseWriter, in request) {
			switch in.Method {
			case "SendStreamingMessage":
				stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
			case "SubscribeToTask":
				rpc(w, in, map[string]any{"code": -32004, "message": "no"})
			default:
				joined := len(in.Header) > 0
				rpc(w, in, taskOf(map[bool]string{true: "TASK_STATE_COMPLETED", false: "TASK_STATE_WORKING"}[joined], "asked"))
			}
		}, "asked"},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, card10(true), tt.answer)
			same(t, "text", send(t, peers(t, peer.Options{}), start(r, "hello")).Text, tt.want)
		})
	}
}

func TestAnErrorInAStreamIsTheAgents(t *testing.T) {
	r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
		stream(w, in, map[string]any{"code": -32602, "message": "bad params"})
	})
	f := wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), contract.KindPeerFailed)
	same(t, "text", f.Message, "agent writer: error -32602: bad params")
}

func TestAStreamThatEndsEarlyIsFollowedByLooks(t *testing.T) {
	looks := 0
	r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
		switch in.Method {
		case "GetTask":
			if looks++; looks < 3 {
				rpc(w, in, taskOf("TASK_STATE_WORKING", ""))
				return
			}
			rpc(w, in, taskOf("TASK_STATE_COMPLETED", "done"))
		default: // announces a state before it can be read
			stream(w, in, statusUpdate("TASK_STATE_WORKING"))
		}
	})
	pauses := 0
	p := peers(t, peer.Options{Pause: countPauses(&pauses)})
	same(t, "text", send(t, p, start(r, "hello")).Text, "done")
	same(t, "asked", r.calledMethods(), []string{"SendStreamingMessage", "GetTask", "SubscribeToTask", "GetTask", "SubscribeToTask", "GetTask"})
	same(t, "pauses", pauses, 2)
}

// endingContext is a context whose deadline passes when done is closed.
type endingContext struct {
	context.Context
	done chan struct{}
}

func (e *endingContext) Done() <-chan struct{} { return e.done }

func (e *endingContext) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestAStreamThatKnowsMoreThanTheTaskDoesNotSpin(t *testing.T) {
	r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
		if in.Method == "GetTask" {
			rpc(w, in, taskOf("TASK_STATE_WORKING", ""))
			return
		}
		stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")}, statusUpdate("TASK_STATE_INPUT_REQUIRED"))
	})
	pauses := 0
	whole := &endingContext{Context: t.Context(), done: make(chan struct{})}
	p := peers(t, peer.Options{Wait: time.Hour, Pause: func(ctx context.Context, _ time.Duration) {
		pauses++
		close(whole.done)
		<-ctx.Done() // the request's context ends a little later
	}})
	reply, err := p.Send(whole, peer.Message{Peer: to(r), TaskID: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "state", reply.State, contract.TaskWorking)
	same(t, "asked", r.calledMethods(), []string{"GetTask", "SubscribeToTask", "GetTask"})
	same(t, "pauses", pauses, 1)
}

func TestAHugeEventEndsTheStreamAndTheTaskIsAsked(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, request){
		"a line": func(w http.ResponseWriter, in request) {
			stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")}, chunk(strings.Repeat("x", 2<<20), false))
		},
		"many lines": func(w http.ResponseWriter, in request) {
			stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
			for range 300 {
				fmt.Fprintf(w, "data: %s\n", strings.Repeat("x", 4<<10))
			}
		},
		"many small ones": func(w http.ResponseWriter, in request) {
			stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
			for range 40 {
				fmt.Fprintf(w, ": %s\n", strings.Repeat("x", 1000<<10))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
				if in.Method == "GetTask" {
					rpc(w, in, taskOf("TASK_STATE_COMPLETED", "small"))
					return
				}
				answer(w, in)
			})
			same(t, "text", send(t, peers(t, peer.Options{}), start(r, "hello")).Text, "small")
			if !slices.Contains(r.calledMethods(), "GetTask") {
				t.Errorf("asked %v", r.calledMethods())
			}
		})
	}
}

func TestAnAnswerToAStreamingAgentIsAWholeTask(t *testing.T) {
	r := serveLibrary(t, flavours["0.3 streaming"], func(_ context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
		if in.StoredTask == nil {
			say(a2a.NewArtifactEvent(in, says("before")))
			say(status(in, a2a.TaskStateInputRequired, says("Sure?")))
			return
		}
		say(a2a.NewArtifactEvent(in, says("after")))
		say(status(in, a2a.TaskStateCompleted))
	})
	p := peersWithPauses(t)
	asked := send(t, p, start(r, "hello"))
	same(t, "asked", asked.Text, "Sure?")
	reply := send(t, p, peer.Message{Peer: to(r), MessageID: "m2", TaskID: asked.TaskID, ContextID: asked.ContextID, Decision: contract.Approved})
	same(t, "text", reply.Text, "before\n\nafter")
}
