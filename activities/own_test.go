package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/local"
	"agent-stop-and-go/activities/rates"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	wire "agent-stop-and-go/workflows/contract/local"
	limits "agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/verdict"
)

// about is a policy that keeps what it judged.
type about struct {
	says   *verdict.Verdict
	judged []verdict.Call
}

func (a *about) Judge(c verdict.Call) *verdict.Verdict { a.judged = append(a.judged, c); return a.says }
func (a *about) FactsFor(verdict.Call) []string        { return nil }
func (a *about) Version() string                       { return "v1" }

// owner is an agent with ask_model_with_tool and a server that has find. ran are the calls of find.
func owner(p *about, steps ...llmtest.Step) (tools *activities.Tools, ran *[]toolbox.Call) {
	ran = new([]toolbox.Call)
	find := toolbox.Tool{Tool: contract.Tool{Name: "find", Server: "crm"}, ReadOnly: true}
	own := &activities.Own{
		Tools: &local.Tools{Offer: wire.Names(), Models: []local.Model{{Name: "m", Default: true}}, Model: llmtest.Script(steps...), Now: time.Now},
		Scope: local.Scope{Offer: fakeOffer{tools: []toolbox.Tool{find}}},
	}
	if p != nil {
		own.Scope.Policy = p
	}
	return &activities.Tools{
		Blobs: newMemory(), Now: time.Now, Own: own,
		Caller: fakeCaller{tools: []toolbox.Tool{find}, CallFn: func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
			*ran = append(*ran, c)
			return toolbox.Result{Text: "found"}, nil
		}},
	}, ran
}

func ownCall(t *testing.T) contract.CallToolInput {
	args := json.RawMessage(`{"tool":"find","request":"ann?"}`)
	sum, err := toolbox.Digest(args)
	if err != nil {
		t.Fatal(err)
	}
	return contract.CallToolInput{ConversationID: conversationID, SessionID: "s1", Server: wire.Server, Tool: wire.AskModelWithTool, Arguments: contract.JSON{Raw: args}, SHA256: sum, IdempotencyKey: "k"}
}

func callsFind() []llmtest.Step {
	return []llmtest.Step{llmtest.Call("find", `{"q":"ann"}`), llmtest.Text("Ann is known.")}
}

func TestAToolOfTheAgentItselfCallsAnother(t *testing.T) {
	p := &about{}
	tools, ran := owner(p, callsFind()...)
	in := ownCall(t)
	in.Basis = contract.JSON{Raw: json.RawMessage(`{"node":"desk","facts":{"chain":["front"]},"before":[{"tool":"backup"}]}`)}
	out, err := tools.CallTool(t.Context(), in)
	if err != nil || out.Text.Inline != "Ann is known." || out.Used != "find" || out.Note != `It called find with {"q":"ann"}.` || out.IsError {
		t.Fatalf("%+v %v", out, err)
	}
	if len(*ran) != 1 || (*ran)[0].Server != "crm" || string((*ran)[0].Arguments) != `{"q":"ann"}` || (*ran)[0].SessionID != "s1" || (*ran)[0].Destructive {
		t.Errorf("ran %+v", *ran)
	}
	// It is judged like a call of the node itself.
	if c := p.judged; len(c) != 1 || c[0].Tool != "find" || c[0].Server != "crm" || c[0].Node != "desk" || c[0].Facts.Chain[0] != "front" || c[0].Before[0].Tool != "backup" || !c[0].ReadOnly {
		t.Errorf("judged %+v", c)
	}
}

func TestARuleHoldsWhatAToolOfTheAgentItselfCalls(t *testing.T) {
	tools, ran := owner(&about{says: &verdict.Verdict{Outcome: verdict.Ask, Rule: "look"}}, callsFind()...)
	if out, err := tools.CallTool(t.Context(), ownCall(t)); err != nil || !out.IsError || !strings.Contains(out.Text.Inline, "rule look") || len(*ran) != 0 {
		t.Errorf("%+v %v, ran %+v", out, err, *ran)
	}
}

