package peer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// withIdempotency returns a card that declares that messages are deduplicated.
func withIdempotency(card any) any {
	capabilities := card.(map[string]any)["capabilities"].(map[string]any)
	capabilities["extensions"] = []any{map[string]any{"uri": contract.IdempotentMessages}}
	return card
}

// countSends counts the messages that arrived.
func countSends(r *remote) (n int) {
	for _, method := range r.calledMethods() {
		if strings.Contains(strings.ToLower(method), "send") || strings.Contains(method, "/stream") {
			n++
		}
	}
	return n
}

func destructive(m peer.Message) peer.Message {
	m.Destructive = true
	return m
}

func hangUp(w http.ResponseWriter, _ request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}

// falseAnswers are answers of an agent that has carried out the message.
func falseAnswers() map[string]func(http.ResponseWriter, request) {
	out := map[string]func(http.ResponseWriter, request){
		"hangs up": hangUp,
		"garbage":  func(w http.ResponseWriter, _ request) { fmt.Fprint(w, "garbage") },
		"nothing":  func(w http.ResponseWriter, r request) { rpc(w, r, nil) },
	}
	for _, code := range []int{-32603, -32000, -32006, 0, 7} {
		out[fmt.Sprintf("code %d", code)] = func(w http.ResponseWriter, r request) {
			rpc(w, r, map[string]any{"code": code, "message": "no"})
		}
	}
	for _, status := range []int{302, 307, 308, 400, 404, 408, 409, 429, 500, 502, 503, 504} {
		out[fmt.Sprint(status)] = func(w http.ResponseWriter, _ request) {
			w.Header().Set("Location", "/a2a")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(status)
		}
	}
	return out
}

func TestADestructiveMessageIsSentOnceToAnAgentThatDeclaresNothing(t *testing.T) {
	for name, lie := range falseAnswers() {
		for form, card := range map[string]any{"1.0": card10(false), "1.0 streaming": card10(true), "0.3": card03(false), "0.3 streaming": card03(true)} {
			t.Run(form+" "+name, func(t *testing.T) {
				r := serveScript(t, card, lie)
				wantFailure(t, peers(t, peer.Options{}), destructive(start(r, "wipe")), contract.KindOutcomeUnknown)
				same(t, "messages", countSends(r), 1)
			})
		}
	}
}

func TestADestructiveMessageIsSentOnceInTheOldDialect(t *testing.T) {
	for name, lie := range falseAnswers() {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, map[string]any{"name": "old", "url": "/a2a", "skills": []any{}}, lie)
			wantFailure(t, peers(t, peer.Options{}), destructive(start(r, "wipe")), contract.KindOutcomeUnknown)
			same(t, "messages", countSends(r), 1)
		})
	}
}

// An agent whose version is not known has understood a message that it gave a task for, whatever it
// answers to the requests behind it.
func TestAMessageThatWasUnderstoodIsNotSentInAnotherVersion(t *testing.T) {
	r := serveScript(t, map[string]any{"name": "old", "url": "/a2a", "skills": []any{}}, func(w http.ResponseWriter, in request) {
		switch in.Method {
		case "SendMessage":
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
		default:
			rpc(w, in, map[string]any{"code": -32602, "message": "no"})
		}
	})
	for destructive, want := range map[bool]contract.Kind{true: contract.KindOutcomeUnknown, false: contract.KindPeerFailed} {
		before := len(r.calledMethods())
		wipe := start(r, "wipe")
		wipe.Destructive = destructive
		wantFailure(t, peers(t, peer.Options{}), wipe, want)
		same(t, "requests", fmt.Sprint(r.calledMethods()[before:]), "[message/send SendMessage GetTask]")
	}
}

// A login that is required for looking at the task does not mean that the message was refused.
func TestATaskThatRequiresALoginAfterADestructiveMessageIsInDoubt(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
			if in.Method == "SendMessage" {
				rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
				return
			}
			w.WriteHeader(status)
		})
		wantFailure(t, peers(t, peer.Options{}), destructive(start(r, "wipe")), contract.KindOutcomeUnknown)
	}
}

