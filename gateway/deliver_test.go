package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// foreseeing answers every admission with a refusal.
func foreseeing(kind contract.Kind, text string) func(string, contract.ConversationQuery) (contract.ConversationView, error) {
	return func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
		view := viewOf(id)
		view.Request = &contract.Request{
			ID: q.RequestID, Settled: true, Predicted: true, Refused: kind, Result: &contract.Result{Response: contract.Inline(text)},
		}
		return view, nil
	}
}

func TestARefusedSignalIsNotSent(t *testing.T) {
	for _, c := range []struct {
		kind   contract.Kind
		status int
		says   string
	}{
		{contract.KindWaiting, 409, "waiting for approval"},
		{contract.KindCompleted, 409, "completed"},
		{contract.KindBusy, 429, "at most 64"},
		{contract.KindInvalid, 400, "at most 64"},
		{contract.KindTooLarge, 413, "at most 64"},
	} {
		for _, prefer := range []string{"Prefer: wait", "Prefer: respond-async"} {
			a := newAPI(t, &fakeBackend{AdmitFn: foreseeing(c.kind, "at most 64")})
			reply := a.do("POST", messages, `{"message":"x"}`, prefer)
			a.wantError(c.status, c.says, reply)
			if got := reply.header.Get("Retry-After"); (got != "") != (c.status == 429) {
				t.Errorf("%s: Retry-After %q", c.kind, got)
			}
		}
	}
}

// Only the answer to a message shows that the conversation is ready for the next one, and
// only once.
func TestAMessageAfterAnAnswerIsSentWithoutAsking(t *testing.T) {
	var steps []string
	waits := false
	a := newAPI(t, &fakeBackend{
		AdmitFn: func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
			steps = append(steps, "ask")
			return foreseeing(contract.KindWaiting, "")(id, q)
		},
		SignalFn: func(string, string, any) error { steps = append(steps, "send"); return nil },
		AwaitFn: func(ctx context.Context, id string, requests []string) (contract.AwaitResult, error) {
			result, err := answering("ok")(ctx, id, requests)
			if waits {
				result.Conversation.Pending = []contract.PendingApproval{{UUID: someUUID}}
			}
			return result, err
		},
		StartFn:        func(service.StartInput) (service.StartResult, error) { return service.StartResult{}, nil },
		ConversationFn: showing,
	})
	id := a.want(201, a.do("POST", "/conversations", "")).text("conversation", "id")
	say := func(status int, want ...string) {
		t.Helper()
		steps = nil
		a.want(status, a.do("POST", "/conversations/"+id+"/messages", `{"message":"x"}`))
		if !slices.Equal(steps, want) {
			t.Errorf("%q, expected %q", steps, want)
		}
	}
	say(200, "send")
	waits = true
	say(200, "send") // and this one opens an approval
	say(409, "ask")
	say(409, "ask")
	a.do("POST", "/conversations", "") // idle, but another conversation
	say(409, "ask")
	waits = false
	again := a.want(201, a.do("POST", "/conversations", "")).text("conversation", "id")
	steps = nil
	a.want(409, a.do("POST", "/conversations/"+again+"/messages", `{"message":"x"}`, "Idempotency-Key: k"))
	if !slices.Equal(steps, []string{"ask"}) {
		t.Errorf("a message that may be a repetition: %q", steps)
	}
}

func TestARepeatedRequestGetsItsFirstAnswer(t *testing.T) {
	a := newAPI(t, &fakeBackend{AdmitFn: func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
		view := viewOf(id)
		view.Request = &contract.Request{ID: q.RequestID, Settled: true, Result: &contract.Result{Response: contract.Inline("first")}}
		return view, nil
	}})
	for _, path := range []string{"/messages", "/cancel", "/close"} {
		body := map[string]string{"/messages": `{"message":"x"}`}[path]
		reply := a.want(200, a.do("POST", "/conversations/"+someID+path, body, "Idempotency-Key: k"))
		if reply.text("result", "response") != "first" {
			t.Error(path, reply.raw)
		}
	}
}

func TestAConversationIsAskedAboutOneMessageAtATime(t *testing.T) {
	var mu sync.Mutex
	inside, most := 0, 0
	enter := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		inside += n
		most = max(most, inside)
	}
	a := newAPI(t, &fakeBackend{AwaitFn: answering("ok")})
	a.backend.AdmitFn = func(id string, _ contract.ConversationQuery) (contract.ConversationView, error) {
		enter(1)
		return viewOf(id), nil
	}
	a.backend.SignalFn = func(string, string, any) error { enter(-1); return nil }
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() { a.want(200, a.do("POST", messages, `{"message":"x"}`)) })
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d at a time", most)
	}
}

