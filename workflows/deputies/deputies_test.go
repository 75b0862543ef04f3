package deputies_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

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
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/deputies"
	"agent-stop-and-go/workflows/proof"
)

const id = "deputies-test"

// office is a running workflow of a test.
type office struct {
	t    *testing.T
	env  *testsuite.TestWorkflowEnvironment
	keys *credential.Keyring
	n    int
	log  []audit.Leaf // what the audit log is told
}

// commands records what the workflow tells the audit log.
type commands struct {
	interceptor.WorkerInterceptorBase
	interceptor.WorkflowInboundInterceptorBase
	interceptor.WorkflowOutboundInterceptorBase
	office *office
}

func (c *commands) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	c.WorkflowInboundInterceptorBase.Next = next
	return c
}

func (c *commands) Init(next interceptor.WorkflowOutboundInterceptor) error {
	c.WorkflowOutboundInterceptorBase.Next = next
	return c.WorkflowInboundInterceptorBase.Next.Init(c)
}

func (c *commands) SignalExternalWorkflow(ctx workflow.Context, id, _, name string, arg any) workflow.Future {
	if id == audit.WorkflowID && name == audit.SignalAppend {
		c.office.log = append(c.office.log, arg.([]audit.Leaf)...)
	}
	future, settable := workflow.NewFuture(ctx)
	settable.Set(nil, errors.New("there is no audit log"))
	return future
}

// outcome is that of an update.
type outcome struct{ err error }

func (o *outcome) Accept()                   {}
func (o *outcome) Reject(err error)          { o.err = err }
func (o *outcome) Complete(_ any, err error) { o.err = err }

// run runs body while the workflow runs, and returns the deputies that the next run has.
func run(t *testing.T, body func(o *office)) []deputy.Deputy {
	t.Helper()
	keys, err := credential.NewKeyring(credential.Key{ID: "k1", Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	o := &office{t: t, env: suite.NewTestWorkflowEnvironment(), keys: keys}
	o.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{proof.With(keys), &commands{office: o}}})
	o.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: id, TaskQueue: "test"})
	o.env.RegisterWorkflowWithOptions(deputies.Deputies, workflow.RegisterOptions{Name: deputy.Workflow})
	o.env.RegisterDelayedCallback(func() {
		body(o)
		anything := func() {
			o.change(deputy.UpdateRevoke, deputy.Change{Deputy: deputy.Deputy{ID: "none"}, By: person("anybody")})
		}
		o.env.RegisterDelayedCallback(anything, 2*time.Hour)
		o.env.RegisterDelayedCallback(func() { o.env.SetCurrentHistoryLength(10_000); anything() }, 3*time.Hour)
	}, time.Second)
	o.env.ExecuteWorkflow(deputy.Workflow, deputy.Input{})
	var next *workflow.ContinueAsNewError
	var out deputy.Input
	if err := o.env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("it has ended: %v", err)
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &out); err != nil {
		t.Fatal(err)
	}
	return out.Deputies
}

func person(name string, scopes ...string) deputy.Person {
	return deputy.Person{Subject: name, Issuer: "keys", Scopes: scopes}
}

// change sends an update as gateways do. Its outcome is known when the workflow has ended.
func (o *office) change(name string, c deputy.Change) *outcome {
	o.t.Helper()
	var err error
	if c.Proof, err = o.keys.Prove(id, name, c); err != nil {
		o.t.Fatal(err)
	}
	return o.send(name, c)
}

func (o *office) send(name string, c deputy.Change) *outcome {
	o.n++
	got := &outcome{}
	o.env.UpdateWorkflow(name, fmt.Sprint(o.n), got, c)
	return got
}

// want checks with which kinds updates were refused, "" for those that were not.
func want(t *testing.T, got map[*outcome]contract.Kind) {
	t.Helper()
	for o, want := range got {
		var refused *temporal.ApplicationError
		kind := contract.Kind("")
		if errors.As(o.err, &refused) {
			kind = contract.Kind(refused.Type())
		}
		if kind != want {
			t.Errorf("%v: %q, want %q", o.err, kind, want)
		}
	}
}

func (o *office) appoint(n int, from, to string) deputy.Change {
	return deputy.Change{Deputy: deputy.Deputy{ID: fmt.Sprint(n), From: person(from), To: person(to), Until: o.env.Now().Add(24 * time.Hour)}, By: person(from)}
}

