package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

// floodSize is the number of requests of each sort. For manual runs: -flood=100000.
var floodSize = flag.Int("flood", 50, "how often a flood sends each sort of request")

const (
	mostEvents = 10_000 // of a run
	mostBytes  = 4 << 20
)

// sort is a kind of request that any client may send to a conversation.
type sort struct {
	name string
	send func(a *api, id string, n int) (reply, error)
}

func a2aCall(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

// setHook returns a request that sets a webhook of a task.
func setHook(id, url, token string) string {
	return a2aCall("tasks/pushNotificationConfig/set", fmt.Sprintf(
		`{"taskId":%q,"pushNotificationConfig":{"id":"h","url":%q,"token":%q,"authentication":{"schemes":["Bearer"],"credentials":"s3cret"}}}`, id, url, token))
}

// messagesOf returns all kinds of requests that send a message.
func messagesOf(text string) []sort {
	way := func(name string, headers func(n int) string) sort {
		return sort{name, func(a *api, id string, n int) (reply, error) {
			return a.try("POST", "/conversations/"+id+"/messages", messageJSON(text), longToken, headers(n))
		}}
	}
	return []sort{
		way("message", func(int) string { return "Prefer: respond-async" }),
		way("message awaited", func(int) string { return "X-User: somebody" }),
		way("message awaited with a key", func(n int) string { return fmt.Sprint("Idempotency-Key: w", n%9) }),
		way("message streamed", func(int) string { return "Accept: text/event-stream" }),
	}
}

var messageSorts = messagesOf("x")

var sorts = append(slices.Clone(messageSorts), []sort{
	{"a2a message", func(a *api, id string, n int) (reply, error) {
		return a.raw("POST", "/a2a", a2aCall("message/send", fmt.Sprintf(
			`{"message":{"kind":"message","messageId":"m-%d","role":"user","taskId":%q,"parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":false}}`, n, id)), longToken)
	}},
	{"webhook that is not there", func(a *api, id string, n int) (reply, error) {
		return a.raw("POST", "/a2a", a2aCall("tasks/pushNotificationConfig/delete", fmt.Sprintf(`{"id":%q,"pushNotificationConfigId":"x-%d"}`, id, n)))
	}},
	{"answer of the wrong shape", func(a *api, id string, _ int) (reply, error) {
		list, err := a.try("GET", "/conversations/"+id+"?include=messages", "")
		if err != nil || list.Body.Conversation.PendingApproval == nil {
			return list, err
		}
		return a.try("POST", "/approvals/"+list.Body.Conversation.PendingApproval.UUID, `{"approved":"perhaps"}`, longToken)
	}},
}...)

// pour sends n requests, of each sort in turn and some concurrently, and counts the statuses.
func pour(t *testing.T, a *api, id string, n int, sorts ...sort) map[int]int {
	t.Helper()
	counts := map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for n := range next {
				r, err := sorts[n%len(sorts)].send(a, id, n)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				counts[r.Status]++
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return counts
}

// again returns a sort whose requests are all the same.
func again(content string) sort {
	return sort{"the same webhook", func(a *api, _ string, _ int) (reply, error) { return a.raw("POST", "/a2a", content) }}
}

// restingTrace waits until nothing runs in a workflow, and returns the trace of its run.
func restingTrace(t *testing.T, c client.Client, workflowID string) (last trace) {
	t.Helper()
	eventually(t, workflowID+" rests", func() bool {
		d, err := c.DescribeWorkflowExecution(context.Background(), workflowID, "")
		if err != nil {
			t.Fatal(err)
		}
		info := d.GetWorkflowExecutionInfo()
		before := last
		last = trace{info.GetHistoryLength(), info.GetHistorySizeBytes()}
		return last == before && d.GetPendingWorkflowTask() == nil && len(d.GetPendingActivities()) == 0
	})
	return last
}

func TestNothingThatAnybodySendsToAWaitingConversationWritesHistory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, api, b := h.notifying()
	api.http.Timeout = 0
	asked := api.ask(`call note_add {"name":"x"}`)
	id, uuid := asked.Conversation.ID, asked.Result.Approval.UUID
	webhook := newWebhook(t, 0)
	set := setHook(id, webhook.URL, "same")
	if r, err := api.raw("POST", "/a2a", set); err != nil || strings.Contains(r.Raw, `"error"`) {
		t.Fatal(r.Raw, err)
	}
	webhook.hears(t, "TASK")
	workflows := []string{contract.ConversationWorkflowID(id), contract.ApprovalWorkflowID(uuid), contract.PushWorkflowID(id)}
	all := slices.Concat([]sort{again(set)}, sorts)
	for _, s := range all {
		pourInVain(t, api, id, s, *floodSize, func() []trace { return tracesOf(t, b.Client, workflows) })
	}
	if got := api.decide(uuid, `{"approved":true}`); !strings.Contains(got.Result.Response, "added x") {
		t.Errorf("answer %+v", got.Result)
	}
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
}

func TestNothingThatAnybodySendsToAClosedConversationWritesHistory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	id := api.ask("hello").Conversation.ID
	api.want(200, "POST", "/conversations/"+id+"/close", "")
	for _, s := range sorts {
		pourInVain(t, api, id, s, *floodSize, func() []trace { return []trace{traceOf(t, p.Client, id)} })
	}
}