func TestTooManyConcurrentRequestsAreRefused(t *testing.T) {
	proceed := make(chan bool)
	a := newAPI(t, &fakeBackend{AwaitFn: answering("ok"), SignalFn: func(string, string, any) error { return nil }})
	a.backend.AdmitFn = func(id string, _ contract.ConversationQuery) (contract.ConversationView, error) {
		<-proceed
		return viewOf(id), nil
	}
	replies := make(chan reply, 2*contract.MaxOpenRequests)
	for range cap(replies) {
		go func() { replies <- a.do("POST", messages, `{"message":"x"}`) }()
	}
	for range contract.MaxOpenRequests { // the others wait
		a.wantError(429, "64 for one conversation", <-replies)
	}
	close(proceed)
	for range contract.MaxOpenRequests {
		a.want(200, <-replies)
	}
}

func TestALongTokenIsRefusedEverywhere(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	long := "Authorization: Bearer " + strings.Repeat("x", contract.MaxToken+1)
	for _, r := range [][3]string{
		{"POST", messages, `{"message":"x"}`}, {"POST", "/conversations", `{}`}, {"POST", "/approvals/" + someUUID, `{"approved":true}`},
		{"POST", "/ag-ui", `{}`}, {"POST", "/a2a", `{}`},
	} {
		if reply := a.do(r[0], r[1], r[2], long); reply.status != 413 || !strings.Contains(reply.raw, "16384") {
			t.Errorf("%s: status %d: %s", r[1], reply.status, reply.raw)
		}
	}
}

func TestAMessageOfManyPartsIsRefused(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	part := `{"type":"text","text":"x"}`
	run := `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":[` + part + strings.Repeat(","+part, contract.MaxParts) + `]}]}`
	a.wantError(413, "the limit is 100", a.do("POST", "/ag-ui", run))
}

func TestWithoutAWorkerTheServersDataAdmitASignal(t *testing.T) {
	described := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
	c := &fakeClient{
		QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			return nil, serviceerror.NewFailedPrecondition("no poller seen for task queue recently")
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return described, nil },
	}
	sent := 0
	c.SignalFn = func(string, string, any) error { sent++; return nil }
	a := onTemporal(t, c)
	a.want(202, a.do("POST", messages, `{"message":"x"}`, "Prefer: respond-async"))
	described.WorkflowExecutionInfo.HistoryLength = 2_000
	a.wantError(503, "", a.do("POST", messages, `{"message":"x"}`, "Prefer: respond-async"))
	if sent != 1 {
		t.Errorf("%d signals", sent)
	}
}

// The error text is that of server version 1.32.
func TestAnswersAreReadWhenARunHasNoUpdatesLeft(t *testing.T) {
	reads, asked := 0, 0
	a := onTemporal(t, &fakeClient{
		SignalFn: func(string, string, any) error { return nil },
		UpdateFn: func(client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
			asked++
			return nil, serviceerror.NewFailedPrecondition("The limit on the total number of distinct updates in this workflow has been reached (2000).")
		},
		QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			view := viewOf(someID)
			if q, _ := r.Args[0].(contract.ConversationQuery); q.Signal == "" {
				reads++
				if reads == 2 { // the worker is busy
					return nil, serviceerror.NewDeadlineExceeded("context deadline exceeded")
				}
				view.Request = &contract.Request{ID: q.RequestID, Settled: reads > 3, Result: &contract.Result{Response: contract.Inline("read")}}
			}
			return queried(view)
		},
	})
	reply := a.want(200, a.do("POST", messages, `{"message":"x"}`))
	if reply.text("result", "response") != "read" || reads != 4 || asked != 4 {
		t.Errorf("%d reads, %d updates: %s", reads, asked, reply.raw)
	}
}

func TestAMessageWithLongNamesIsTooLarge(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	parts := strings.Repeat(`{"kind":"file","file":{"name":"`+strings.Repeat("n", 1000)+`","mimeType":"image/png","bytes":"aGVsbG8="}},`, 99)
	body := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m-1","role":"user","parts":[` +
		parts + `{"kind":"text","text":"x"}]}}}`
	if r := a.do("POST", "/a2a", body); !strings.Contains(fmt.Sprint(r.body), "takes too much room") {
		t.Errorf("%d %.500v", r.status, r.body)
	}
}
