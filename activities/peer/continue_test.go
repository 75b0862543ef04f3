package peer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
)

// TestATaskContinuesAnotherInItsContext has an agent made with the official library, which keeps
// the contexts by itself.
func TestATaskContinuesAnotherInItsContext(t *testing.T) {
	eachFlavour(t, func(t *testing.T, f flavour) {
		r := serveLibrary(t, f, func(_ context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event)) {
			say(status(in, a2a.TaskStateWorking))
			say(a2a.NewArtifactEvent(in, says(fmt.Sprint(in.ContextID, in.Message.ReferenceTasks))))
			say(status(in, a2a.TaskStateCompleted))
		})
		p := peers(t, peer.Options{})
		first := send(t, p, start(r, "write"))
		second := start(r, "shorter")
		second.MessageID, second.Continues = "m2", &delegation.Point{ContextID: first.ContextID, TaskID: first.TaskID}
		again := send(t, p, second)
		same(t, "text", again.Text, fmt.Sprintf("%s[%s]", first.ContextID, first.TaskID))
		same(t, "context", again.ContextID, first.ContextID)
		same(t, "anew", again.Anew, false)
		if again.TaskID == first.TaskID {
			t.Error("it is the same task")
		}
	})
}

// TestATaskBeginsAnewWhereTheEarlierOneIsForgotten counts what the agent carries out: the message
// that it refuses is none of it.
func TestATaskBeginsAnewWhereTheEarlierOneIsForgotten(t *testing.T) {
	for name, destroys := range map[string]bool{"destructive": true, "harmless": false} {
		for _, code := range []int{-32001, -32602, -32004} {
			t.Run(fmt.Sprint(name, code), func(t *testing.T) {
				var messages []string
				r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
					messages = append(messages, string(in.Params))
					if strings.Contains(string(in.Params), "referenceTaskIds") {
						rpc(w, in, map[string]any{"code": code, "message": "no such task"})
						return
					}
					rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
				})
				m := start(r, "shorter")
				m.Destructive, m.Continues = destroys, &delegation.Point{ContextID: "c1", TaskID: "t1"}
				reply := send(t, peers(t, peer.Options{}), m)
				same(t, "text", reply.Text, "done")
				same(t, "anew", reply.Anew, true)
				if len(messages) != 2 || strings.Contains(messages[1], "c1") || strings.Contains(messages[1], `"m1"`) {
					t.Errorf("sent: %s", messages)
				}
			})
		}
	}
}

// TestATaskThatIsLostAfterItsStartIsNotBegunAgain has an agent that takes the message and then
// knows nothing of its task.
func TestATaskThatIsLostAfterItsStartIsNotBegunAgain(t *testing.T) {
	sent := 0
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		if in.Method == "SendMessage" {
			sent++
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")})
			return
		}
		rpc(w, in, map[string]any{"code": -32001, "message": "no such task"})
	})
	m := start(r, "shorter")
	m.Continues = &delegation.Point{ContextID: "c1", TaskID: "t1"}
	wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerFailed)
	same(t, "messages", sent, 1)
}