func TestOnlyWhoIsProvenAppointsTheirOwn(t *testing.T) {
	var outcomes map[*outcome]contract.Kind
	got := run(t, func(o *office) {
		good := o.appoint(1, "alice", "bob")
		forged := good
		forged.Proof = "v1.k1.AAAA"
		others := o.appoint(2, "alice", "bob")
		others.By = person("bob")
		long, own := o.appoint(3, "alice", "bob"), o.appoint(4, "alice", "alice")
		long.Until = o.env.Now().Add(deputy.MaxTime + time.Hour)
		outcomes = map[*outcome]contract.Kind{
			o.send(deputy.UpdateAppoint, good):     contract.KindForbidden, // typed
			o.send(deputy.UpdateAppoint, forged):   contract.KindForbidden,
			o.change(deputy.UpdateAppoint, others): contract.KindForbidden,
			o.change(deputy.UpdateAppoint, long):   contract.KindInvalid,
			o.change(deputy.UpdateAppoint, own):    contract.KindInvalid,
			o.change(deputy.UpdateAppoint, good):   "",
		}
		outcomes[o.change(deputy.UpdateAppoint, good)] = "" // sent again
	})
	want(t, outcomes)
	if len(got) != 1 || got[0].ID != "1" {
		t.Errorf("%+v", got)
	}
}

func TestWhomItConcernsRevokes(t *testing.T) {
	outcomes := map[*outcome]contract.Kind{}
	got := run(t, func(o *office) {
		for n := range 4 {
			o.change(deputy.UpdateAppoint, o.appoint(n, "alice", "bob"))
		}
		revoke := func(n int, by deputy.Person, want contract.Kind) {
			outcomes[o.change(deputy.UpdateRevoke, deputy.Change{Deputy: deputy.Deputy{ID: fmt.Sprint(n)}, By: by})] = want
		}
		revoke(0, person("carol"), contract.KindForbidden)
		revoke(1, person("alice"), "")
		revoke(2, person("bob"), "")
		revoke(3, person("carol", contract.ScopeOperate), "")
	})
	want(t, outcomes)
	if len(got) != 1 || got[0].ID != "0" {
		t.Errorf("%+v", got)
	}
}

func TestDeputiesAreFewAndForgottenWhenTheirTimeIsOver(t *testing.T) {
	outcomes := map[*outcome]contract.Kind{}
	got := run(t, func(o *office) {
		for n := range deputy.MaxOf {
			c := o.appoint(n, "alice", "bob")
			c.Until = o.env.Now().Add(time.Hour)
			outcomes[o.change(deputy.UpdateAppoint, c)] = ""
		}
		outcomes[o.change(deputy.UpdateAppoint, o.appoint(100, "alice", "bob"))] = contract.KindBusy
		outcomes[o.change(deputy.UpdateAppoint, o.appoint(101, "carol", "bob"))] = ""
	})
	want(t, outcomes)
	if len(got) != 1 || got[0].ID != "101" {
		t.Errorf("%+v", got)
	}
}

// The audit log has each change once, without what people wrote.
func TestTheAuditLogHasEachChange(t *testing.T) {
	var o *office
	outcomes := map[*outcome]contract.Kind{}
	run(t, func(is *office) {
		o = is
		c := o.appoint(1, "alice", "bob")
		c.Approval, c.Reason = "approval-1", "holidays"
		outcomes[o.change(deputy.UpdateAppoint, c)] = ""
		outcomes[o.change(deputy.UpdateRevoke, deputy.Change{Deputy: deputy.Deputy{ID: "1"}, By: person("bob")})] = ""
		outcomes[o.change(deputy.UpdateRevoke, deputy.Change{Deputy: deputy.Deputy{ID: "1"}, By: person("bob")})] = "" // it is revoked
	})
	want(t, outcomes)
	if len(o.log) != 2 {
		t.Fatalf("%d leaves: %+v", len(o.log), o.log)
	}
	for i, what := range []string{"appointed", "revoked"} {
		l := o.log[i]
		line, err := l.Line()
		if err != nil || strings.Contains(string(line), "holidays") {
			t.Errorf("%s, %v", line, err)
		}
		by := map[string]string{"appointed": "alice", "revoked": "bob"}[what]
		if l.Kind != audit.KindDeputy || l.ID != "deputy/"+what+"/1" || l.What != what || l.Approval != "approval-1" || l.Until.IsZero() ||
			l.To.Subject != "bob" || l.For.Subject != "alice" || l.For.Deputy != "1" || l.Actor.Subject != by || !l.Actor.Proven {
			t.Errorf("%s: %s", what, line)
		}
	}
}