// perCall is the maximum number of requests during one call of a tool.
const perCall = 500

func TestNothingThatIsRefusedByARunningConversationWritesHistory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	api.http.Timeout = 0
	for _, s := range sorts {
		for sent := 0; sent < *floodSize; sent += perCall {
			id := h.busy(api)
			n := min(perCall, *floodSize-sent)
			pourInVain(t, api, id, s, n, func() []trace { return []trace{traceOf(t, p.Client, id)} })
			api.want(200, "POST", "/conversations/"+id+"/close", "")
		}
	}
}

// busy starts a conversation that makes a call, and whose queue is full.
func (h *home) busy(api *api) (id string) {
	h.t.Helper()
	id = conversationIn(api.do("POST", "/conversations", messageJSON("call slow_read {}"), "Prefer: respond-async").Header.Get("Location"))
	<-h.tools.entered
	for range contract.MaxQueued {
		api.want(202, "POST", "/conversations/"+id+"/messages", messageJSON("x"), longToken, "Prefer: respond-async")
	}
	eventually(h.t, "all have arrived", func() bool {
		return api.do("POST", "/conversations/"+id+"/messages", messageJSON("x"), "Prefer: respond-async").Status == 429
	})
	return id
}

// pourInVain sends n requests of a sort and requires that none is accepted, and that the
// histories do not change.
func pourInVain(t *testing.T, a *api, id string, s sort, n int, histories func() []trace) {
	t.Helper()
	before := histories()
	start := time.Now()
	counts := pour(t, a, id, n, s)
	t.Logf("%s: %v in %s", s.name, counts, time.Since(start).Round(time.Millisecond))
	if counts[http.StatusCreated]+counts[http.StatusAccepted] > 0 {
		t.Errorf("%s: some are accepted: %v", s.name, counts)
	}
	if after := histories(); !slices.Equal(before, after) {
		t.Errorf("%s: the histories grew: %+v, then %+v", s.name, before, after)
	}
}

// TestRecordRunsThatAreLeftEarly records a run that left its queue to the next run, and an
// approval that ignored many signals.
func TestRecordRunsThatAreLeftEarly(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.external(embedded.Options{LongHistory: 60})
	api, p := h.inside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	workflow := contract.ConversationWorkflowID(id)
	eventually(t, "a second run", func() bool {
		for range 5 {
			api.do("POST", "/conversations/"+id+"/messages", messageJSON("hello"), "Prefer: respond-async")
		}
		return len(runsOf(t, p.Client, workflow)) > 1
	})
	keep(t, p.Client, "queue-carried", workflow)
	asked := api.ask(`call note_add {"name":"x"}`)
	approval := contract.ApprovalWorkflowID(asked.Result.Approval.UUID)
	eventually(t, "a second run", func() bool {
		if err := p.Client.SignalWorkflow(context.Background(), approval, "", contract.SignalDecide, "perhaps"); err != nil {
			t.Fatal(err)
		}
		return len(runsOf(t, p.Client, approval)) > 1
	})
	keep(t, p.Client, "approval-left", approval)
	runs := runsOf(t, p.Client, approval)
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	keepRun(t, p.Client, "approval-continued", approval, runs[len(runs)-1])
}

func tracesOf(t *testing.T, c client.Client, workflows []string) (all []trace) {
	for _, id := range workflows {
		all = append(all, restingTrace(t, c, id))
	}
	return all
}

// checkAllRuns requires that no run of a workflow is long, and logs the longest.
func checkAllRuns(t *testing.T, c client.Client, workflowID string) (runs int) {
	t.Helper()
	var most trace
	all := runsOf(t, c, workflowID)
	for _, run := range all {
		d, err := c.DescribeWorkflowExecution(context.Background(), workflowID, run)
		if err != nil {
			t.Fatal(err)
		}
		info := d.GetWorkflowExecutionInfo()
		most.events, most.bytes = max(most.events, info.GetHistoryLength()), max(most.bytes, info.GetHistorySizeBytes())
	}
	t.Logf("%.20s: %d runs, at most %d events and %d KiB", workflowID, len(all), most.events, most.bytes>>10)
	if most.events > mostEvents || most.bytes > mostBytes {
		t.Errorf("%s has a run of %+v", workflowID, most)
	}
	return len(all)
}

