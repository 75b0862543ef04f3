package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/local"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	names "agent-stop-and-go/workflows/contract/local"
	"agent-stop-and-go/workflows/contract/verdict"
)

func tools(model llm.Model) *local.Tools {
	return &local.Tools{
		Agent: "desk", Description: "Helps.", Offer: names.Names(), Model: model, MaxTokens: 50,
		Models: []local.Model{{Name: "demo:rules", Provider: "demo", Model: "rules", Default: true}, {Name: "clever", Provider: "openai", Model: "gpt-9", Context: 1000, Input: 2}},
		Now:    func() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.FixedZone("CET", 3600)) },
	}
}

// world is what ask_model_with_tool may use. It counts what ran.
type world struct {
	tool    toolbox.Tool
	verdict *verdict.Verdict
	misfit  string
	result  contract.CallToolResult
	text    string
	err     error
	ran     []string
}

func (w *world) Tool(_ context.Context, name string) (toolbox.Tool, bool) {
	return w.tool, name == w.tool.Name
}
func (w *world) Check(_ context.Context, _ string, args json.RawMessage) (json.RawMessage, string) {
	return args, w.misfit
}
func (w *world) Judge(context.Context, toolbox.Tool, json.RawMessage) *verdict.Verdict {
	return w.verdict
}
func (w *world) Run(_ context.Context, tool toolbox.Tool, args json.RawMessage) (contract.CallToolResult, string, error) {
	w.ran = append(w.ran, tool.Name+string(args))
	return w.result, w.text, w.err
}

func find(readOnly bool) toolbox.Tool {
	return toolbox.Tool{Tool: contract.Tool{Name: "find", Server: "crm", InputSchema: json.RawMessage(`{"type":"object"}`)}, ReadOnly: readOnly}
}

// used is a step with tokens, so that what is asked is counted.
func used(r llm.Reply) llmtest.Step {
	r.Usage = contract.Usage{InputTokens: 10, OutputTokens: 1, Calls: 1, Cost: 7}
	return llmtest.Give(r)
}

func call(tool, args string, w *world) local.Call {
	return local.Call{Tool: tool, Arguments: json.RawMessage(args), Inside: w}
}

func TestWhatTheAgentIs(t *testing.T) {
	box := tools(llmtest.Script())
	r, err := box.Call(t.Context(), call(names.AgentInfo, `{}`, nil))
	if err != nil || !strings.Contains(r.Text, `"name":"desk"`) || !strings.Contains(r.Text, `"local_time":"2026-03-14T12:00:00+01:00","timezone":"CET"`) || !strings.Contains(r.Text, `"model":"demo:rules"`) {
		t.Errorf("%+v %v", r, err)
	}
	r, err = box.Call(t.Context(), call(names.Models, `{}`, nil))
	want := `{"models":[{"name":"demo:rules","provider":"demo","model":"rules","default":true},{"name":"clever","provider":"openai","model":"gpt-9","context_window":1000,"input_price":2}]}`
	if err != nil || r.Text != want {
		t.Errorf("%+v %v", r, err)
	}
}

func TestAModelIsAskedWithoutTheConversation(t *testing.T) {
	model := llmtest.Script(used(llm.Reply{Text: "four"}))
	r, err := tools(model).Call(t.Context(), call(names.AskModel, `{"model":"clever","prompt":"2+2?"}`, nil))
	if err != nil || r.Text != "four" || r.IsError || r.Usage.Calls != 1 || r.Usage.Cost != 7 {
		t.Fatalf("%+v %v", r, err)
	}
	q := model.Requests()[0]
	if q.Model != "clever" || q.System != "" || q.MaxTokens != 50 || len(q.Tools) != 0 || len(q.Messages) != 1 || q.Messages[0].Content.Inline != "2+2?" {
		t.Errorf("%+v", q)
	}
}

