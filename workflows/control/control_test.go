package control_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/control"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/proof"
)

func uuid(n int) string { return contract.NameUUID("approval", fmt.Sprint(n)) }

// operated is a Control in a test.
type operated struct {
	t        *testing.T
	env      *testsuite.TestWorkflowEnvironment
	released []string
	memo     switches.State
	lost     bool // signals reach nobody
	log      []audit.Leaf
}

// operate runs a Control while body runs, and returns the input of the run that follows.
func operate(t *testing.T, in switches.Input, body func(o *operated)) switches.Input {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	o := &operated{t: t, env: suite.NewTestWorkflowEnvironment()}
	o.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{proof.With(keys(t)), &commands{operated: o}}})
	o.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: switches.WorkflowID, TaskQueue: switches.TaskQueue})
	control.Register(o.env)
	o.env.RegisterDelayedCallback(func() {
		body(o)
		o.env.RegisterDelayedCallback(func() { o.env.SetCurrentHistoryLength(10_000); o.wait(0) }, time.Minute)
	}, time.Second)
	o.env.ExecuteWorkflow(switches.Workflow, in)
	var next *workflow.ContinueAsNewError
	if err := o.env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("the Control has ended: %v", err)
	}
	var out switches.Input
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// commands records what the Control commands.
type commands struct {
	interceptor.WorkerInterceptorBase
	interceptor.WorkflowInboundInterceptorBase
	interceptor.WorkflowOutboundInterceptorBase
	operated *operated
}

func (c *commands) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	c.WorkflowInboundInterceptorBase.Next = next
	return c
}

func (c *commands) Init(next interceptor.WorkflowOutboundInterceptor) error {
	c.WorkflowOutboundInterceptorBase.Next = next
	return c.WorkflowInboundInterceptorBase.Next.Init(c)
}

func (c *commands) UpsertMemo(_ workflow.Context, memo map[string]any) error {
	c.operated.memo = memo[switches.MemoSwitches].(switches.State)
	return nil
}

func (c *commands) SignalExternalWorkflow(ctx workflow.Context, id, _, name string, arg any) workflow.Future {
	future, settable := workflow.NewFuture(ctx)
	if leaves, ok := arg.([]audit.Leaf); ok && id == audit.WorkflowID && name == audit.SignalAppend {
		c.operated.log = append(c.operated.log, leaves...)
	}
	if name == switches.SignalGo {
		c.operated.released = append(c.operated.released, strings.TrimPrefix(id, "approval-"))
	}
	var err error
	if c.operated.lost {
		err = errors.New("it has ended")
	}
	settable.Set(nil, err)
	return future
}

