package standing_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	giving "agent-stop-and-go/activities/standing"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/verdict"
)

// server is a Temporal server with a workflow that keeps grants.
type server struct {
	status enumspb.WorkflowExecutionStatus
	memo   any // nil for none
	err    error
	// UseFn answers a use of a grant, by its ID.
	UseFn func(id string) (grant.Use, error)
	taken []standing.Take
	given []client.UpdateWithStartWorkflowOptions
}

func (s *server) DescribeWorkflow(_ context.Context, id, _ string) (*client.WorkflowExecutionDescription, error) {
	if id != "grants-shop" {
		return nil, serviceerror.NewNotFound("another workflow: " + id)
	}
	d := &client.WorkflowExecutionDescription{}
	d.Status = s.status
	if s.memo != nil {
		p, err := converter.GetDefaultDataConverter().ToPayload(s.memo)
		if err != nil {
			return nil, err
		}
		d.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{standing.Memo: p}}
	}
	return d, s.err
}

// handle is an update that has an answer.
type handle struct {
	client.WorkflowUpdateHandle
	use grant.Use
	err error
}

func (h handle) Get(_ context.Context, out any) error {
	if u, ok := out.(*grant.Use); ok {
		*u = h.use
	}
	return h.err
}

func (s *server) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	take, ok := o.Args[0].(standing.Take)
	if !ok || o.WorkflowID != "grants-shop" || o.UpdateName != standing.UpdateUse || o.WaitForStage != client.WorkflowUpdateStageCompleted {
		return nil, errors.New("another update")
	}
	s.taken = append(s.taken, take)
	use, err := s.UseFn(take.ID)
	return handle{use: use, err: err}, nil
}

type start struct {
	client.WithStartWorkflowOperation
	options client.StartWorkflowOptions
	name    any
}

func (s *server) NewWithStartWorkflowOperation(o client.StartWorkflowOptions, w any, _ ...any) client.WithStartWorkflowOperation {
	return start{options: o, name: w}
}

func (s *server) UpdateWithStartWorkflow(_ context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	s.given = append(s.given, o)
	return handle{err: s.err}, nil
}

func (s *server) book(by ...string) *giving.Book {
	return &giving.Book{Agent: "shop", TaskQueue: "shop", Approvers: by, Client: func(context.Context) (giving.Client, error) { return s, nil }}
}

func entry(id string, s grant.Scope) standing.Entry {
	args, err := grant.Of([]byte(`{"amount":5}`), nil)
	if err != nil {
		panic(err)
	}
	e := standing.Entry{By: standing.Person{Subject: "alice", Issuer: "idp", Scopes: []string{contract.ScopeApprove}}, Terms: standing.Terms{
		ID: id, Conversation: "c", Agent: "shop", Server: "bank", Tool: "refund", Address: "https://bank", Definition: "d",
		Arguments: args, Rules: "rr", Scope: s, Until: time.Now().Add(time.Hour), Uses: 5,
	}}
	e.Arguments.Rest = nil // as in the memo
	e.Of = map[grant.Scope]string{grant.Turn: "c r", grant.Conversation: "c", grant.Caller: "idp alice"}[s]
	return e
}

func call() standing.Call {
	return standing.Call{
		Key: "k", Conversation: "c", Turn: "r", Caller: "idp alice", Owner: "idp alice", Server: "bank", Tool: "refund", Address: "https://bank", Definition: "d", Rules: "rr",
		Arguments: json.RawMessage(`{"amount":5}`),
	}
}

const running = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING

func counts(id string) (grant.Use, error) { return grant.Use{ID: id, Number: 1}, nil }

func ended(string) (grant.Use, error) {
	return grant.Use{}, temporal.NewNonRetryableApplicationError("there is no such standing grant any more", string(contract.KindNotFound), nil)
}

func TestTheNarrowestGrantIsUsed(t *testing.T) {
	s := &server{status: running, UseFn: counts, memo: standing.Index{Grants: []standing.Entry{entry("agent", grant.Agent), entry("turn", grant.Turn), entry("conversation", grant.Conversation)}}}
	use, err := s.book().Use(t.Context(), call())
	if err != nil || use == nil || use.ID != "turn" {
		t.Fatalf("%+v %v", use, err)
	}
	if len(s.taken) != 1 || s.taken[0] != (standing.Take{ID: "turn", Key: "k", Conversation: "c"}) {
		t.Errorf("%+v", s.taken)
	}
}

// One that has ended since the memo was read gives way to the next.
func TestAGrantThatHasEndedGivesWay(t *testing.T) {
	s := &server{status: running, memo: standing.Index{Grants: []standing.Entry{entry("agent", grant.Agent), entry("turn", grant.Turn)}}}
	s.UseFn = func(id string) (grant.Use, error) {
		if id == "turn" {
			return ended(id)
		}
		return counts(id)
	}
	if use, err := s.book().Use(t.Context(), call()); err != nil || use == nil || use.ID != "agent" {
		t.Fatalf("%+v %v", use, err)
	}
	s.UseFn = ended
	if use, err := s.book().Use(t.Context(), call()); err != nil || use != nil {
		t.Errorf("%+v %v", use, err)
	}
}