func TestFailuresOfTheModel(t *testing.T) {
	hangs := llmtest.Func(func(llm.Request) (llm.Reply, error) {
		time.Sleep(time.Minute)
		return llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Message: "cancelled"}
	})
	for name, c := range map[string]struct {
		model llm.Model
		args  string
		kind  contract.Kind
		says  string
	}{
		"not listed":   {llmtest.Script(), `{"model":"secret","prompt":"x"}`, contract.KindToolFailed, `"secret" cannot be asked`},
		"no key":       {llmtest.Script(llmtest.Err(contract.KindModelAuth, "the key is wrong")), `{"prompt":"x"}`, contract.KindToolFailed, "the key is wrong"},
		"away":         {llmtest.Script(llmtest.Err(contract.KindModelUnavailable, "away")), `{"prompt":"x"}`, contract.KindToolUnavailable, "away"},
		"takes long":   {hangs, `{"prompt":"x"}`, contract.KindToolFailed, "no answer within 10s"},
		"no arguments": {llmtest.Script(), `7`, contract.KindInvalid, "decode the arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := tools(c.model)
				box.Timeout = 10 * time.Second
				var known *toolbox.Error
				if r, err := box.Call(t.Context(), call(names.AskModel, c.args, nil)); !errors.As(err, &known) || known.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%+v %v", r, err)
				}
			})
		})
	}
}

func TestAModelCallsOneToolOnceAndAnswers(t *testing.T) {
	w := &world{tool: find(true), text: "long list", result: contract.CallToolResult{Note: "late"}}
	model := llmtest.Script(
		used(llm.Reply{Calls: []llm.Call{{ID: "a", Name: "find", Arguments: json.RawMessage(`{"q":"ann"}`)}, {ID: "b", Name: "find", Arguments: json.RawMessage(`{"q":"bob"}`)}}, Native: &llm.Native{Provider: "google", Model: "g", Content: json.RawMessage(`[1]`)}}),
		used(llm.Reply{Text: "Ann is known."}))
	r, err := tools(model).Call(t.Context(), call(names.AskModelWithTool, `{"tool":"find","request":"is ann known?"}`, w))
	if err != nil || r.Text != "Ann is known." || r.IsError || r.Usage.Calls != 2 || r.Used != "find" || r.Call != `It called find with {"q":"ann"}.` || r.Inner.Note != "late" {
		t.Fatalf("%+v %v", r, err)
	}
	if strings.Join(w.ran, " ") != `find{"q":"ann"}` {
		t.Errorf("ran %q", w.ran)
	}
	first, second := model.Requests()[0], model.Requests()[1]
	if len(first.Tools) != 1 || first.Tools[0].Name != "find" || len(first.Messages) != 1 {
		t.Errorf("first %+v", first)
	}
	turns := llm.BuildTurns(second.Messages, nil)
	if len(turns) != 2 || len(turns[1].Calls) != 1 || turns[1].Calls[0].Result != "long list" || turns[1].Native == nil {
		t.Errorf("second %+v", turns)
	}
}

// Whatever would ask a person, or be refused, does not run inside, and the result says so.
func TestNothingThatAsksRunsInside(t *testing.T) {
	destructive, asking, own := find(false), find(true), find(true)
	destructive.DestructiveHint, asking.MayAsk, own.Server = true, true, names.Server
	const proposes = `{"q":1}`
	for name, c := range map[string]struct {
		tool    toolbox.Tool
		verdict *verdict.Verdict
		calls   string // what the model calls; "find" without
		misfit  string
		says    string
	}{
		"destructive":        {tool: destructive, says: "a person must approve it"},
		"not read-only":      {tool: find(false), says: "does not say that it only reads"},
		"its server may ask": {tool: asking, says: "may ask a person"},
		"the agent's own":    {tool: own, says: "a tool of the agent itself"},
		"unknown":            {tool: toolbox.Tool{}, says: `no tool "find"`},
		"a rule asks":        {tool: find(true), verdict: &verdict.Verdict{Outcome: verdict.Ask, Rule: "look"}, says: "a person must approve it (rule look)"},
		"a rule denies":      {tool: find(true), verdict: &verdict.Verdict{Outcome: verdict.Deny, Rule: "no", Text: "Not at night."}, says: "does not let it run (rule no). Not at night."},
		"a rule only shows":  {tool: find(true), verdict: &verdict.Verdict{Outcome: verdict.DryRun, Rule: "dry"}, says: "does not let it run (rule dry)"},
		"an unknown outcome": {tool: find(true), verdict: &verdict.Verdict{Outcome: "later", Rule: "new"}, says: "does not let it run (rule new)"},
		"another tool":       {tool: find(true), calls: "remove", says: `called "remove", which was not offered`},
		"wrong arguments":    {tool: find(true), misfit: "q must be a text", says: "q must be a text"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{tool: c.tool, verdict: c.verdict, misfit: c.misfit}
			called := c.calls
			if called == "" {
				called = "find"
			}
			r, err := tools(llmtest.Script(used(llm.Reply{Calls: []llm.Call{llmtest.ToolCall("a", called, proposes)}}))).Call(
				t.Context(), call(names.AskModelWithTool, `{"tool":"find","request":"look"}`, w))
			if err != nil || !r.IsError || !strings.Contains(r.Text, c.says) || r.Used != "" || len(w.ran) > 0 {
				t.Errorf("%+v %v, ran %q", r, err, w.ran)
			}
		})
	}
}

