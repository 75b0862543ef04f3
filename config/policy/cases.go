package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/workflows/contract/verdict"
)

// None is what a Case expects if no rule is to be about the call: the hints of the tool decide.
const None = "none"

// Cases is a file with calls and what the rules are to say about them.
type Cases struct {
	Cases []Case `yaml:"cases"`
}

// Case is one call with the expected verdict.
type Case struct {
	Name string   `yaml:"name"`
	Call CaseCall `yaml:"call"`
	// Expect is an outcome, or None.
	Expect string `yaml:"expect"`
	// Rule is the rule that is to decide; "" is any.
	Rule string `yaml:"rule"`
}

// CaseCall is a call in a Case, and what agent policy explain takes.
type CaseCall struct {
	Tool        string         `yaml:"tool"`
	Server      string         `yaml:"server"`
	Node        string         `yaml:"node"`
	Args        map[string]any `yaml:"args"`
	Annotations struct {
		ReadOnly    bool `yaml:"read_only"`
		Destructive bool `yaml:"destructive"`
		Idempotent  bool `yaml:"idempotent"`
	} `yaml:"annotations"`
	Caller struct {
		Subject string   `yaml:"subject"`
		Issuer  string   `yaml:"issuer"`
		Groups  []string `yaml:"groups"`
		Scopes  []string `yaml:"scopes"`
		Channel string   `yaml:"channel"`
	} `yaml:"caller"`
	Chain []string `yaml:"chain"`
	Usage struct {
		InputTokens  int64   `yaml:"input_tokens"`
		OutputTokens int64   `yaml:"output_tokens"`
		Calls        int64   `yaml:"calls"`
		Cost         float64 `yaml:"cost"`
	} `yaml:"usage"`
	Time  time.Time `yaml:"time"`
	Reply []struct {
		Tool string `yaml:"tool"`
	} `yaml:"reply"`
	Before []struct {
		Tool   string `yaml:"tool"`
		Failed bool   `yaml:"failed"`
	} `yaml:"before"`
	// Facts are what the server says of the call, by the names of the facts.
	Facts map[string]map[string]any `yaml:"facts"`
}

// call returns the call to judge. Without a time it is now.
func (c CaseCall) call(now time.Time) (verdict.Call, error) {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return verdict.Call{}, fmt.Errorf("encode args: %w", err)
	}
	out := verdict.Call{
		Tool: c.Tool, Server: c.Server, Node: c.Node, Arguments: raw, Time: c.Time, Before: []verdict.Earlier{}, ServerFacts: c.Facts,
		ReadOnly: c.Annotations.ReadOnly, Destructive: c.Annotations.Destructive, Idempotent: c.Annotations.Idempotent,
		Facts: &verdict.Facts{
			Caller: c.caller(), Chain: c.Chain,
			Usage: verdict.Usage{InputTokens: c.Usage.InputTokens, OutputTokens: c.Usage.OutputTokens, Calls: c.Usage.Calls, CostNanos: int64(c.Usage.Cost * 1e9)},
		},
	}
	if out.Time.IsZero() {
		out.Time = now
	}
	for _, r := range c.Reply {
		out.Reply = append(out.Reply, verdict.Earlier{Tool: r.Tool})
	}
	for _, b := range c.Before {
		out.Before = append(out.Before, verdict.Earlier{Tool: b.Tool, Failed: b.Failed})
	}
	return out, nil
}

func (c CaseCall) caller() *verdict.Caller {
	return &verdict.Caller{Subject: c.Caller.Subject, Issuer: c.Caller.Issuer, Groups: c.Caller.Groups, Scopes: c.Caller.Scopes, Channel: c.Caller.Channel}
}

// Judged returns the call of a case. Without a time it is now.
func (c Case) Judged(now time.Time) (verdict.Call, error) { return c.Call.call(now) }

