package calls_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/worker/calls"
)

// The result of a call is in the history when its workflow task is complete, and not before.
func TestTheCallsOfACompleteWorkflowTaskAreForgotten(t *testing.T) {
	const first, again, next = 3, 6, 9
	for name, c := range map[string]struct {
		deliver func(*calls.WorkflowTasks)
		asked   int
	}{
		"it has failed":  {func(w *calls.WorkflowTasks) { deliverAfter(t, w, 0, again, time.Now()) }, 1},
		"it is complete": {func(w *calls.WorkflowTasks) { deliverAfter(t, w, first, next, time.Now()) }, 2},
		"closed": {func(w *calls.WorkflowTasks) {
			other := calls.New("other", w)
			other.Close()
			deliverAfter(t, w, first, next, time.Now())
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{answer: func(_ context.Context, in string) (string, error) { return "answer to " + in, nil }}
			tasks := calls.NewWorkflowTasks()
			table := calls.New("own", tasks)
			for range 2 {
				b := setUp(t, conversation, m, table, table)
				b.SetCurrentHistoryLength(first)
				_, err := b.run(t, "one")
				want(t, "error", err, nil)
				c.deliver(tasks)
			}
			want(t, "calls", len(m.asked()), c.asked)
		})
	}
}

// Where the server is another process, nobody says that a workflow task is complete.
func TestARunThatGoesOnKeepsOnlyItsRecentCalls(t *testing.T) {
	const inputs = 8
	m := &model{answer: func(ctx context.Context, _ string) (string, error) { return pause(ctx, 20*time.Millisecond) }}
	table := calls.New("own", nil)
	table.SetTaskTime(50 * time.Millisecond)
	b := setUp(t, conversation, m, table, table)
	var all []string
	for i := range inputs {
		all = append(all, fmt.Sprint(i))
	}
	_, err := b.run(t, all...)
	want(t, "error", err, nil)
	if kept := table.Kept(testRun); kept == 0 || kept == inputs {
		t.Errorf("%d of %d calls are kept", kept, inputs)
	}
}

type localKey struct{}

// valued gives every activity a context with a value that is counted when it is collected.
type valued struct {
	interceptor.WorkerInterceptorBase
	collected *atomic.Int32
}

func (v *valued) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &valuedActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, v.collected}
}

type valuedActivity struct {
	interceptor.ActivityInboundInterceptorBase
	collected *atomic.Int32
}

func (v *valuedActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	value := new([1024]byte)
	runtime.AddCleanup(value, func(n *atomic.Int32) { n.Add(1) }, v.collected)
	return v.Next.ExecuteActivity(context.WithValue(ctx, localKey{}, value), in)
}

// A call is kept when it has ended. The context of its local activity has all of its workflow, which
// would be kept with it.
func TestACallThatHasEndedKeepsNothingOfItsWorkflow(t *testing.T) {
	const runs, each = 4, 3 // two local activities and one that joins
	var collected atomic.Int32
	m := &model{answer: func(ctx context.Context, in string) (string, error) {
		if ctx.Value(localKey{}) == nil {
			t.Error("a call has not the values of its activity")
		}
		if strings.HasPrefix(in, "slow") {
			return pause(ctx, moment)
		}
		return "answer", nil
	}}
	table := calls.New("own", nil)
	for i := range runs {
		b := setUp(t, conversation, m, table, table)
		b.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&valued{collected: &collected}}, DeadlockDetectionTimeout: time.Minute})
		b.SetCurrentHistoryLength(i + 1) // a workflow task for each
		_, err := b.run(t, fmt.Sprint("quick ", i), fmt.Sprint("slow ", i))
		want(t, "error", err, nil)
		want(t, "joined", len(b.joins), 1)
	}
	const enough = runs * each / 2 // the runtime and the SDK may still have some; the table had all but those that join
	for end := time.Now().Add(5 * time.Second); collected.Load() < enough && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		runtime.GC()
	}
	if n := collected.Load(); n < enough {
		t.Errorf("%d of %d contexts are collected", n, runs*each)
	}
	runtime.KeepAlive(table)
}