func TestARuleMayLetACallRunInside(t *testing.T) {
	w := &world{tool: find(true), verdict: &verdict.Verdict{Outcome: verdict.Allow, Rule: "look"}, text: "found"}
	r, err := tools(llmtest.Script(llmtest.Call("find", `{}`), llmtest.Text("ok"))).Call(t.Context(), call(names.AskModelWithTool, `{"tool":"find","request":"look"}`, w))
	if err != nil || r.Text != "ok" || len(w.ran) != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

// After the first reply tokens are used: a failure is a result, and nothing is repeated.
func TestWhatFailsLaterIsAResult(t *testing.T) {
	away := llmtest.Err(contract.KindModelUnavailable, "away")
	calls := used(llm.Reply{Calls: []llm.Call{llmtest.ToolCall("a", "find", `{}`)}})
	ask := func(w *world, steps ...llmtest.Step) local.Result {
		t.Helper()
		r, err := tools(llmtest.Script(steps...)).Call(t.Context(), call(names.AskModelWithTool, `{"tool":"find","request":"look"}`, w))
		if err != nil || r.Usage.Calls == 0 {
			t.Fatalf("%+v %v", r, err)
		}
		return r
	}
	if r := ask(&world{tool: find(true), err: errors.New("down")}, calls); !r.IsError || !strings.Contains(r.Text, "failed: down") || r.Used != "find" || r.Inner != nil {
		t.Errorf("%+v", r)
	}
	if r := ask(&world{tool: find(true), text: "found"}, calls, away); r.IsError || r.Used != "find" || !strings.Contains(r.Text, "away") || !strings.HasSuffix(r.Text, "The tool find answered:\nfound") {
		t.Errorf("%+v", r)
	}
	if r := ask(&world{tool: find(true), text: "found"}, calls, calls); r.IsError || r.Text != "found" {
		t.Errorf("only calls: %+v", r)
	}
	if r := ask(&world{tool: find(true)}, used(llm.Reply{Text: "I know it."})); r.IsError || r.Text != "I know it." || r.Used != "" {
		t.Errorf("no call: %+v", r)
	}
}

func TestWhatIsOnOffer(t *testing.T) {
	servers := toolbox.New(toolbox.Options{})
	defer servers.Close()
	none := local.Box{Toolbox: servers}
	if len(none.Tools(t.Context())) != 0 || len(none.States()) != 0 {
		t.Error("tools without any on offer")
	}
	own := tools(nil)
	own.Offer = []string{names.AskModel, names.AgentInfo}
	box := local.Box{Toolbox: servers, Own: own}
	list := box.Tools(t.Context())
	if len(list) != 2 || list[0].Name != names.AgentInfo || list[1].Name != names.AskModel {
		t.Fatalf("%+v", list)
	}
	for _, o := range list {
		if !o.ReadOnly || o.DestructiveHint || o.Server != names.Server || o.Approval.Asks {
			t.Errorf("%+v", o)
		}
	}
	if s := box.States(); len(s) != 1 || !s[0].Ready || s[0].Name != names.Server || s[0].Tools != 2 {
		t.Errorf("%+v", s)
	}
	for args, want := range map[string]string{`{"prompt":"x"}`: "", `{"prompt":"x","model":"secret"}`: "model", `{}`: "prompt", `{"prompt":"x","system":"y"}`: "system"} {
		if _, problem := box.Check(t.Context(), names.AskModel, json.RawMessage(args)); (want == "") != (problem == "") || !strings.Contains(problem, want) {
			t.Errorf("%s: %q", args, problem)
		}
	}
	if _, problem := box.Check(t.Context(), names.Models, json.RawMessage(`{}`)); !strings.Contains(problem, "unknown tool") {
		t.Errorf("not on offer: %q", problem)
	}
	if _, err := own.Call(t.Context(), call(names.Models, `{}`, nil)); err == nil {
		t.Error("a tool that is not on offer was called")
	}
}