func TestAToolOfTheAgentItselfHasTheToolsOfItsNode(t *testing.T) {
	for _, list := range [][]string{{"agent"}, {}, {"agent", "other"}} {
		tools, ran := owner(nil, callsFind()...)
		in := ownCall(t)
		in.Tools = list
		if out, err := tools.CallTool(t.Context(), in); err != nil || !out.IsError || !strings.Contains(out.Text.Inline, `no tool "find"`) || len(*ran) != 0 {
			t.Errorf("%q: %+v %v, ran %+v", list, out, err, *ran)
		}
	}
	tools, ran := owner(nil, callsFind()...)
	in := ownCall(t)
	in.Tools = []string{"agent", "crm"}
	if out, err := tools.CallTool(t.Context(), in); err != nil || out.IsError || len(*ran) != 1 {
		t.Errorf("%+v %v, ran %+v", out, err, *ran)
	}
}

// The arguments are those that were shown here, too.
func TestAToolOfTheAgentItselfHasADigest(t *testing.T) {
	tools, ran := owner(nil, callsFind()...)
	in := ownCall(t)
	in.SHA256 = "other"
	_, err := tools.CallTool(t.Context(), in)
	failedAs(t, err, contract.KindDigest, false)
	if len(*ran) != 0 {
		t.Errorf("ran %+v", *ran)
	}
}

func TestARateLimitHoldsWhatAToolOfTheAgentItselfCalls(t *testing.T) {
	tools, ran := owner(nil, append(callsFind(), callsFind()...)...)
	counted := &counter{}
	limit := limits.Limit{Name: "crm", Server: "crm", Per: limits.PerCaller, Calls: 1, In: time.Minute, On: limits.Deny}
	tools.Rates = rates.New("desk", []limits.Limit{limit}, nil, counted)
	in := ownCall(t)
	in.Rate = limits.Passage{Caller: "alice", Over: []string{"crm"}} // granted to the call itself
	if out, err := tools.CallTool(t.Context(), in); err != nil || out.IsError || len(*ran) != 1 || len(counted.takes) != 1 {
		t.Errorf("%+v %v, ran %+v, counted %+v", out, err, *ran, counted.takes)
	}
	if out, err := tools.CallTool(t.Context(), in); err != nil || !out.IsError || !strings.Contains(out.Text.Inline, "find was not called with") || !strings.Contains(out.Text.Inline, "rate limit") || out.Used != "" || len(*ran) != 1 {
		t.Errorf("%+v %v, ran %+v", out, err, *ran)
	}
}

// What a tool of the agent itself could not call was not called, and what failed was.
func TestAToolOfTheAgentItselfSaysWhetherItHasCalled(t *testing.T) {
	for kind, want := range map[contract.Kind]string{contract.KindToolUnavailable: "find was not called with", contract.KindToolFailed: "find was called with"} {
		tools, _ := owner(nil, callsFind()...)
		tools.Caller = fakeCaller{CallFn: func(context.Context, toolbox.Call) (toolbox.Result, error) {
			return toolbox.Result{}, &toolbox.Error{Kind: kind, Server: "crm", Tool: "find", Err: errors.New("no")}
		}}
		out, err := tools.CallTool(t.Context(), ownCall(t))
		if err != nil || !out.IsError || !strings.HasPrefix(out.Text.Inline, want) || (out.Used == "find") != (kind == contract.KindToolFailed) {
			t.Errorf("%s: %+v %v", kind, out, err)
		}
	}
}

// counter has room for one call.
type counter struct{ takes []string }

func (c *counter) Take(_ context.Context, id string, _ limits.Input, takes []limits.Take) ([]limits.Outcome, error) {
	c.takes = append(c.takes, id)
	return slices.Repeat([]limits.Outcome{{Room: len(c.takes) == 1, New: true}}, len(takes)), nil
}

func (*counter) Return(context.Context, string, string) error { return nil }