func TestWithoutAGrantNothingIsTaken(t *testing.T) {
	good := standing.Index{Grants: []standing.Entry{entry("agent", grant.Agent)}}
	missing := serviceerror.NewNotFound("no workflow")
	for name, c := range map[string]struct {
		server server
		change func(*giving.Book, *standing.Call)
	}{
		"no workflow":                   {server: server{err: missing}},
		"a workflow that was ended":     {server: server{status: enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, memo: good}},
		"no memo":                       {server: server{status: running}},
		"a memo that is something else": {server: server{status: running, memo: "grants"}},
		"another queue":                 {server{status: running, memo: good}, func(b *giving.Book, _ *standing.Call) { b.TaskQueue = "other" }},
		"another agent":                 {server{status: running, memo: good}, func(b *giving.Book, _ *standing.Call) { b.Agent = "helper" }},
		"other approvers of the agent":  {server{status: running, memo: good}, func(b *giving.Book, _ *standing.Call) { b.Approvers = []string{"group:ops"} }},
		"a rule that asks others": {server{status: running, memo: good}, func(_ *giving.Book, c *standing.Call) {
			c.Asks = verdict.Approval{By: []string{"group:ops"}}
		}},
		"a rule that asks not the requester": {server{status: running, memo: good}, func(_ *giving.Book, c *standing.Call) { c.Asks = verdict.Approval{NotRequester: true} }},
		"other arguments":                    {server{status: running, memo: good}, func(_ *giving.Book, c *standing.Call) { c.Arguments = json.RawMessage(`{"amount":"5"}`) }},
	} {
		s, of := c.server, call()
		s.UseFn = counts
		b := s.book()
		if c.change != nil {
			c.change(b, &of)
		}
		if use, err := b.Use(t.Context(), of); err != nil || use != nil || len(s.taken) > 0 {
			t.Errorf("%s: %+v %v, taken %+v", name, use, err, s.taken)
		}
	}
}

// What cannot be read or counted is an error, so that the call asks.
func TestAUseThatCannotBeCountedFails(t *testing.T) {
	good := standing.Index{Grants: []standing.Entry{entry("turn", grant.Turn), entry("agent", grant.Agent)}}
	away := errors.New("the server is away")
	for want, s := range map[string]*server{
		"read the standing grants: the server is away":          {err: away},
		"count the use of a standing grant: the server is away": {status: running, memo: good, UseFn: func(string) (grant.Use, error) { return grant.Use{}, away }},
		"count the use of a standing grant: a use needs a key (typ": {status: running, memo: good, UseFn: func(string) (grant.Use, error) {
			return grant.Use{}, temporal.NewNonRetryableApplicationError("a use needs a key", string(contract.KindInvalid), nil)
		}},
	} {
		use, err := s.book().Use(t.Context(), call())
		if use != nil || err == nil || !strings.HasPrefix(err.Error(), want) || len(s.taken) > 1 {
			t.Errorf("%s: %+v %v, taken %+v", want, use, err, s.taken)
		}
	}
	if use, err := (&giving.Book{TaskQueue: "shop"}).Use(t.Context(), call()); use != nil || err == nil {
		t.Errorf("outside of an activity: %+v %v", use, err)
	}
}

func TestAGrantStartsTheWorkflowOfItsAgent(t *testing.T) {
	s := &server{}
	g := standing.Giving{Terms: entry("one", grant.Agent).Terms, Proof: "p"}
	if _, err := s.book().Give(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	o := s.given[0]
	begin := o.StartWorkflowOperation.(start)
	if begin.name != standing.Workflow || begin.options.ID != "grants-shop" || begin.options.TaskQueue != "shop" || begin.options.WorkflowExecutionTimeout != 0 ||
		begin.options.WorkflowIDConflictPolicy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING {
		t.Errorf("%+v", begin)
	}
	if u := o.UpdateOptions; u.WorkflowID != "grants-shop" || u.UpdateName != standing.UpdateGive || len(u.Args) != 1 || u.Args[0].(standing.Giving).Proof != "p" || u.WaitForStage != client.WorkflowUpdateStageCompleted {
		t.Errorf("%+v", u)
	}
	s.err = temporal.NewNonRetryableApplicationError("there are 100 standing grants already", string(contract.KindBusy), nil)
	_, err := s.book().Give(t.Context(), g)
	var refused *temporal.ApplicationError
	if !errors.As(err, &refused) || refused.Type() != string(contract.KindBusy) || refused.Message() != "there are 100 standing grants already" {
		t.Errorf("%v", err)
	}
}
