package adoption_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/worker/adoption"
	"agent-stop-and-go/workflows/contract"
	names "agent-stop-and-go/workflows/contract/adoption"
)

// conversation is what a fake server knows of one.
type conversation struct {
	agent   contract.Agent
	next    *contract.Agent // stored for the end of the turn
	deaf    bool            // signals change nothing
	running bool
	pending []contract.PendingApproval
	listed  string // hash in the list
	err     error  // of queries
}

// fake is a server with conversations.
type fake struct {
	all     map[string]conversation
	adopted map[string]names.Adopt
	asked   int
	query   string
}

func (f *fake) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	f.query = r.Query
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for id, c := range f.all {
		p, err := converter.GetDefaultDataConverter().ToPayload(c.listed)
		if err != nil {
			return nil, err
		}
		out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution:        &commonpb.WorkflowExecution{WorkflowId: contract.ConversationWorkflowID(id)},
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{contract.AttrConfigHash: p}},
		})
	}
	return out, nil
}

type value struct{ v any }

func (v value) HasValue() bool { return true }

func (v value) Get(to any) error {
	data, err := json.Marshal(v.v)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

func (f *fake) QueryWorkflow(_ context.Context, id, _, query string, _ ...any) (converter.EncodedValue, error) {
	f.asked++
	short, _ := contract.ConversationIDOf(id)
	c, ok := f.all[short]
	switch {
	case !ok:
		return nil, serviceerror.NewNotFound("no")
	case c.err != nil:
		return nil, c.err
	case query == names.QueryAgent:
		return value{c.agent}, nil
	case query == names.QueryNext:
		return value{c.next}, nil
	}
	return value{contract.ConversationView{ID: short, Running: c.running, Pending: c.pending}}, nil
}

func (f *fake) SignalWorkflow(_ context.Context, id, _, signal string, arg any) error {
	if signal != names.SignalAdopt {
		return fmt.Errorf("signal %s", signal)
	}
	short, _ := contract.ConversationIDOf(id)
	in, c := arg.(names.Adopt), f.all[short]
	f.adopted[short] = in
	switch waits := len(c.pending) > 0 && c.agent.Tree == nil && in.Agent.Tree == nil; {
	case c.deaf:
	case waits && slices.Equal(in.Approvals, []string{"u-1"}), !c.running && len(c.pending) == 0:
		c.agent, c.next = in.Agent, nil
	default:
		c.next = &in.Agent
	}
	f.all[short] = c
	return nil
}

const id = "11111111-1111-4111-8111-111111111111"

var before = contract.Agent{Name: "shop", Model: "old", Peers: []contract.Peer{{Name: "clerk", URL: "http://clerk"}}}

func after(change func(*contract.Agent)) contract.Agent {
	a := before
	a.Model = "new"
	if change != nil {
		change(&a)
	}
	return a
}

var grant = contract.Binding{Address: "http://tools", SHA256: "d1"}

func waiting(p contract.PendingApproval) []contract.PendingApproval {
	p.UUID = "u-1"
	if p.Reason == "" {
		p.Reason = contract.ReasonDestructive
	}
	return []contract.PendingApproval{p}
}

func call(b *contract.Binding) []contract.PendingApproval {
	return waiting(contract.PendingApproval{Server: "stock", ToolName: "add", Binding: b})
}

func tree(a *contract.Agent) { a.Tree = &contract.Node{Name: "t", Type: contract.NodeSequential} }

func TestWhatBecomesOfAConversation(t *testing.T) {
	stock := adoption.Tools{Servers: map[string]string{"stock": ""}, Targets: map[[2]string]contract.Binding{{"stock", "add"}: grant}}
	with := func(b contract.Binding) adoption.Tools {
		return adoption.Tools{Servers: stock.Servers, Targets: map[[2]string]contract.Binding{{"stock", "add"}: b}}
	}
	for name, c := range map[string]struct {
		is    conversation
		to    contract.Agent
		tools adoption.Tools
		state adoption.State
		why   string
	}{
		"one at rest":          {is: conversation{agent: before}, state: adoption.Now},
		"one that has it":      {is: conversation{agent: after(nil)}, state: adoption.Same},
		"one that works":       {is: conversation{agent: before, running: true}, state: adoption.Next},
		"a grant that holds":   {is: conversation{agent: before, running: false, pending: call(&grant)}, tools: stock, state: adoption.Now},
		"a grant of a tree":    {is: conversation{agent: after(tree), pending: call(&grant)}, to: after(func(a *contract.Agent) { tree(a); a.Model = "other" }), tools: stock, state: adoption.Next},
		"a tree for a node":    {is: conversation{agent: before, pending: call(&grant)}, to: after(tree), tools: stock, state: adoption.Next},
		"another address":      {is: conversation{agent: before, pending: call(&grant)}, tools: with(contract.Binding{Address: "http://new", SHA256: "d1"}), state: adoption.Kept, why: "it is for add at http://tools, which the file has at http://new"},
		"another definition":   {is: conversation{agent: before, pending: call(&grant)}, tools: with(contract.Binding{Address: "http://tools", SHA256: "d2"}), state: adoption.Kept, why: "the description or the parameters of add have changed"},
		"no such server":       {is: conversation{agent: before, pending: call(&grant)}, tools: adoption.Tools{}, state: adoption.Kept, why: "the tool server stock is not in the file"},
		"no such tool":         {is: conversation{agent: before, pending: call(&grant)}, tools: adoption.Tools{Servers: stock.Servers}, state: adoption.Kept, why: "has no tool add any more"},
		"a server that is off": {is: conversation{agent: before, pending: call(&grant)}, tools: adoption.Tools{Servers: map[string]string{"stock": "refused"}}, state: adoption.Kept, why: "does not answer"},
		"a grant of before":    {is: conversation{agent: before, pending: call(nil)}, tools: stock, state: adoption.Kept, why: "no digest"},
		"a limit":              {is: conversation{agent: before, pending: waiting(contract.PendingApproval{ToolName: "go_on", Reason: contract.ReasonLimit})}, state: adoption.Now},
		"a delegation":         {is: conversation{agent: before, pending: waiting(contract.PendingApproval{ToolName: before.Peers[0].Tool()})}, state: adoption.Now},
		"an agent elsewhere": {is: conversation{agent: before, pending: waiting(contract.PendingApproval{RemoteAgentName: "clerk", Reason: contract.ReasonRemote})},
			to: after(func(a *contract.Agent) { a.Peers = []contract.Peer{{Name: "clerk", URL: "http://other"}} }), state: adoption.Kept, why: "it is for the agent clerk at http://clerk"},
		"an agent that is gone": {is: conversation{agent: before, pending: waiting(contract.PendingApproval{RemoteAgentName: "clerk", Reason: contract.ReasonRemote})},
			to: after(func(a *contract.Agent) { a.Peers = nil }), state: adoption.Kept, why: "the agent clerk is not in the file"},
		"another agent":   {is: conversation{agent: contract.Agent{Name: "bar", Model: "m"}}, state: adoption.Kept, why: `a conversation with "bar"`},
		"an older worker": {is: conversation{err: errors.New("unknown queryType agent. KnownQueryTypes=[]")}, state: adoption.Kept, why: "upgrade all workers first"},
		"an old one":      {is: conversation{err: errors.New("unknown queryType next_agent. KnownQueryTypes=[]")}, state: adoption.Kept, why: "upgrade all workers first"},
		"no worker":       {is: conversation{err: serviceerror.NewDeadlineExceeded("late")}, state: adoption.Kept, why: "no worker answers"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.to.Name == "" {
				c.to = after(nil)
			}
			for _, dry := range []bool{true, false} {
				f := &fake{all: map[string]conversation{id: c.is}, adopted: map[string]names.Adopt{}}
				var got []adoption.Outcome
				a := adoption.Adoption{
					Server: f, Namespace: "default", TaskQueue: "shop", Agent: c.to, By: "ops", DryRun: dry,
					Tools: func(context.Context) (adoption.Tools, error) { return c.tools, nil },
					Told:  func(o adoption.Outcome) { got = append(got, o) },
				}
				if err := a.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(got) != 1 || got[0].State != c.state || !strings.Contains(strings.Join(got[0].Reasons, "\n"), c.why) || (c.why == "") != (len(got[0].Reasons) == 0) {
					t.Fatalf("got %+v", got)
				}
				sent, told := f.adopted[id]
				if told != (!dry && (c.state == adoption.Now || c.state == adoption.Next)) || told && (sent.Agent.Hash() != c.to.Hash() || sent.By != "ops") {
					t.Errorf("dry %t: sent %+v", dry, sent)
				}
				if want := "WorkflowType = 'Conversation' AND ExecutionStatus = 'Running' AND TaskQueue = 'shop'"; f.query != want {
					t.Errorf("%s", f.query)
				}
			}
		})
	}
}

