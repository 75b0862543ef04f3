package wording

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// NotRun is the result of a call that a rule refuses, or has only tried. The model reads it, and
// people.
func NotRun(c contract.Call) contract.CallToolResult {
	v := c.Verdict
	if v.Outcome == verdict.DryRun {
		return contract.CallToolResult{Text: contract.Inline(fmt.Sprintf(
			"Dry run: %s was not called, because the rule %s says so. It would have been called with these arguments.", c.Name, quotedName(v.Rule)))}
	}
	text := fmt.Sprintf("Not allowed: the rule %s refuses this call of %s.", quotedName(v.Rule), c.Name)
	if v.Text != "" {
		text += " " + v.Text
	}
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

// WhyARuleAsks is the part of a description that names the rule that asks.
func WhyARuleAsks(v verdict.Verdict, a verdict.Approval) string {
	text := "Rule: " + quotedName(a.Rule)
	if v.Text != "" {
		text += "\nIt asks because " + quotedName(v.Text)
	}
	return text
}
