package activities_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// silentModel is a model that does not answer within its minute; the error is the router's.
func silentModel(total time.Duration) *activities.Models {
	return &activities.Models{Blobs: newMemory(), Offer: fakeOffer{},
		Facts: func(string) llm.Facts { return llm.Facts{TotalTimeout: total} },
		Model: fakeModel{func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			<-ctx.Done()
			return llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Message: "x did not answer", Err: ctx.Err()}
		}}}
}

// attempt runs one attempt at a reply after earlier ones of the given duration.
func attempt(t *testing.T, b *beats, before time.Duration, m *activities.Models) (time.Duration, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{b}})
	env.RegisterActivity(m.Generate)
	env.SetTestTimeout(time.Hour)
	if before > 0 {
		env.SetHeartbeatDetails(before)
	}
	began := time.Now()
	_, err := env.ExecuteActivity(m.Generate, question("hi"))
	return time.Since(began), err
}

func TestAModelThatDoesNotAnswerIsGivenUpWhenItsTimeIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		total, before time.Duration
		took          time.Duration
		retried       bool
		passed        time.Duration // to the next attempt
	}{
		"the first attempt":              {total: 2 * time.Minute, took: time.Minute, retried: true, passed: time.Minute},
		"the second":                     {total: 2 * time.Minute, before: time.Minute, took: time.Minute},
		"what is left is less":           {total: 90 * time.Second, before: time.Minute, took: 30 * time.Second},
		"nothing is left":                {total: time.Minute, before: time.Minute},
		"one is all":                     {total: time.Minute, took: time.Minute},
		"after attempts that were short": {total: 2 * time.Minute, before: 3 * time.Second, took: time.Minute, retried: true, passed: 63 * time.Second},
		"without a bound":                {took: time.Minute, retried: true, passed: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b beats
				took, err := attempt(t, &b, c.before, silentModel(c.total))
				if took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				app := failedAs(t, err, contract.KindModelUnavailable, c.retried)
				if want := fmt.Sprintf("within %s", c.total); !c.retried && !strings.Contains(app.Message(), want) {
					t.Errorf("message %q, want %s", app.Message(), want)
				}
				if told := b.last.Load(); c.retried && told != fmt.Sprintf("[%d]", c.passed) {
					t.Errorf("the next attempt is told %v, want [%d]", told, c.passed)
				}
			})
		})
	}
}

func TestALocalAttemptCountsThoseBeforeItLikeItself(t *testing.T) {
	for name, c := range map[string]struct {
		attempt int32
		retried bool
	}{"the first": {1, true}, "the second": {2, false}, "the third": {3, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := activities.NewAllowance(2*time.Minute, c.attempt)
				time.Sleep(time.Minute)
				failedAs(t, a.Failure(t.Context(), &llm.Error{Kind: contract.KindModelUnavailable, Message: "x"}), contract.KindModelUnavailable, c.retried)
			})
		})
	}
}

func TestAnAnswerNeedsNoHeartbeat(t *testing.T) {
	var b beats
	m := silentModel(time.Minute)
	m.Model = replies(llm.Reply{Text: "ok"}, nil)
	if _, err := attempt(t, &b, 0, m); err != nil || b.n.Load() != 0 {
		t.Errorf("%d heartbeats, error %v", b.n.Load(), err)
	}
}

func TestARefusalIsTriedAgainUnlessTheTimeIsOver(t *testing.T) {
	m := silentModel(time.Minute)
	m.Model = replies(llm.Reply{}, &llm.Error{Kind: contract.KindModelRateLimited, Message: "slow down", Err: errors.New("429")})
	for before, retried := range map[time.Duration]bool{0: true, 30 * time.Second: true} {
		var b beats
		_, err := attempt(t, &b, before, m)
		failedAs(t, err, contract.KindModelRateLimited, retried)
	}
}