// ReadCases reads a file of cases. Unknown keys are errors.
func ReadCases(r io.Reader) (Cases, error) {
	var c Cases
	if err := decode(r, &c); err != nil {
		return Cases{}, fmt.Errorf("read the cases: %w", err)
	}
	var problems []string
	expected := []string{None}
	for _, o := range verdict.Outcomes() {
		expected = append(expected, string(o))
	}
	for i, one := range c.Cases {
		switch {
		case one.Call.Tool == "":
			problems = append(problems, fmt.Sprintf("case %d: call.tool is required", i+1))
		case !slices.Contains(expected, one.Expect):
			problems = append(problems, fmt.Sprintf("case %d: expect is %q: must be one of %s", i+1, one.Expect, strings.Join(expected, ", ")))
		}
	}
	if len(c.Cases) == 0 {
		problems = append(problems, "there are no cases")
	}
	if len(problems) > 0 {
		return Cases{}, errors.New("read the cases: " + strings.Join(problems, "; "))
	}
	return c, nil
}

// ReadCall reads a call, as YAML or JSON.
func ReadCall(r io.Reader, now time.Time) (verdict.Call, error) {
	var c CaseCall
	if err := decode(r, &c); err != nil {
		return verdict.Call{}, fmt.Errorf("read the call: %w", err)
	}
	if c.Tool == "" {
		return verdict.Call{}, errors.New("read the call: tool is required")
	}
	return c.call(now)
}

// maxCases is the size of a file of cases, in bytes.
const maxCases = 8 << 20

func decode(r io.Reader, v any) error {
	data, err := io.ReadAll(io.LimitReader(r, maxCases+1))
	if err != nil {
		return err
	}
	if len(data) > maxCases {
		return fmt.Errorf("it is larger than %d bytes", maxCases)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(v); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Report is the result of Run.
type Report struct {
	Cases []CaseResult `json:"cases"`
	// Unmatched are the rules that match no case, Undecided those that match some and decide none.
	Unmatched []string `json:"unmatched,omitempty"`
	Undecided []string `json:"undecided,omitempty"`
}

// CaseResult is the result of a case.
type CaseResult struct {
	Name string `json:"name"`
	Got  string `json:"got"` // an outcome, or None
	Rule string `json:"rule,omitempty"`
	// Problem is what differs from the expectation; "" if nothing does.
	Problem string `json:"problem,omitempty"`
	// Why explains the verdict of a case with a problem.
	Why *Explanation `json:"why,omitempty"`
}

// Failed counts the cases with a problem.
func (r Report) Failed() int {
	n := 0
	for _, c := range r.Cases {
		if c.Problem != "" {
			n++
		}
	}
	return n
}

// Run judges the calls of cases.
func (p *Policy) Run(cases Cases, now time.Time) (Report, error) {
	var out Report
	matched, decided := map[string]bool{}, map[string]bool{}
	for i, c := range cases.Cases {
		call, err := c.Call.call(now)
		if err != nil {
			return out, fmt.Errorf("case %d: %w", i+1, err)
		}
		why := p.Explain(call)
		for _, m := range why.Matching {
			matched[m.Rule] = true
		}
		result := CaseResult{Name: c.Name, Got: None}
		if v := why.Verdict; v != nil {
			result.Got, result.Rule = string(v.Outcome), v.Rule
			decided[v.Rule] = true
			for _, a := range v.Asks {
				decided[a.Rule] = true
			}
		}
		if result.Problem = c.problem(result); result.Problem != "" {
			result.Why = &why
		}
		out.Cases = append(out.Cases, result)
	}
	for _, r := range p.Rules() {
		switch {
		case !matched[r.Name]:
			out.Unmatched = append(out.Unmatched, r.Name)
		case !decided[r.Name]:
			out.Undecided = append(out.Undecided, r.Name)
		}
	}
	return out, nil
}

func (c Case) problem(r CaseResult) string {
	switch {
	case r.Got != c.Expect && r.Rule != "":
		return fmt.Sprintf("%s by the rule %s, not %s", r.Got, r.Rule, c.Expect)
	case r.Got != c.Expect:
		return fmt.Sprintf("%s, not %s", r.Got, c.Expect)
	case c.Rule != "" && r.Rule != c.Rule:
		return fmt.Sprintf("%s by the rule %s, not %s", r.Got, r.Rule, c.Rule)
	}
	return ""
}
