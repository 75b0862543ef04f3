package grants_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/grants"
	"agent-stop-and-go/workflows/proof"
)

const id = "grants-test"

// desk is a running workflow of a test.
type desk struct {
	t    *testing.T
	env  *testsuite.TestWorkflowEnvironment
	keys *credential.Keyring
	n    int
	log  []string // what the audit log is told

	steps []func()
}

// then does something after all updates so far are answered.
func (d *desk) then(f func()) { d.steps = append(d.steps, f) }

// commands records what the workflow tells the audit log.
type commands struct {
	interceptor.WorkerInterceptorBase
	interceptor.WorkflowInboundInterceptorBase
	interceptor.WorkflowOutboundInterceptorBase
	desk *desk
}

func (c *commands) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	c.WorkflowInboundInterceptorBase.Next = next
	return c
}

func (c *commands) Init(next interceptor.WorkflowOutboundInterceptor) error {
	c.WorkflowOutboundInterceptorBase.Next = next
	return c.WorkflowInboundInterceptorBase.Next.Init(c)
}

func (c *commands) SignalExternalWorkflow(ctx workflow.Context, _, _, _ string, arg any) workflow.Future {
	for _, l := range arg.([]audit.Leaf) {
		actor := ""
		if l.Actor != nil {
			actor = l.Actor.Subject
		}
		c.desk.log = append(c.desk.log, fmt.Sprint(l.What, " ", l.ID[strings.LastIndex(l.ID, "/")+1:], " ", actor))
	}
	future, settable := workflow.NewFuture(ctx)
	settable.Set(nil, errors.New("there is no audit log"))
	return future
}

// answer is that of an update.
type answer struct {
	use any
	err error
}

func (a *answer) Accept()          {}
func (a *answer) Reject(err error) { a.err = err }
func (a *answer) Complete(use any, err error) {
	a.use, a.err = use, err
}

func (d *desk) update(name string, arg any) *answer {
	d.n++
	a := &answer{}
	d.env.UpdateWorkflow(name, fmt.Sprint(d.n), a, arg)
	return a
}

func (d *desk) proof(name string, payload any) string {
	made, err := d.keys.Prove(id, name, payload)
	if err != nil {
		d.t.Fatal(err)
	}
	return made
}

func (d *desk) give(what string, g standing.Giving, want contract.Kind) {
	g.Proof = d.proof(standing.UpdateGive, g)
	d.send(what, standing.UpdateGive, g, want)
}

// send sends an update that is refused with a kind, or not.
func (d *desk) send(what, name string, arg any, want contract.Kind) {
	d.then(func() {
		a := d.update(name, arg)
		d.env.RegisterDelayedCallback(func() {
			if kindOf(a.err) != want {
				d.t.Errorf("%s: %v, expected %q", what, a.err, want)
			}
		}, 500*time.Microsecond)
	})
}

func (d *desk) use(grantID, key string, number int, want contract.Kind) {
	d.then(func() {
		a := d.update(standing.UpdateUse, standing.Take{ID: grantID, Key: key, Conversation: "c"})
		d.env.RegisterDelayedCallback(func() {
			u, _ := a.use.(grant.Use)
			if u.Number != number || kindOf(a.err) != want || a.err == nil && (u.By != "alice" || !u.Proven || u.Left != 2-number) {
				d.t.Errorf("use %s: %+v %v, expected number %d, %q", key, u, a.err, number, want)
			}
		}, 500*time.Microsecond)
	})
}

func (d *desk) revoke(what, grantID string, by standing.Person, want contract.Kind, scopes ...string) {
	r := standing.Revocation{ID: grantID, By: by, Scopes: scopes}
	if by.Subject != "" {
		r.Proof = d.proof(standing.UpdateRevoke, r)
	}
	d.send(what, standing.UpdateRevoke, r, want)
}

// run runs body while the workflow runs, and returns the grants that the next run has.
func run(t *testing.T, in standing.Input, body func(d *desk)) (next standing.Input, _ *desk) {
	t.Helper()
	keys, err := credential.NewKeyring(credential.Key{ID: "k1", Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	d := &desk{t: t, env: suite.NewTestWorkflowEnvironment(), keys: keys}
	d.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{proof.With(keys), &commands{desk: d}}})
	d.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: id, TaskQueue: "test"})
	grants.Register(d.env)
	d.env.RegisterDelayedCallback(func() {
		body(d)
		d.then(func() { d.env.SetCurrentHistoryLength(5000) })
		d.give("the last", given(contract.NameUUID("last", "x"), d.env.Now()), "")
		for i, step := range d.steps {
			d.env.RegisterDelayedCallback(step, time.Duration(i+1)*time.Millisecond)
		}
	}, 0)
	d.env.ExecuteWorkflow(standing.Workflow, in)
	var again *workflow.ContinueAsNewError
	if !errors.As(d.env.GetWorkflowError(), &again) {
		t.Fatal(d.env.GetWorkflowError())
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	return next, d
}

var alice, bob = standing.Person{Subject: "alice", Issuer: "proxy"}, standing.Person{Subject: "bob", Issuer: "proxy"}

func given(uuid string, now time.Time) standing.Giving {
	args, err := grant.Of([]byte(`{"name":"x"}`), nil)
	if err != nil {
		panic(err)
	}
	return standing.Giving{By: alice, Via: "rest", Since: now, Terms: standing.Terms{
		ID: uuid, Conversation: "c", Agent: "helper", Server: "notes", Tool: "add", Address: "a", Definition: "d", Arguments: args,
		Rule: "r", Rules: "rr", Policy: "p", Scope: grant.Agent, Until: now.Add(time.Hour).Truncate(time.Second), Uses: 2,
	}}
}

