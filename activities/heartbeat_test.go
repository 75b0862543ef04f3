package activities_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// beats counts the heartbeats of an activity.
type beats struct {
	interceptor.WorkerInterceptorBase
	n    atomic.Int32
	last atomic.Value // its details as JSON
}

func (b *beats) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &beatsInbound{interceptor.ActivityInboundInterceptorBase{Next: next}, b}
}

type beatsInbound struct {
	interceptor.ActivityInboundInterceptorBase
	beats *beats
}

func (i *beatsInbound) Init(next interceptor.ActivityOutboundInterceptor) error {
	return i.Next.Init(&beatsOutbound{interceptor.ActivityOutboundInterceptorBase{Next: next}, i.beats})
}

type beatsOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
	beats *beats
}

func (o *beatsOutbound) RecordHeartbeat(_ context.Context, details ...any) {
	text, _ := json.Marshal(details)
	o.beats.last.Store(string(text))
	o.beats.n.Add(1)
}

// slowModel returns a model that takes time d to answer.
func slowModel(d time.Duration) *activities.Models {
	return &activities.Models{Blobs: newMemory(), Offer: fakeOffer{},
		Model: fakeModel{func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			select {
			case <-time.After(d):
				return llm.Reply{Text: "ok"}, nil
			case <-ctx.Done():
				return llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Err: ctx.Err()}
			}
		}}}
}

// synctest fails if a goroutine is left running.
func TestHeartbeatsStopWithTheActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b beats
		o := worker.Options{Interceptors: []interceptor.WorkerInterceptor{&b}}
		if _, err := runWith(t, o, slowModel(16*time.Second).Generate, question("hi")); err != nil {
			t.Fatal(err)
		}
		if n := b.n.Load(); n != 3 {
			t.Errorf("%d heartbeats in 16 s, expected one every 5 s", n)
		}
		<-time.After(time.Minute)
		if n := b.n.Load(); n != 3 {
			t.Errorf("%d heartbeats after the end", n-3)
		}
	})
}

func TestHeartbeatsStopWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b beats
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		o := worker.Options{Interceptors: []interceptor.WorkerInterceptor{&b}, BackgroundActivityContext: ctx}
		if _, err := runWith(t, o, slowModel(time.Hour).Generate, question("hi")); err == nil {
			t.Error("no error")
		}
		if n := b.n.Load(); n != 2 {
			t.Errorf("%d heartbeats in 12 s", n)
		}
	})
}

func TestProgressOfAToolIsAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b beats
		a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
			for i := range 3 {
				c.Progress(toolbox.Progress{Progress: float64(i), Total: 3, Message: canary})
				synctest.Wait()
			}
			return toolbox.Result{Text: "done"}, nil
		})
		o := worker.Options{Interceptors: []interceptor.WorkerInterceptor{&b}}
		if _, err := runWith(t, o, a.CallTool, calling(t, `{}`, true)); err != nil {
			t.Fatal(err)
		}
		if n := b.n.Load(); n != 3 {
			t.Errorf("%d heartbeats, expected 3", n)
		}
		if got := b.last.Load(); got != `[{"progress":2,"total":3}]` {
			t.Errorf("the last one says %v", got)
		}
	})
}

func TestOutsideOfTemporalThereAreNoHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := slowModel(time.Minute).Generate(t.Context(), question("hi")); err != nil {
			t.Error(err)
		}
	})
}