func TestADestructiveMessageIsSentAgainToAnAgentThatKnowsIt(t *testing.T) {
	for name, lie := range falseAnswers() {
		t.Run(name, func(t *testing.T) {
			seen := 0
			r := serveScript(t, withIdempotency(card10(false)), func(w http.ResponseWriter, in request) {
				if seen++; seen == 1 {
					lie(w, in)
					return
				}
				rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
			})
			reply := send(t, peers(t, peer.Options{}), destructive(start(r, "wipe")))
			same(t, "state", reply.State, contract.TaskCompleted)
		})
	}
}

func TestWhatAnAgentThatKnowsMessagesNeverAnsweredIsUnknown(t *testing.T) {
	r := serveScript(t, withIdempotency(card10(false)), hangUp)
	wantFailure(t, peers(t, peer.Options{}), destructive(start(r, "wipe")), contract.KindOutcomeUnknown)
	same(t, "messages", countSends(r), 3)
}

func TestADestructiveMessageThatIsRefusedUnreadHasFailed(t *testing.T) {
	for _, code := range []int{-32700, -32600, -32601, -32602, -32004} {
		r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) { rpc(w, in, map[string]any{"code": code, "message": "no"}) })
		wantFailure(t, peers(t, peer.Options{}), destructive(start(r, "wipe")), contract.KindPeerFailed)
		same(t, "messages", countSends(r), 1)
	}
}

func TestADestructiveMessageThatWasNotSentMayBeSentLater(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
	})
	p := peers(t, peer.Options{})
	send(t, p, start(r, "hello")) // so that its card is known
	r.Close()
	wantFailure(t, p, destructive(start(r, "wipe")), contract.KindPeerUnavailable)
}

func TestADestructiveMessageWhoseWorkerDiedIsNotSentAgain(t *testing.T) {
	for remembers, want := range map[bool]int{false: 0, true: 1} {
		card := card10(false)
		if remembers {
			card = withIdempotency(card)
		}
		r := serveScript(t, card, func(w http.ResponseWriter, in request) {
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
		})
		m := destructive(start(r, "wipe"))
		m.Repeated = true
		p := peers(t, peer.Options{})
		if remembers {
			send(t, p, m)
		} else {
			wantFailure(t, p, m, contract.KindOutcomeUnknown)
		}
		same(t, "messages", countSends(r), want)
	}
}

func TestAnApprovalIsToldOnce(t *testing.T) {
	for name, lie := range falseAnswers() {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
				if in.Method == "GetTask" {
					rpc(w, in, taskOf("TASK_STATE_INPUT_REQUIRED", "really?"))
					return
				}
				lie(w, in)
			})
			m := destructive(peer.Message{Peer: to(r), MessageID: "m2", TaskID: "t1", Decision: contract.Approved, Question: "really?"})
			wantFailure(t, peers(t, peer.Options{}), m, contract.KindOutcomeUnknown)
			same(t, "messages", countSends(r), 1)
		})
	}
}

func TestAnApprovalWhoseAnswerWasLostIsReadOffTheTask(t *testing.T) {
	told := false
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		switch {
		case in.Method != "GetTask":
			told = true
			hangUp(w, in)
		case told:
			rpc(w, in, taskOf("TASK_STATE_COMPLETED", "done"))
		default:
			rpc(w, in, taskOf("TASK_STATE_INPUT_REQUIRED", "really?"))
		}
	})
	m := destructive(peer.Message{Peer: to(r), MessageID: "m2", TaskID: "t1", Decision: contract.Approved, Question: "really?"})
	same(t, "state", send(t, peers(t, peer.Options{}), m).State, contract.TaskCompleted)
	same(t, "messages", countSends(r), 1)
}