// The queue is filled with accepted messages that have the largest headers.
func TestAFloodOfAcceptedMessagesKeepsRunsShort(t *testing.T) {
	h := newHome(t)
	_, client, b := h.notifying()
	client.http.Timeout = 0
	id := client.want(201, "POST", "/conversations", "").Conversation.ID
	long := strings.Repeat("x", contract.InlineLimit)
	s := sort{"accepted message", func(a *api, id string, _ int) (reply, error) {
		return a.raw("POST", "/conversations/"+id+"/messages", messageJSON("call note_list "+long), longToken, "Prefer: respond-async")
	}}
	accepted := 0
	for accepted < 2*max(*floodSize, 150) { // enough for several runs
		accepted += pour(t, client, id, 50, s)[202]
	}
	eventually(t, "all are answered", func() bool {
		d, err := b.Client.DescribeWorkflowExecution(context.Background(), contract.ConversationWorkflowID(id), "")
		return err == nil && d.GetPendingWorkflowTask() == nil && len(d.GetPendingActivities()) == 0 &&
			len(client.conversation(id).Messages) >= 2*accepted
	})
	checkAllRuns(t, b.Client, contract.ConversationWorkflowID(id))
	if n := len(client.conversation(id).Messages); n < 2*accepted {
		t.Errorf("%d messages, %d accepted", n, accepted)
	}
}

// Signals of operators and changes of webhooks reach workflows that may continue as new.
func TestSignalsThatDecideNothingKeepAnApprovalShort(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, api, b := h.notifying()
	asked := api.ask(`call note_add {"name":"x"}`)
	workflow := contract.ApprovalWorkflowID(asked.Result.Approval.UUID)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range max(*floodSize, 500) {
				if err := b.Client.SignalWorkflow(context.Background(), workflow, "", contract.SignalDecide, "perhaps"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	eventually(t, "another run", func() bool { return checkAllRuns(t, b.Client, workflow) > 1 })
	eventually(t, "all are counted", func() bool {
		var v contract.ApprovalView
		value, err := b.Client.QueryWorkflow(context.Background(), workflow, "", contract.QueryApproval)
		return err == nil && value.Get(&v) == nil && v.Ignored == 4*max(*floodSize, 500)
	})
	if list := api.do("GET", "/approvals", ""); !strings.Contains(list.Raw, asked.Result.Approval.UUID) || !strings.Contains(list.Raw, "note_add") {
		t.Errorf("the list does not know it any more: %s", list.Raw)
	}
	if got := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); !strings.Contains(got.Result.Response, "added x") {
		t.Errorf("answer %+v", got.Result)
	}
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
}

func TestAnApprovalInANewRunIsWithdrawnWithItsTurn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, api, b := h.notifying()
	asked := api.ask(`call note_add {"name":"x"}`)
	workflow := contract.ApprovalWorkflowID(asked.Result.Approval.UUID)
	eventually(t, "another run", func() bool {
		for range 100 {
			if err := b.Client.SignalWorkflow(context.Background(), workflow, "", contract.SignalDecide, "perhaps"); err != nil {
				t.Fatal(err)
			}
		}
		return len(runsOf(t, b.Client, workflow)) > 1
	})
	api.want(200, "POST", "/conversations/"+asked.Conversation.ID+"/cancel", `{"reason":"Enough."}`)
	if r := api.do("GET", "/approvals/"+asked.Result.Approval.UUID, ""); !strings.Contains(r.Raw, "cancelled") {
		t.Errorf("the approval: %s", r.Raw)
	}
}

func TestWebhooksThatChangeKeepRunsShort(t *testing.T) {
	h := newHome(t)
	_, client, b := h.notifying()
	asked := client.ask(`call note_add {"name":"x"}`)
	id := asked.Conversation.ID
	webhook := newWebhook(t, 0)
	if _, err := client.raw("POST", "/a2a", setHook(id, webhook.URL, "first")); err != nil {
		t.Fatal(err)
	}
	webhook.hears(t, "TASK")
	before := restingTrace(t, b.Client, contract.ConversationWorkflowID(id))
	s := sort{"another webhook", func(a *api, id string, n int) (reply, error) {
		return a.raw("POST", "/a2a", setHook(id, webhook.URL, fmt.Sprint(n, strings.Repeat("s", 4000))))
	}}
	pour(t, client, id, 2*max(*floodSize, 150), s)
	if after := restingTrace(t, b.Client, contract.ConversationWorkflowID(id)); after != before {
		t.Errorf("the conversation's history grew: %+v, then %+v", before, after)
	}
	checkAllRuns(t, b.Client, contract.PushWorkflowID(id))
	if got := client.decide(asked.Result.Approval.UUID, `{"approved":true}`); !strings.Contains(got.Result.Response, "added x") {
		t.Errorf("answer %+v", got.Result)
	}
}
