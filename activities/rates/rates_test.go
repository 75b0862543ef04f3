package rates_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/rates"
	"agent-stop-and-go/workflows/contract"
	wire "agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/switches"
)

// counter answers updates in memory.
type counter struct {
	TakeFn func(id string, takes []wire.Take) ([]wire.Outcome, error)

	mu       sync.Mutex
	updates  int
	returned []string
}

func (c *counter) Take(_ context.Context, id string, _ wire.Input, takes []wire.Take) ([]wire.Outcome, error) {
	c.mu.Lock()
	c.updates++
	c.mu.Unlock()
	return c.TakeFn(id, takes)
}

func (c *counter) Return(_ context.Context, id, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.returned = append(c.returned, id+" "+key)
	return nil
}

func room(_ string, takes []wire.Take) ([]wire.Outcome, error) {
	out := make([]wire.Outcome, len(takes))
	for i := range out {
		out[i] = wire.Outcome{Room: true, New: true}
	}
	return out, nil
}

func limit(name, server string, on wire.Action) wire.Limit {
	return wire.Limit{Name: name, Server: server, Per: wire.PerCaller, Calls: 2, In: time.Minute, On: on}
}

func callOf(server string) wire.Call {
	return wire.Call{Conversation: "c", Key: "k", Server: server, Tool: "t", Passage: wire.Passage{Caller: "alice"}}
}

func TestACallThatNoLimitMatchesCostsNothing(t *testing.T) {
	c := &counter{TakeFn: func(string, []wire.Take) ([]wire.Outcome, error) { return nil, errors.New("asked") }}
	never := func(context.Context) (switches.State, error) { return switches.State{}, errors.New("read") }
	l := rates.New("helper", []wire.Limit{limit("db", "db", wire.Deny), {Name: "r", Class: wire.Destructive, Calls: 1, In: time.Minute}}, never, c)
	if err := l.Hold(t.Context(), contract.KindToolUnavailable, callOf("files")); err != nil || c.updates > 0 {
		t.Errorf("%v, %d updates", err, c.updates)
	}
	if rates.New("helper", nil, never, c) != nil {
		t.Error("an agent without limits has a limiter")
	}
	if err := l.Hold(t.Context(), contract.KindToolUnavailable, callOf("db")); kindOf(err) != contract.KindToolUnavailable {
		t.Errorf("one that cannot be counted: %v", err)
	}
}

func kindOf(err error) contract.Kind {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return ""
	}
	return contract.Kind(app.Type())
}

func TestWhatALimitHasTakenIsGivenBackIfAnotherHoldsTheCall(t *testing.T) {
	full := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	second := wire.WorkflowID("helper", "all", "alice")
	c := &counter{TakeFn: func(id string, takes []wire.Take) ([]wire.Outcome, error) {
		if id == second {
			return []wire.Outcome{{At: full}}, nil
		}
		return room(id, takes)
	}}
	l := rates.New("helper", []wire.Limit{limit("db", "db", wire.Deny), limit("all", "", wire.Ask)}, nil, c)
	err := l.Hold(t.Context(), contract.KindToolUnavailable, callOf("db"))
	var app *temporal.ApplicationError
	var r wire.Refusal
	if kindOf(err) != contract.KindRateLimited || !errors.As(err, &app) || app.Details(&r) != nil || !app.NonRetryable() {
		t.Fatalf("%v", err)
	}
	if r.Limit.Name != "all" || r.Limit.On != wire.Ask || !r.At.Equal(full) || r.Counter != second {
		t.Errorf("%+v", r)
	}
	if want := []string{wire.WorkflowID("helper", "db", "alice") + " " + wire.KeyOf("c", "k")}; !slices.Equal(c.returned, want) {
		t.Errorf("given back: %v, expected %v", c.returned, want)
	}
}

func TestWhatSomebodyHasChangedCounts(t *testing.T) {
	var got []wire.Take
	c := &counter{TakeFn: func(id string, takes []wire.Take) ([]wire.Outcome, error) {
		got = append(got, takes...)
		return room(id, takes)
	}}
	changed := func(context.Context) (switches.State, error) {
		return switches.State{Limits: []switches.LimitChange{{Agent: "other", Limit: "db", Calls: 9}, {Agent: "helper", Limit: "db", Calls: 5, On: wire.Pause}}}, nil
	}
	call := callOf("db")
	call.Over = []string{"db"}
	if err := rates.New("helper", []wire.Limit{limit("db", "db", wire.Deny)}, changed, c).Hold(t.Context(), contract.KindToolUnavailable, call); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != (wire.Take{Key: wire.KeyOf("c", "k"), Calls: 5, In: time.Minute, Wait: true, Over: true}) {
		t.Errorf("%+v", got)
	}
}

// A workflow admits few updates at a time.
func TestCallsThatComeTogetherAreOneUpdate(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c := &counter{TakeFn: func(id string, takes []wire.Take) ([]wire.Outcome, error) {
		once.Do(func() { close(begun); <-goOn })
		return room(id, takes)
	}}
	l := rates.New("helper", []wire.Limit{limit("db", "db", wire.Deny)}, nil, c)
	take := func(ctx context.Context, n int) error {
		call := callOf("db")
		call.Key = fmt.Sprint(n)
		return l.Hold(ctx, contract.KindToolUnavailable, call)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := take(t.Context(), 0); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for n := range 50 { // they have asked, and nobody waits for the answers
		if err := take(ended, n+1); err == nil {
			t.Error("a call that has ended waits")
		}
	}
	close(goOn)
	if err := take(t.Context(), 51); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if c.updates > 3 {
		t.Errorf("%d updates for 52 calls", c.updates)
	}
}