func keys(t *testing.T) *credential.Keyring {
	t.Helper()
	r, err := credential.NewKeyring(credential.Key{ID: "k1", Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (o *operated) wait(n int) {
	o.env.SignalWorkflow(switches.SignalWait, switches.Wait{Approval: uuid(n), Call: switches.Call{Agent: "helper", Server: "resources", Tool: fmt.Sprint("tool-", n%2)}})
}

// update sends an update.
func (o *operated) update(name string, c switches.Change, r *refused) {
	o.env.UpdateWorkflow(name, fmt.Sprint(name, string(c.What), time.Now().UnixNano()), r, c)
}

// refused is why an update was refused, if it was.
type refused struct{ err error }

func (r *refused) Accept()             {}
func (r *refused) Reject(err error)    { r.err = err }
func (r *refused) Complete(any, error) {}

func (r *refused) kind() contract.Kind {
	var app *temporal.ApplicationError
	if !errors.As(r.err, &app) {
		return ""
	}
	return contract.Kind(app.Type())
}

func (o *operated) view() (v switches.View) {
	o.t.Helper()
	got, err := o.env.QueryWorkflow(switches.QueryControl)
	if err == nil {
		err = got.Get(&v)
	}
	if err != nil {
		o.t.Error(err)
	}
	return v
}

func typed(raw string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(raw),
	})
}

func TestCallsAreReleasedWhenNoSwitchHoldsThem(t *testing.T) {
	var o *operated
	next := operate(t, switches.Input{}, func(running *operated) {
		o = running
		for _, what := range []switches.Target{"server:resources", "tool:tool-1"} {
			o.update(switches.UpdatePause, switches.Change{What: what, By: "ops", Reason: "maintenance"}, new(refused))
		}
		for n := range 4 {
			o.wait(n)
		}
		o.env.RegisterDelayedCallback(func() {
			if v := o.view(); v.Waiting != 4 || len(v.Switches) != 2 || len(o.released) > 0 {
				t.Errorf("%+v, released %v", v, o.released)
			}
			o.update(switches.UpdateResume, switches.Change{What: "server:resources", By: "ops"}, new(refused))
		}, time.Second)
	})
	if want := []string{uuid(0), uuid(2)}; !slices.Equal(o.released, want) {
		t.Errorf("released %v, expected %v", o.released, want)
	}
	if len(next.Waits) != 2 || len(next.Switches) != 1 || next.Switches[0].Reason != "maintenance" {
		t.Errorf("the next run has %+v", next)
	}
}

func TestACallThatRegistersAfterTheResumeGoesOn(t *testing.T) {
	var o *operated
	operate(t, switches.Input{}, func(running *operated) {
		o = running
		o.lost = true // as if somebody had rejected it meanwhile
		o.wait(1)
	})
	if !slices.Equal(o.released, []string{uuid(1)}) {
		t.Errorf("released %v", o.released)
	}
}

// After the encryption key was changed, a new run is written with the new one. It has everything.
func TestTheControlBeginsANewRunWhenItIsAsked(t *testing.T) {
	var renewed bool
	next := operate(t, switches.Input{}, func(o *operated) {
		o.update(switches.UpdatePause, switches.Change{What: switches.All, By: "ops"}, new(refused))
		o.wait(1)
		o.env.RegisterDelayedCallback(func() {
			o.wait(2)
			o.env.SignalWorkflow(switches.SignalRenew, nil)
			renewed = true
		}, time.Second)
		o.env.RegisterDelayedCallback(func() { t.Error("the run goes on") }, 10*time.Second)
	})
	if !renewed || len(next.Switches) != 1 || next.Switches[0].By != "ops" || len(next.Waits) != 2 {
		t.Errorf("the next run has %+v", next)
	}
}

func TestManyCallsAreReleasedInBatches(t *testing.T) {
	var o *operated
	in := switches.Input{State: switches.State{Switches: []switches.Switch{{What: switches.All}}}}
	for n := range 250 {
		in.Waits = append(in.Waits, switches.Wait{Approval: uuid(n)})
	}
	next := operate(t, in, func(running *operated) {
		o = running
		o.env.CancelWorkflow() // changes nothing
		o.env.SignalWorkflow(switches.SignalResume, typed(`"all"`))
	})
	if len(o.released) != 250 || len(next.Waits)+len(next.Switches) > 0 {
		t.Errorf("%d released, then %+v", len(o.released), next)
	}
}

func TestTypedSignalsAreReadAndWhatIsNotUnderstoodIsShown(t *testing.T) {
	for raw, problem := range map[string]string{
		`"everything"`: "what: must be all", `7`: "the input is", `{"what":"all","by":"a\nb"}`: "by: has a character",
		`{"what":"agent:helper","by":"ops"}`: "", `"agent:helper"`: "",
	} {
		var o *operated
		operate(t, switches.Input{}, func(running *operated) {
			o = running
			o.env.SignalWorkflow(switches.SignalPause, typed(raw))
			o.env.RegisterDelayedCallback(func() {
				v := o.view()
				if !strings.HasPrefix(v.Problem, problem) || (problem == "") != (len(v.Switches) == 1 && len(o.memo.Switches) == 1 && v.Problem == "") {
					t.Errorf("%s: %+v", raw, v)
				}
			}, time.Second)
		})
	}
}

func TestASwitchThatIsSetStaysAsItIs(t *testing.T) {
	in := switches.Input{State: switches.State{Switches: []switches.Switch{{What: switches.All, By: "ops"}}}}
	next := operate(t, in, func(o *operated) {
		o.env.SignalWorkflow(switches.SignalPause, switches.Change{What: switches.All, By: "other"})
		o.env.SignalWorkflow(switches.SignalResume, switches.Change{What: "tool:x"})
	})
	if len(next.Switches) != 1 || next.Switches[0].By != "ops" {
		t.Errorf("%+v", next)
	}
}

func TestTooManySwitchesAreRefusedButNeverAll(t *testing.T) {
	in := switches.Input{}
	for n := range switches.MaxSwitches {
		in.Switches = append(in.Switches, switches.Switch{What: switches.Target(fmt.Sprint("tool:", n))})
	}
	var more, all, wrong refused
	next := operate(t, in, func(o *operated) {
		o.update(switches.UpdatePause, switches.Change{What: "tool:x"}, &more)
		o.update(switches.UpdatePause, switches.Change{What: switches.All}, &all)
		o.update(switches.UpdatePause, switches.Change{What: "x"}, &wrong)
	})
	if more.kind() != contract.KindBusy || all.err != nil || wrong.kind() != contract.KindInvalid || len(next.Switches) != switches.MaxSwitches+1 {
		t.Errorf("one more: %v, all: %v, a target that no call matches: %v", more.err, all.err, wrong.err)
	}
}

func TestAnIdentityCountsIfItIsProven(t *testing.T) {
	change := switches.Change{What: switches.All, By: "alice", Identity: contract.Identity{Subject: "alice", Issuer: "keys"}}
	for _, proven := range []bool{true, false} {
		given := change
		if proven {
			var err error
			if given.Proof, err = keys(t).Prove(switches.WorkflowID, switches.UpdatePause, change); err != nil {
				t.Fatal(err)
			}
		}
		next := operate(t, switches.Input{}, func(o *operated) { o.update(switches.UpdatePause, given, new(refused)) })
		if len(next.Switches) != 1 || next.Switches[0].Identity.Authenticated() != proven {
			t.Errorf("proven %v: %+v", proven, next)
		}
	}
}

// The audit log has each change of a limit or a switch, without what people wrote.
func TestTheAuditLogHasEachChange(t *testing.T) {
	var o *operated
	operate(t, switches.Input{}, func(is *operated) {
		o = is
		o.env.SignalWorkflow(switches.SignalLimit, switches.LimitChange{Agent: "helper", Limit: "mails", Calls: 20, In: time.Minute, On: "deny", Reason: "holidays"})
		o.env.SignalWorkflow(switches.SignalLimit, switches.LimitChange{Agent: "helper", Limit: "mails"})
		o.env.SignalWorkflow(switches.SignalPause, switches.Change{What: switches.All, Reason: "holidays"})
	})
	var got []string
	for _, l := range o.log {
		line, err := l.Line()
		if err != nil || strings.Contains(string(line), "holidays") {
			t.Errorf("%s, %v", line, err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", l.Kind, l.Agent, l.What, l.Version))
	}
	slices.Sort(got)
	want := []string{"limit helper mails as configured", "limit helper mails calls=20 in=1m0s on_limit=deny", "switch  paused: all "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