// outcome runs an adoption of one conversation.
func outcome(t *testing.T, f *fake, to contract.Agent, dry bool) (o adoption.Outcome) {
	t.Helper()
	n := 0
	a := adoption.Adoption{Server: f, Agent: to, DryRun: dry, Told: func(now adoption.Outcome) { o, n = now, n+1 }}
	if err := a.Run(t.Context()); err != nil || n != 1 {
		t.Fatal(err, n)
	}
	return o
}

// The list says what a conversation has, and not what it takes over after its turn.
func TestAConfigurationThatWaitsForTheEndOfATurnIsTakenBack(t *testing.T) {
	b := after(nil)
	for name, is := range map[string]conversation{
		"a turn that works": {agent: before, next: &b, running: true, listed: before.Hash()},
		"one that waits":    {agent: before, next: &b, pending: call(&grant), listed: before.Hash()},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{all: map[string]conversation{id: is}, adopted: map[string]names.Adopt{}}
			o := outcome(t, f, before, true)
			if o.State != adoption.Now || o.Stored != b.Hash() || len(o.Changes) != 1 || o.Changes[0] != `model: "new" → "old"` || len(f.adopted) > 0 {
				t.Errorf("%+v", o)
			}
			outcome(t, f, before, false)
			if sent := f.adopted[id]; sent.Agent.Hash() != before.Hash() || len(sent.Approvals) != len(is.pending) {
				t.Errorf("sent %+v", sent)
			}
		})
	}
}

