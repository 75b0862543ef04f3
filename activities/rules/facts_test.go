package rules_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/facts"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// policy needs facts of a name for calls of execute, and remembers the calls that it judged.
type policy struct{ judged []verdict.Call }

func (p *policy) FactsFor(c verdict.Call) []string {
	if c.Tool == "execute" {
		return []string{"sql"}
	}
	return nil
}

func (p *policy) Version() string { return "0123456789ab" }

func (p *policy) Judge(c verdict.Call) *verdict.Verdict {
	p.judged = append(p.judged, c)
	return &verdict.Verdict{Outcome: verdict.Ask}
}

type servers func(ctx context.Context) (facts.Answer, error)

func (s servers) Facts(ctx context.Context, _ toolbox.Tool, _ string, _ json.RawMessage, _ string) (facts.Answer, error) {
	return s(ctx)
}

func tool(name string) toolbox.Tool {
	return toolbox.Tool{Tool: contract.Tool{Name: name, Server: "db"}, Facts: map[string]facts.Source{"sql": {Name: "sql", Tool: "tell"}}}
}

func TestAServerIsAskedOnlyWhereARuleNeedsIt(t *testing.T) {
	asked := 0
	p := &policy{}
	j := rules.Judge{Policy: p, Servers: servers(func(context.Context) (facts.Answer, error) {
		asked++
		return facts.Answer{Values: map[string]any{"class": "write"}, Shown: json.RawMessage(`{"class":"write"}`)}, nil
	})}
	if v := j.Call(t.Context(), tool("query"), true, nil); asked != 0 || v.Facts != nil {
		t.Errorf("asked %d times: %s", asked, v.Facts)
	}
	if v := j.Call(t.Context(), tool("execute"), true, nil); asked != 1 || string(v.Facts) != `{"sql":{"class":"write"}}` || p.judged[1].ServerFacts["sql"]["class"] != "write" {
		t.Errorf("asked %d times: %+v", asked, v)
	}
	untold := tool("execute")
	untold.Facts = nil
	if v := j.Call(t.Context(), untold, true, nil); asked != 1 || v.Facts != nil || p.judged[2].FactProblems["sql"] != "no server tells the facts sql of execute" {
		t.Errorf("asked %d times: %+v", asked, p.judged[2])
	}
}

func TestAServerThatFailsIsAReason(t *testing.T) {
	p := &policy{}
	j := rules.Judge{Policy: p, Servers: servers(func(context.Context) (facts.Answer, error) { return facts.Answer{}, errors.New("db: down") })}
	if v := j.Call(t.Context(), tool("execute"), true, nil); v.Facts != nil || p.judged[0].FactProblems["sql"] != "db: down" || len(p.judged[0].ServerFacts) != 0 {
		t.Errorf("%+v, judged %+v", v, p.judged)
	}
}

// A server that hangs costs a reply with many calls the time of one.
func TestTheFactsOfAReplyHaveOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &policy{}
		j := rules.Judge{Policy: p, Servers: servers(func(ctx context.Context) (facts.Answer, error) {
			<-ctx.Done()
			return facts.Answer{}, context.Cause(ctx)
		})}
		began := time.Now()
		for range 20 {
			j.Call(t.Context(), tool("execute"), true, nil)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %s", took)
		}
		texts := fmt.Sprint(p.judged[0].FactProblems, p.judged[19].FactProblems)
		if !strings.Contains(texts, "did not come within 3s") || !strings.Contains(texts, "db: no time is left") {
			t.Error(texts)
		}
	})
}

func TestAPreviewIsForThePersonWhoIsAsked(t *testing.T) {
	var answer facts.Answer
	var failure error
	j := rules.Judge{Servers: servers(func(context.Context) (facts.Answer, error) { return answer, failure })}
	changing := tool("change")
	if got := j.Preview(t.Context(), changing, nil); got != "" {
		t.Errorf("a server that tells none: %q", got)
	}
	changing.Facts[facts.Preview] = facts.Source{Name: facts.Preview, Tool: "tell"}
	answer.Text = "-a\n+b\n"
	if got := j.Preview(t.Context(), changing, nil); got != answer.Text {
		t.Errorf("%q", got)
	}
	answer.Text = strings.Repeat("é", 10_000)
	if got := j.Preview(t.Context(), changing, nil); !strings.HasPrefix(got, "NOT ALL OF IT IS SHOWN: it has 20000 bytes\néé") || len(got) > 17_000 {
		t.Errorf("%d: %.60q", len(got), got)
	}
	for range 3 {
		j.Preview(t.Context(), changing, nil)
	}
	if got := j.Preview(t.Context(), changing, nil); got != "It is not shown what this changes: the calls of this reply change too much" {
		t.Error(got)
	}
	j = rules.Judge{Servers: j.Servers}
	failure = errors.New("db: down")
	if got := j.Preview(t.Context(), changing, nil); got != "It is not known what this changes: db: down" {
		t.Errorf("%q", got)
	}
}