func kindOf(err error) contract.Kind {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return ""
	}
	return contract.Kind(app.Type())
}

func TestAUseIsCountedOnceAndNotAboveTheNumber(t *testing.T) {
	one := contract.NameUUID("one", "x")
	next, d := run(t, standing.Input{}, func(d *desk) {
		g := given(one, d.env.Now())
		d.give("first", g, "")
		d.give("an attempt that follows a lost one", g, "")
		d.use(one, "a", 1, "")
		d.use(one, "a", 1, "")
		d.use(one, "b", 2, "")
		d.use(one, "a", 1, "") // although it is used up
		d.use(one, "b", 2, "")
		d.use(one, "c", 0, contract.KindNotFound)
		d.use(one, "", 0, contract.KindInvalid)
		d.use("none", "a", 0, contract.KindNotFound)
	})
	if len(next.Grants) == 0 || next.Grants[0].Used != 2 || len(next.Grants[0].Keys) != 2 || next.Grants[0].Ended.IsZero() {
		t.Fatalf("%+v", next.Grants)
	}
	if got := strings.Join(d.log[:3], ", "); got != "given "+one+" alice, used a , used b " {
		t.Errorf("the audit log: %s", got)
	}
	run(t, next, func(d *desk) { // the next run knows them
		d.use(one, "a", 1, "")
		d.use(one, "c", 0, contract.KindNotFound)
	})
}

func TestWhoRevokes(t *testing.T) {
	one, two, three := contract.NameUUID("one", "x"), contract.NameUUID("two", "x"), contract.NameUUID("three", "x")
	_, d := run(t, standing.Input{}, func(d *desk) {
		for _, uuid := range []string{one, two, three} {
			g := given(uuid, d.env.Now())
			if uuid == two {
				g.Scope, g.Of = grant.Caller, bob.Identity().Key()
			}
			d.give(uuid, g, "")
		}
		d.revoke("somebody else", one, bob, contract.KindForbidden)
		d.revoke("nobody known", one, standing.Person{Claimed: "alice"}, contract.KindForbidden)
		d.send("not proven", standing.UpdateRevoke, standing.Revocation{ID: one, By: alice, Proof: "v1.k1.AAAA"}, contract.KindForbidden)
		d.revoke("none", "none", alice, contract.KindNotFound)
		d.revoke("who has given it", one, alice, "")
		d.revoke("again", one, alice, "")
		d.revoke("for whose calls it is", two, bob, "")
		d.revoke("an operator", three, bob, "", contract.ScopeOperate)
		d.use(one, "a", 0, contract.KindNotFound)
	})
	if got := strings.Join(d.log[3:6], ", "); got != "revoked "+one+" alice, revoked "+two+" bob, revoked "+three+" bob" {
		t.Errorf("the audit log: %s", got)
	}
}

func TestGrantsThatAreNotGiven(t *testing.T) {
	next, _ := run(t, standing.Input{}, func(d *desk) {
		good := given(contract.NameUUID("one", "x"), d.env.Now())
		d.send("without a proof", standing.UpdateGive, good, contract.KindForbidden)
		proof := d.proof(standing.UpdateGive, good)
		for name, change := range map[string]func(*standing.Giving){
			"another number": func(g *standing.Giving) { g.Uses = 1 }, "another person": func(g *standing.Giving) { g.By = bob },
			"other arguments": func(g *standing.Giving) { g.Arguments.SHA256 = "x" },
		} {
			g := good
			g.Proof = proof
			change(&g)
			d.send(name, standing.UpdateGive, g, contract.KindForbidden)
		}
		for name, change := range map[string]func(*standing.Giving){
			"no arguments": func(g *standing.Giving) { g.Arguments = grant.Arguments{} }, "over": func(g *standing.Giving) { g.Until = d.env.Now() },
			"for ever": func(g *standing.Giving) { g.Until = d.env.Now().Add(grant.MaxTime + time.Hour) }, "no end of uses": func(g *standing.Giving) { g.Uses = 1e6 },
			"no rules": func(g *standing.Giving) { g.Rules = "" }, "nobody's": func(g *standing.Giving) { g.Scope = grant.Caller }, "no scope": func(g *standing.Giving) { g.Scope = "*" },
		} {
			g := good
			change(&g)
			d.give(name, g, contract.KindInvalid)
		}
		for i := range standing.Max {
			d.give("some", given(contract.NameUUID(fmt.Sprint(i), "x"), d.env.Now()), "")
		}
		d.give("too many", good, contract.KindBusy)
		d.revoke("one", contract.NameUUID("7", "x"), alice, "")
	})
	if raw, err := json.Marshal(next); err != nil || len(raw) > 200_000 {
		t.Errorf("%d bytes: %v", len(raw), err)
	}
}

func TestAGrantEndsWithItsTime(t *testing.T) {
	one := contract.NameUUID("one", "x")
	g := given(one, time.Now())
	if old := (standing.Grant{Terms: g.Terms, By: alice}); !old.Counts(g.Until.Add(-time.Second)) || old.Counts(g.Until) || old.Over(g.Until) || !old.Over(g.Until.Add(standing.Kept)) {
		t.Error("it counts at another time")
	}
	past := given(one, time.Now().Add(-3*time.Hour))
	next, _ := run(t, standing.Input{Grants: []standing.Grant{{Terms: past.Terms, By: alice}}}, func(d *desk) { d.use(one, "a", 0, contract.KindNotFound) })
	if slices.ContainsFunc(next.Grants, func(g standing.Grant) bool { return g.ID == one }) {
		t.Errorf("what is over is kept: %+v", next.Grants)
	}
}