func TestAConfigurationThatIsStoredAlreadyIsNotSentAgain(t *testing.T) {
	b := after(nil)
	f := &fake{all: map[string]conversation{id: {agent: before, next: &b, running: true}}, adopted: map[string]names.Adopt{}}
	if o := outcome(t, f, b, false); o.State != adoption.Next || o.Stored != "" || len(f.adopted) > 0 {
		t.Errorf("%+v", o)
	}
}

func TestAConversationThatDoesNotNoteItsConfigurationIsReported(t *testing.T) {
	f := &fake{all: map[string]conversation{id: {agent: before, deaf: true}}, adopted: map[string]names.Adopt{}}
	if o := outcome(t, f, after(nil), false); o.State != adoption.Kept || !strings.Contains(o.Reasons[0], "has not noted it") || len(f.adopted) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestNamedConversationsOnly(t *testing.T) {
	f := &fake{all: map[string]conversation{id: {agent: before}, "other": {agent: before}}, adopted: map[string]names.Adopt{}}
	var got []adoption.Outcome
	a := adoption.Adoption{Server: f, Agent: after(nil), Only: []string{id, "none"}, Told: func(o adoption.Outcome) { got = append(got, o) }}
	if err := a.Run(t.Context()); err != nil || len(got) != 2 || got[0].State != adoption.Now || got[1].State != adoption.Kept || len(f.adopted) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if c := got[0].Changes; len(c) != 1 || c[0] != `model: "old" → "new"` {
		t.Errorf("%q", c)
	}
}

func TestManyChangesAreCut(t *testing.T) {
	f := &fake{all: map[string]conversation{id: {agent: before}}, adopted: map[string]names.Adopt{}}
	to := after(func(a *contract.Agent) {
		for i := range 30 {
			a.Choices = append(a.Choices, fmt.Sprint(strings.Repeat("m", 90), i))
		}
	})
	var got adoption.Outcome
	if err := (adoption.Adoption{Server: f, Agent: to, DryRun: true, Told: func(o adoption.Outcome) { got = o }}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Changes); n != 13 || got.Changes[12] != "and 19 more" || len(got.Changes[0]) > 90 {
		t.Errorf("%d %q", n, got.Changes)
	}
}
