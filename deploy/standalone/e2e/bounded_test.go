package e2e_test

import (
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/workflows/contract"
)

const historyLimit = 4 << 20

// checkRuns requires that no run of a conversation has a long history.
func checkRuns(t *testing.T, c client.Client, id string) (runs int) {
	t.Helper()
	workflow := contract.ConversationWorkflowID(id)
	all := runsOf(t, c, workflow)
	for _, run := range all {
		size := proto.Size(historyOf(t, c, workflow, run))
		t.Logf("run %s: %d KiB", run, size>>10)
		if size > historyLimit {
			t.Errorf("run %s has a history of %d bytes", run, size)
		}
	}
	return len(all)
}

func TestOneTurnOf500CallsWithLargeResults(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "max_tool_rounds: 600\nrequest_timeout: 10m\n"
	h.model.KeepRequests(false)
	api, p := h.whole()
	api.http.Timeout = 0
	asked := api.ask("repeat 500 big")
	if asked.Result.Response != "called 500 times" {
		t.Fatalf("answer: %+v", asked.Result)
	}
	if n := len(h.tools.called("big")); n != 500 {
		t.Errorf("%d calls", n)
	}
	messages := api.conversation(asked.Conversation.ID).Messages
	if len(messages) != 3+2*500 {
		t.Fatalf("%d messages", len(messages))
	}
	whole := strings.Repeat("0123456789abcdef", 20<<10/16)
	for i, m := range messages {
		if m.Role == "tool" && m.ToolCall.Result != whole {
			t.Fatalf("message %d holds a result of %d bytes, want %d", i, len(m.ToolCall.Result), len(whole))
		}
	}
	checkRuns(t, p.Client, asked.Conversation.ID)
}

func TestAConversationOf1000Turns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.model.KeepRequests(false)
	api, p := h.whole()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	for range 1000 {
		api.say(id, "hello")
	}
	messages := api.conversation(id).Messages
	if len(messages) != 1+2*1000 {
		t.Fatalf("%d messages", len(messages))
	}
	if runs := checkRuns(t, p.Client, id); runs < 2 {
		t.Errorf("the conversation never continued as new")
	}
}
