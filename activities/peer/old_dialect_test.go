package peer_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// cardOld is a card as the old system served it.
var cardOld = map[string]any{
	"name": "old", "description": "Old.", "url": "http://0.0.0.0:8080",
	"skills": []any{map[string]any{"id": "resources_list", "name": "resources_list", "description": "Lists."}},
}

func oldTask(state, said, made string) map[string]any {
	task := map[string]any{"id": "t1", "status": map[string]any{"state": state, "message": said}}
	if made != "" {
		task["artifact"] = map[string]any{"parts": []any{map[string]any{"type": "text", "text": made}}}
	}
	return task
}

// replies starts an agent that answers the requests of each method in turn and repeats the last
// answer. An answer that is not a map is a completed task.
func replies(t *testing.T, card any, script map[string][]any) *remote {
	at := map[string]int{}
	return serveScript(t, card, func(w http.ResponseWriter, in request) {
		answers := script[in.Method]
		if len(answers) == 0 {
			rpc(w, in, map[string]any{"code": -32601, "message": "Method not found"})
			return
		}
		i := min(at[in.Method], len(answers)-1)
		at[in.Method]++
		if act, ok := answers[i].(func(http.ResponseWriter)); ok {
			act(w)
			return
		}
		rpc(w, in, answers[i])
	})
}

func lose(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func withStatus(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if len(header) == 2 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
	}
}

func TestTheOldDialect(t *testing.T) {
	for name, card := range map[string]any{"its card": cardOld, "no card": nil} {
		t.Run(name, func(t *testing.T) {
			r := replies(t, card, map[string][]any{"message/send": {oldTask("completed", "", "done")}})
			m := start(r, "do it")
			m.Bearer, m.SessionID, m.ContextID, m.Chain = "t0ken", "sid", "c1", []string{"boss"}
			reply := send(t, peers(t, peer.Options{}), m)
			same(t, "reply", reply, peer.Reply{State: contract.TaskCompleted, TaskID: "t1", Text: "done"})
			in := r.requests()[0]
			same(t, "params", string(in.Params), `{"message":{"role":"user","parts":[{"type":"text","text":"do it"}]}}`)
			same(t, "headers", headers(in), "Bearer t0ken  sid")
			var id int
			if _, err := fmt.Sscanf(string(in.ID), "%d", &id); err != nil {
				t.Errorf("id %s: %v", in.ID, err)
			}
		})
	}
}

func TestTheOldDialectAsksAndIsAnswered(t *testing.T) {
	waits := oldTask("input-required", "Approval required (id: u1): delete", "the same")
	for word, d := range map[string]contract.Decision{"approved": contract.Approved, "rejected": contract.Rejected} {
		r := replies(t, cardOld, map[string][]any{"message/send": {waits, oldTask("completed", "", "done")}, "tasks/get": {waits}})
		p := peers(t, peer.Options{})
		asked := send(t, p, start(r, "delete"))
		same(t, "asked", fmt.Sprint(asked.State, asked.Text), "input-requiredApproval required (id: u1): delete")
		m := verdict(r, asked, d)
		m.Reason = "because"
		same(t, "text", send(t, p, m).Text, "done")
		same(t, "params", string(r.requests()[2].Params), fmt.Sprintf(`{"taskId":"t1","message":{"role":"user","parts":[{"type":"text","text":%q}]}}`, word))
	}
}

func TestTheOldDialectSendsNothingTwice(t *testing.T) {
	for name, tt := range map[string]struct {
		answer any
		kind   contract.Kind
		text   string
	}{
		"lost":         {lose, contract.KindPeerFailed, "outcome is unknown"},
		"broken":       {withStatus(500), contract.KindPeerFailed, "outcome is unknown"},
		"not now":      {withStatus(503), contract.KindPeerFailed, "outcome is unknown"},
		"not now, but": {withStatus(503, "Retry-After", "5"), contract.KindPeerUnavailable, "503"},
		"too many":     {withStatus(429), contract.KindPeerUnavailable, "429"},
		"no JSON":      {func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") }, contract.KindPeerFailed, "outcome is unknown"},
		"nothing":      {func(http.ResponseWriter) {}, contract.KindPeerFailed, "outcome is unknown"},
		"an error":     {map[string]any{"code": -32603, "message": "boom"}, contract.KindPeerFailed, "agent writer: error -32603: boom"},
		"not now, in JSON-RPC": {map[string]any{"code": -32000, "message": "no answer", "data": []any{map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}}},
			contract.KindPeerFailed, "agent writer: error -32000: no answer"},
		"no such page":     {withStatus(404), contract.KindPeerFailed, "404"},
		"nothing it knows": {map[string]any{"code": -32602, "message": "No text part in message"}, contract.KindPeerFailed, "No text part"},
	} {
		t.Run(name, func(t *testing.T) {
			if f, ok := tt.answer.(func(http.ResponseWriter)); ok {
				tt.answer = f
			}
			r := replies(t, cardOld, map[string][]any{"message/send": {tt.answer}})
			f := wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), tt.kind)
			contains(t, f.Message, tt.text)
		})
	}
}

