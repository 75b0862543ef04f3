package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config/policy"
)

const caseFile = `
cases:
  - name: a small refund passes
    call: {tool: refund, server: pay, args: {amount: 20}, annotations: {destructive: true}}
    expect: allow
    rule: small
  - name: at night nobody
    call: {tool: refund, args: {amount: 20}, time: 2026-11-25T23:30:00Z, caller: {groups: [support]}, before: [{tool: check}]}
    expect: deny
  - name: a large one asks
    call: {tool: refund, args: {amount: 700}}
    expect: allow
  - call: {tool: list}
    expect: none
`

func TestCasesAreJudged(t *testing.T) {
	p := mustNew(t,
		rule("small", `tool == "refund" && args.amount < 500`, "allow"),
		rule("big", `tool == "refund" && args.amount >= 500`, "ask"),
		rule("night", `tool == "refund" && time.getHours() >= 22 && "support" in caller.groups && size(before) == 1`, "come back tomorrow"),
		rule("never", `tool == "drop"`, "deny"),
		rule("shadow", `tool == "refund" && args.amount == 20`, "allow"),
	)
	cases, err := policy.ReadCases(strings.NewReader(caseFile))
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Run(cases, time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	if err != nil || got.Failed() != 1 || got.Cases[2].Why == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Cases[2].Why = nil
	want := policy.Report{
		Cases: []policy.CaseResult{
			{Name: "a small refund passes", Got: "allow", Rule: "small"}, {Name: "at night nobody", Got: "deny", Rule: "night"},
			{Name: "a large one asks", Got: "ask", Rule: "big", Problem: "ask by the rule big, not allow"}, {Got: "none"},
		},
		Unmatched: []string{"never"}, Undecided: []string{"shadow"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFilesOfCasesThatAreNone(t *testing.T) {
	for file, want := range map[string]string{
		"":                                      "there are no cases",
		"cases: []":                             "there are no cases",
		"case: []":                              "field case not found",
		"cases: [{expect: allow}]":              "case 1: call.tool is required",
		"cases: [{call: {tool: x}}]":            `case 1: expect is "": must be one of none, allow, ask, dry_run, deny`,
		"cases: [{call: {tol: x}}]":             "field tol not found",
		"cases: [{call: {tool: x, args: [1]}}]": "cannot unmarshal",
	} {
		if _, err := policy.ReadCases(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
