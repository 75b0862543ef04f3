package e2e_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

// trace has the size of a run's history.
type trace struct{ events, bytes int64 }

func traceOf(t *testing.T, c client.Client, id string) trace {
	t.Helper()
	d, err := c.DescribeWorkflowExecution(context.Background(), contract.ConversationWorkflowID(id), "")
	if err != nil {
		t.Fatal(err)
	}
	return trace{d.GetWorkflowExecutionInfo().GetHistoryLength(), d.GetWorkflowExecutionInfo().GetHistorySizeBytes()}
}

var longToken = "Authorization: Bearer " + strings.Repeat("t", contract.MaxToken)

func TestARunningConversationQueues64Messages(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	id := conversationIn(api.do("POST", "/conversations", messageJSON("call slow_read {}"), "Prefer: respond-async").Header.Get("Location"))
	<-h.tools.entered
	accepted, refused := 0, 0
	var last reply
	for range contract.MaxQueued + 16 { // while the tool waits, for at most half a minute
		switch r := api.do("POST", "/conversations/"+id+"/messages", messageJSON("x"), longToken, "Prefer: respond-async"); r.Status {
		case 202:
			accepted++
		case 429:
			refused++
			last = r
		default:
			t.Fatalf("status %d: %s", r.Status, r.Raw)
		}
	}
	if accepted != contract.MaxQueued || last.Header.Get("Retry-After") == "" || !strings.Contains(last.Body.Error, "64") {
		t.Errorf("%d accepted, %d refused: %s", accepted, refused, last.Raw)
	}
	if after := traceOf(t, p.Client, id); after.bytes > 4<<20 || after.events > 10_000 {
		t.Errorf("history %+v", after)
	}
	api.want(200, "POST", "/conversations/"+id+"/cancel", "")
}

// conversationIn returns the conversation ID in the path of a request.
func conversationIn(path string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(path, "/conversations/"), "/")
	return id
}

// Await uses updates of a run that cannot continue as new. When the run has no updates left,
// answers are read.
func TestADecisionIsAnsweredWhenARunHasHadAllItsUpdates(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`)
	id := asked.Conversation.ID
	request := contract.NameUUID(id, "signalled by hand")
	if err := p.Client.SignalWorkflow(context.Background(), contract.ConversationWorkflowID(id), "", contract.SignalMessage,
		contract.MessageSignal{RequestID: request, Text: contract.Inline("x")}); err != nil {
		t.Fatal(err)
	}
	exhaust(t, p.Client, id, request)
	if got := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); !strings.Contains(got.Result.Response, "added x") {
		t.Errorf("answer %+v", got.Result)
	}
}

// exhaust uses up all the updates of a run. One may fail for another reason, when a step of
// the workflow takes too long: then the next one is tried.
func exhaust(t *testing.T, c client.Client, id, request string) {
	t.Helper()
	var spent atomic.Bool
	var last atomic.Value
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n := 0; n < 1000 && !spent.Load(); n++ {
				err := awaitOnce(c, id, request)
				var limit *serviceerror.FailedPrecondition
				if errors.As(err, &limit) {
					spent.Store(true)
				} else if err != nil {
					last.Store(err.Error())
				}
			}
		})
	}
	all.Wait()
	if !spent.Load() {
		t.Fatalf("the run may have more updates: %v", last.Load())
	}
}

func awaitOnce(c client.Client, id, request string) error {
	handle, err := c.UpdateWorkflow(context.Background(), client.UpdateWorkflowOptions{
		WorkflowID: contract.ConversationWorkflowID(id), UpdateName: contract.UpdateAwaitSettled,
		Args: []any{contract.AwaitInput{RequestIDs: []string{request}}}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(context.Background(), nil)
}

func TestAReplyOfTooManyCallsHarmsNoConversation(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	for _, task := range []string{"both look" + strings.Repeat(",look", 2499), "call " + strings.Repeat("n", 200_000) + " {}"} {
		asked := api.ask(task)
		if !strings.Contains(asked.Result.Response, "Nothing of this reply was carried out") { // the text that the model reads
			t.Errorf("answer: %.300s", asked.Result.Response)
		}
		if got := api.say(asked.Conversation.ID, "hello").Result.Response; got != "You said: hello" {
			t.Errorf("next answer: %.300s", got)
		}
	}
	if n := len(h.tools.called("look")); n != 0 {
		t.Errorf("%d calls", n)
	}
	if list := api.want(200, "GET", "/conversations?include=messages", "").Conversations; len(list) != 2 {
		t.Errorf("%d conversations are listed", len(list))
	}
}

// Signals that bypass the gateway are limited by the workflow's own bound.
func TestRecordAFullQueue(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	id := conversationIn(api.do("POST", "/conversations", messageJSON("call slow_read {}"), "Prefer: respond-async").Header.Get("Location"))
	<-h.tools.entered
	workflow := contract.ConversationWorkflowID(id)
	for range contract.MaxQueued + 2 {
		if err := p.Client.SignalWorkflow(context.Background(), workflow, "", contract.SignalMessage, "x"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "two are refused", func() bool {
		value, err := p.Client.QueryWorkflow(context.Background(), workflow, "", contract.QueryConversation)
		var view contract.ConversationView
		return err == nil && value.Get(&view) == nil && view.Queued == contract.MaxQueued && view.Refused == 2
	})
	api.want(200, "POST", "/conversations/"+id+"/close", "")
	keep(t, p.Client, "full-queue", workflow)
}