func TestTheOldDialectGivesUpAfterItsOwnTime(t *testing.T) {
	done := make(chan struct{})
	r := serveScript(t, cardOld, func(http.ResponseWriter, request) { <-done })
	t.Cleanup(func() { close(done) })
	var err error
	withLongerWaits(t, func(p *peer.Peers) bool {
		_, err = p.Send(t.Context(), start(r, "hello"))
		return len(r.calledMethods()) > 0
	})
	contains(t, failed(t, err, contract.KindPeerFailed).Message, "no answer in time", "outcome is unknown")
}

func TestTheOldDialectThatWasNotReachedMayBeTriedAgain(t *testing.T) {
	r := replies(t, cardOld, map[string][]any{"message/send": {oldTask("completed", "", "done")}})
	p := peers(t, peer.Options{})
	send(t, p, start(r, "hello"))
	r.Close()
	wantFailure(t, p, start(r, "hello"), contract.KindPeerUnavailable)
}

func TestALostAnswerToTheOldDialectIsLookedFor(t *testing.T) {
	waits := oldTask("input-required", "Sure?", "")
	for name, tt := range map[string]struct {
		after any
		state contract.TaskState
	}{
		"it was heard":     {oldTask("completed", "", "done"), contract.TaskCompleted},
		"it still asks":    {waits, ""},
		"it is gone":       {lose, ""},
		"it was forgotten": {map[string]any{"code": -32602, "message": "Task not found: t1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := replies(t, cardOld, map[string][]any{"message/send": {lose}, "tasks/get": {waits, tt.after}})
			m := verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved)
			if tt.state == "" {
				wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerFailed)
				return
			}
			same(t, "state", send(t, peers(t, peer.Options{}), m).State, tt.state)
		})
	}
}

func TestTheOldDialectIsToldNothingThatItDoesNotWaitFor(t *testing.T) {
	r := replies(t, cardOld, map[string][]any{"tasks/get": {oldTask("completed", "", "done")}})
	p := peers(t, peer.Options{})
	for _, m := range []peer.Message{
		verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved), {Peer: to(r), TaskID: "t1", Cancel: true}, {Peer: to(r), TaskID: "t1"},
	} {
		same(t, "state", send(t, p, m).State, contract.TaskCompleted)
	}
	same(t, "asked", r.calledMethods(), []string{"tasks/get", "tasks/get", "tasks/get"})
}

func TestTheOldDialectIsCancelledByARejection(t *testing.T) {
	r := replies(t, cardOld, map[string][]any{"tasks/get": {oldTask("input-required", "Sure?", "")}, "message/send": {oldTask("completed", "", "Operation cancelled")}})
	reply := send(t, peers(t, peer.Options{}), peer.Message{Peer: to(r), TaskID: "t1", Cancel: true})
	same(t, "state", reply.State, contract.TaskCanceled)
	contains(t, string(r.requests()[1].Params), `"rejected"`)
	r = replies(t, cardOld, map[string][]any{"tasks/get": {oldTask("working", "", "")}})
	reply = send(t, peers(t, peer.Options{}), peer.Message{Peer: to(r), TaskID: "t1", Cancel: true})
	same(t, "at work", reply.State, contract.TaskCanceled)
	same(t, "asked", r.calledMethods(), []string{"tasks/get"})
}

func TestAGuessThatIsNotUnderstoodIsFollowedByOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		flavour flavour
		asked   []string
	}{
		"1.0": {flavours["1.0"], []string{"message/send", "SendMessage", "SendMessage"}},
		"0.3": {flavours["0.3"], []string{"message/send", "SendMessage", "message/send", "message/send"}},
	} {
		t.Run(name, func(t *testing.T) {
			lib := serveLibrary(t, tt.flavour, askBeforeDelete)
			r := serve(t, nil, lib.Config.Handler)
			p := peers(t, peer.Options{})
			same(t, "state", send(t, p, start(r, "hello")).State, contract.TaskInputRequired)
			same(t, "again", send(t, p, start(r, "hello")).State, contract.TaskInputRequired)
			same(t, "sent", sentMethods(r), tt.asked)
		})
	}
}

func TestAProtocolMayBeSaid(t *testing.T) {
	lib := serveLibrary(t, flavours["0.3"], askBeforeDelete)
	r := serve(t, nil, lib.Config.Handler)
	p := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: to(r).URL, Protocol: peer.V03}}})
	send(t, p, start(r, "hello"))
	same(t, "sent", sentMethods(r), []string{"message/send"})
}

// sentMethods returns the called methods, without those that read tasks.
func sentMethods(r *remote) []string {
	return slices.DeleteFunc(r.calledMethods(), func(method string) bool { return method == "GetTask" || method == "tasks/get" })
}
