package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// echo is an executor that returns its message in two artifacts.
func echo(_ context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
	say(status(in, a2a.TaskStateWorking, says("at it")))
	first := a2a.NewArtifactEvent(in, says("echo: "+in.Message.Parts[0].Text()))
	say(first)
	say(a2a.NewArtifactUpdateEvent(in, first.Artifact.ID, a2a.NewDataPart(map[string]any{"n": 1})))
	say(a2a.NewArtifactEvent(in, says("the end")))
	say(status(in, a2a.TaskStateCompleted))
}

func TestATaskThatCompletesIsTheReply(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		r := serveLibrary(t, f, echo)
		reply := send(t, peers(t, peer.Options{}), start(r, "hello"))
		same(t, "state", reply.State, contract.TaskCompleted)
		same(t, "text", reply.Text, "echo: hello\n\nthe end\n\n"+`{"n":1}`)
		if reply.TaskID == "" || reply.ContextID == "" {
			t.Errorf("no task or no context: %+v", reply)
		}
	})
}

func TestEveryStateArrives(t *testing.T) {
	states := map[a2a.TaskState]contract.TaskState{
		a2a.TaskStateFailed: contract.TaskFailed, a2a.TaskStateRejected: contract.TaskRejected, a2a.TaskStateCanceled: contract.TaskCanceled,
		a2a.TaskStateInputRequired: contract.TaskInputRequired, a2a.TaskStateAuthRequired: contract.TaskAuthRequired,
		a2a.TaskStateCompleted: contract.TaskCompleted,
	}
	eachFlavour(t, func(t *testing.T, f flavour) {
		for theirs, ours := range states {
			r := serveLibrary(t, f, func(_ context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
				say(status(in, theirs, says("because")))
			})
			reply := send(t, peers(t, peer.Options{}), start(r, "hello"))
			same(t, "state", reply.State, ours)
			same(t, "text", reply.Text, "because")
		}
	})
}

func TestAMessageInPlaceOfATaskIsTheResult(t *testing.T) {
	parts := []any{map[string]any{"kind": "text", "text": "just"}, map[string]any{"kind": "text", "text": "this"}}
	for name, tt := range map[string]struct{ card, result any }{
		"1.0": {card10(false), map[string]any{"message": map[string]any{"messageId": "a", "role": "ROLE_AGENT", "contextId": "c1", "parts": parts}}},
		"0.3": {card03(false), map[string]any{"kind": "message", "messageId": "a", "role": "agent", "contextId": "c1", "parts": parts}},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, tt.card, func(w http.ResponseWriter, in request) { rpc(w, in, tt.result) })
			reply := send(t, peers(t, peer.Options{}), start(r, "hello"))
			same(t, "reply", reply, peer.Reply{State: contract.TaskCompleted, Text: "just\nthis", ContextID: "c1"})
		})
	}
}

