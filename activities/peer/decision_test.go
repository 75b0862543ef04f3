package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// askBeforeDelete is an executor that asks before it deletes, with a text and structured data.
func askBeforeDelete(_ context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
	if in.StoredTask == nil {
		say(status(in, a2a.TaskStateInputRequired, says("Delete it?"), a2a.NewDataPart(map[string]any{
			"type": contract.TypeApprovalRequest, "uuid": "u1", "tool": "delete", "arguments": map[string]any{"n": 12345678901234567}, "argumentsSha256": "abc",
			"description": "Deletes.", "reason": "destructive", "chain": []string{"writer", "deep"}, "accepts": "yes or no",
		})))
		return
	}
	heard, _ := json.Marshal(in.Message.Parts)
	say(a2a.NewArtifactEvent(in, says(string(heard))))
	if in.Message.Parts[0].Text() == "approved" {
		say(status(in, a2a.TaskStateCompleted))
		return
	}
	say(status(in, a2a.TaskStateCanceled))
}

// verdict returns the answer to a reply's question.
func verdict(r *remote, reply peer.Reply, d contract.Decision) peer.Message {
	m := peer.Message{Peer: to(r), MessageID: "m2", TaskID: reply.TaskID, ContextID: reply.ContextID, Decision: d}
	if reply.Asked != nil {
		m.Asked = &contract.Origin{UUID: reply.Asked.UUID}
	}
	return m
}

func TestADecisionIsAWordAndDataForPrograms(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		for d, state := range map[contract.Decision]contract.TaskState{contract.Approved: contract.TaskCompleted, contract.Rejected: contract.TaskCanceled} {
			r := serveLibrary(t, f, askBeforeDelete)
			p := peersWithPauses(t)
			asked := send(t, p, start(r, "delete"))
			same(t, "state", asked.State, contract.TaskInputRequired)
			same(t, "text", asked.Text, "Deletes.")
			m := verdict(r, asked, d)
			m.By, m.Reason, m.Content = "alice", "because", json.RawMessage(`{"n":12345678901234567}`)
			reply := send(t, p, m)
			same(t, "state", reply.State, state)
			var parts []map[string]any
			if err := json.Unmarshal([]byte(reply.Text), &parts); err != nil || len(parts) != 2 {
				t.Fatalf("heard %s", reply.Text)
			}
			same(t, "word", parts[0]["text"], any(string(d)))
			data, _ := json.Marshal(parts[1]["data"])
			contains(t, string(data), `"type":"agent-stop-and-go/approval-answer"`, `"uuid":"u1"`, fmt.Sprintf(`"approved":%v`, d == contract.Approved), `"by":"alice"`, `"reason":"because"`, `"content":{"n":1234567890123456`)
		}
	})
}

func TestWhatATaskAsksKeepsItsDigits(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, _ request) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"Sure?"},`+
			`{"data":{"type":"agent-stop-and-go/approval-request","uuid":"u1","tool":"delete","arguments":{"n": 12345678901234567.10},"chain":["writer","deep"],"reason":"question","schema":{"type":"object"}}}]}}}}}`)
	})
	a := send(t, peers(t, peer.Options{}), start(r, "delete")).Asked
	if a == nil {
		t.Fatal("nothing asked")
	}
	same(t, "arguments", string(a.Arguments), `{"n":12345678901234567.10}`)
	same(t, "request", fmt.Sprint(a.UUID, a.Tool, a.Chain, a.Reason, string(a.Schema)), `u1delete[writer deep]question{"type":"object"}`)
}

func TestContentIsSentDigitForDigit(t *testing.T) {
	for name, card := range map[string]any{"1.0": card10(false), "0.3": card03(false)} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, card, func(w http.ResponseWriter, in request) {
				if strings.Contains(in.Method, "et") { // GetTask, tasks/get
					rpc(w, in, taskOf("TASK_STATE_INPUT_REQUIRED", "?"))
					return
				}
				rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
			})
			m := verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved)
			m.Asked, m.Content = &contract.Origin{UUID: "u1"}, json.RawMessage(`{"n":12345678901234567.10}`)
			send(t, peers(t, peer.Options{}), m)
			params := string(r.requests()[1].Params)
			contains(t, params, `"content":{"n":12345678901234567.10}`, `"taskId":"t1"`, `"contextId":"c1"`, `"messageId":"m2"`)
			if strings.Contains(params, "data_part_compat") {
				t.Errorf("wrapped: %s", params)
			}
		})
	}
}

func TestADecisionThatIsSentTwiceActsOnce(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		var turns atomic.Int32
		r := serveLibrary(t, f, func(ctx context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
			turns.Add(1)
			askBeforeDelete(ctx, in, say)
		})
		p := peersWithPauses(t)
		m := verdict(r, send(t, p, start(r, "delete")), contract.Approved)
		for range 3 {
			same(t, "state", send(t, p, m).State, contract.TaskCompleted)
		}
		same(t, "turns", turns.Load(), 2)
	})
}

func TestADecisionIsNotSentToAnotherQuestion(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		r := serveLibrary(t, f, askBeforeDelete)
		p := peersWithPauses(t)
		m := verdict(r, send(t, p, start(r, "delete")), contract.Approved)
		m.Asked.UUID = "u0"
		reply := send(t, p, m)
		same(t, "state", reply.State, contract.TaskInputRequired)
		same(t, "asked", reply.Asked.UUID, "u1")
	})
}

func TestADecisionThatTheAgentIsAtWorkOnIsWaitedFor(t *testing.T) {
	looks := 0
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		if looks++; looks < 3 {
			rpc(w, in, taskOf("TASK_STATE_WORKING", ""))
			return
		}
		rpc(w, in, taskOf("TASK_STATE_COMPLETED", "done"))
	})
	same(t, "text", send(t, peers(t, peer.Options{}), verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved)).Text, "done")
	same(t, "asked", r.calledMethods(), []string{"GetTask", "GetTask", "GetTask"})
}

// openRefusing starts an agent that refuses messages. Reading the task returns the states in
// turn.
func openRefusing(t *testing.T, code int, states ...string) *remote {
	looks := 0
	return serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		if in.Method != "GetTask" {
			rpc(w, in, map[string]any{"code": code, "message": "no"})
			return
		}
		rpc(w, in, taskOf(states[min(looks, len(states)-1)], "said"))
		looks++
	})
}

func TestAnAnswerThatIsRefusedGivesTheTrueState(t *testing.T) {
	const waits = "TASK_STATE_INPUT_REQUIRED"
	for _, code := range []int{-32004, -32002, -32602, -32001, -32600, -32603} {
		for after, want := range map[string]contract.TaskState{
			"TASK_STATE_COMPLETED": contract.TaskCompleted, "TASK_STATE_CANCELED": contract.TaskCanceled, "TASK_STATE_FAILED": contract.TaskFailed,
		} {
			r := openRefusing(t, code, waits, after)
			reply := send(t, peers(t, peer.Options{}), verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved))
			same(t, "state", reply.State, want)
		}
		r := openRefusing(t, code, waits)
		f := wantFailure(t, peers(t, peer.Options{}), verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved), contract.KindPeerFailed)
		contains(t, f.Message, fmt.Sprint(code))
	}
	r := openRefusing(t, -32004, waits, "TASK_STATE_WORKING", "TASK_STATE_COMPLETED")
	reply := send(t, peers(t, peer.Options{}), verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved))
	same(t, "went on", reply.State, contract.TaskCompleted)
}

func TestATaskIsCancelled(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		r := serveLibrary(t, f, askBeforeDelete)
		p := peersWithPauses(t)
		asked := send(t, p, start(r, "delete"))
		m := peer.Message{Peer: to(r), MessageID: "m2", TaskID: asked.TaskID, Cancel: true}
		same(t, "state", send(t, p, m).State, contract.TaskCanceled)
		same(t, "again", send(t, p, m).State, contract.TaskCanceled)
	})
}

func TestATaskThatIsOverNeedsNoCancelling(t *testing.T) {
	r := openRefusing(t, -32002, "TASK_STATE_COMPLETED")
	m := peer.Message{Peer: to(r), TaskID: "t1", Cancel: true}
	same(t, "state", send(t, peers(t, peer.Options{}), m).State, contract.TaskCompleted)
	r = openRefusing(t, -32002, "TASK_STATE_WORKING")
	m.Peer = to(r)
	wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerFailed)
}

func TestAnAnswerThatIsDealtWithForLongIsAtWork(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		s := slowWork{make(chan struct{})}
		r := serveLibrary(t, f, func(ctx context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
			if in.StoredTask == nil {
				say(status(in, a2a.TaskStateInputRequired, says("Sure?")))
				return
			}
			s.work(ctx, in, say)
		})
		asked := send(t, peersWithPauses(t), start(r, "delete"))
		m := verdict(r, asked, contract.Approved)
		var hasty peer.Reply
		withLongerWaits(t, func(p *peer.Peers) bool {
			hasty, _ = p.Send(t.Context(), m)
			return hasty.State != ""
		})
		same(t, "state", hasty.State, contract.TaskWorking)
		close(s.free)
		same(t, "in the end", send(t, peersWithPauses(t), m).Text, "at last")
	})
}