func TestWhatIsSentIsOfTheProtocol(t *testing.T) {
	for name, tt := range map[string]struct {
		card                 any
		method, params, vers string
	}{
		"1.0": {card10(false), "SendMessage", `{"configuration":{"returnImmediately":true,"historyLength":10},"message":{"messageId":"m1","contextId":"c7","metadata":{"agent-stop-and-go/chain":["boss","lead"]},"parts":[{"text":"do it"}],"role":"ROLE_USER"}}`, "1.0"},
		"0.3": {card03(false), "message/send", `{"configuration":{"blocking":false,"historyLength":10},"message":{"kind":"message","messageId":"m1","contextId":"c7","metadata":{"agent-stop-and-go/chain":["boss","lead"]},"parts":[{"kind":"text","text":"do it"}],"role":"user"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, tt.card, func(w http.ResponseWriter, in request) {
				rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
			})
			m := start(r, "do it")
			m.ContextID, m.Chain, m.Bearer, m.SessionID = "c7", []string{"boss", "lead"}, "t0ken", "sid"
			same(t, "text", send(t, peers(t, peer.Options{}), m).Text, "done")
			in := r.requests()[0]
			same(t, "method", in.Method, tt.method)
			same(t, "params", normal(t, in.Params), normal(t, []byte(tt.params)))
			same(t, "version", in.Header.Get("A2A-Version"), tt.vers)
			same(t, "bearer", in.Header.Get("Authorization"), "Bearer t0ken")
			same(t, "session", in.Header.Get("X-Session-ID"), "sid")
		})
	}
}

// normal returns JSON with sorted keys.
func normal(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestConfiguredHeadersGoToTheConfiguredURLOnly(t *testing.T) {
	answer := func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
	}
	r, other := serveScript(t, card10(false), answer), serveScript(t, card10(false), answer)
	p := peers(t, peer.Options{Agents: []peer.Agent{{
		Name: "writer", URL: to(r).URL, Headers: map[string]string{"authorization": "Basic own", "X-Team": "shop", "X-Session-ID": "fixed"},
	}}})
	for _, m := range []peer.Message{start(r, "hello"), start(other, "hello")} {
		m.Bearer, m.SessionID = "t0ken", "sid"
		send(t, p, m)
	}
	same(t, "own", headers(r.requests()[0]), "Basic own shop fixed")
	same(t, "elsewhere", headers(other.requests()[0]), "Bearer t0ken  sid")
}

func headers(r request) string {
	return fmt.Sprint(r.Header.Get("Authorization"), " ", r.Header.Get("X-Team"), " ", r.Header.Get("X-Session-ID"))
}

// slowWork is an executor that works until free is closed.
type slowWork struct{ free chan struct{} }

func (s slowWork) work(ctx context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
	say(status(in, a2a.TaskStateWorking, says("half way")))
	select {
	case <-s.free:
		say(a2a.NewArtifactEvent(in, says("at last")))
		say(status(in, a2a.TaskStateCompleted))
	case <-ctx.Done():
	}
}

func TestWorkThatTakesLongerIsAskedForAgain(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		s := slowWork{make(chan struct{})}
		r := serveLibrary(t, f, s.work)
		var reply, again peer.Reply
		withLongerWaits(t, func(p *peer.Peers) bool {
			reply, _ = p.Send(t.Context(), start(r, "hello"))
			return reply.TaskID != ""
		})
		same(t, "state", reply.State, contract.TaskWorking)
		withLongerWaits(t, func(p *peer.Peers) bool {
			again, _ = p.Send(t.Context(), peer.Message{Peer: to(r), MessageID: "m2", TaskID: reply.TaskID})
			return again.Text != ""
		})
		same(t, "still", again.State, contract.TaskWorking)
		same(t, "what it says", again.Text, "half way")
		close(s.free)
		patient := peers(t, peer.Options{})
		done := send(t, patient, peer.Message{Peer: to(r), MessageID: "m3", TaskID: reply.TaskID})
		same(t, "in the end", fmt.Sprint(done.State, done.Text), "completed"+"at last")
	})
}

func TestATaskIsPolledMoreAndMoreSeldom(t *testing.T) {
	looks := 0
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		switch in.Method {
		case "SendMessage":
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_SUBMITTED", "")})
		default:
			if looks++; looks < 8 {
				rpc(w, in, taskOf("TASK_STATE_WORKING", "soon"))
				return
			}
			rpc(w, in, taskOf("TASK_STATE_COMPLETED", "done"))
		}
	})
	var pauses []time.Duration
	p := peers(t, peer.Options{Pause: func(_ context.Context, d time.Duration) { pauses = append(pauses, d) }})
	same(t, "text", send(t, p, start(r, "hello")).Text, "done")
	same(t, "pauses", fmt.Sprint(pauses), "[250ms 250ms 500ms 1s 2s 4s 5s 5s]")
}

func TestAnAgentThatIsGoneForAMomentWhileItWorksIsWaitedFor(t *testing.T) {
	looks := 0
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		if looks++; in.Method == "SendMessage" {
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
			return
		}
		switch looks {
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			rpc(w, in, taskOf("TASK_STATE_COMPLETED", "done"))
		}
	})
	same(t, "text", send(t, peers(t, peer.Options{}), start(r, "hello")).Text, "done")
}

func TestAnAgentThatForgetsATaskIsAFailure(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"code": -32001, "message": "task not found"})
	})
	f := wantFailure(t, peers(t, peer.Options{}), peer.Message{Peer: to(r), TaskID: "t1"}, contract.KindPeerFailed)
	same(t, "text", f.Message, "agent writer: error -32001: task not found")
}

func TestAStateThatNobodyKnowsIsPassedOn(t *testing.T) {
	r := serveScript(t, card03(false), func(w http.ResponseWriter, in request) {
		task := taskOf("unknown", "?")
		task["kind"] = "task"
		rpc(w, in, task)
	})
	same(t, "state", send(t, peers(t, peer.Options{}), start(r, "hello")).State, "unknown")
}

func TestASendThatIsCancelledSaysWhatItKnows(t *testing.T) {
	for name, streaming := range map[string]bool{"asking": false, "streaming": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r := serveScript(t, card10(streaming), func(w http.ResponseWriter, in request) {
				switch in.Method {
				case "SendMessage":
					rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
				case "SendStreamingMessage":
					stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
				default:
					cancel()
					<-ctx.Done()
				}
			})
			reply, err := peers(t, peer.Options{}).Send(ctx, start(r, "hello"))
			if err != nil || reply.TaskID != "t1" || reply.State != contract.TaskWorking {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := serveScript(t, card10(false), func(http.ResponseWriter, request) { cancel(); <-ctx.Done() })
	if reply, err := peers(t, peer.Options{}).Send(ctx, start(r, "hello")); err != context.Canceled {
		t.Errorf("without a task: got %+v, %v", reply, err)
	}
}

func TestTheSameMessageIsSentWithTheSameID(t *testing.T) {
	lost := true
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		if lost {
			lost = false
			panic(http.ErrAbortHandler)
		}
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
	})
	p := peers(t, peer.Options{})
	wantFailure(t, p, start(r, "hello"), contract.KindPeerUnavailable)
	send(t, p, start(r, "hello"))
	seen := r.requests()
	if len(seen) != 2 || !slices.Equal(seen[0].Params, seen[1].Params) {
		t.Errorf("sent %s", seen)
	}
}
