package wording

import (
	"fmt"
	"strings"

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

// RuleStep is one approval of those that a rule asks for.
type RuleStep struct {
	Rule       string
	Number, Of int
	// Approved are who has approved the call for this rule.
	Approved []string
	// Expired means that an approval before it has expired.
	Expired bool
	// Edit are the arguments that whoever approves may change.
	Edit []string
}

// Text is the part of a description that says which rule asks, and why it does if it could not be
// evaluated.
func (s RuleStep) Text(problem string) string {
	text := "Rule: " + quotedName(s.Rule)
	if s.Of > 1 {
		text += fmt.Sprintf("\nApproval %d of %d, each by another person", s.Number, s.Of)
	}
	for _, by := range s.Approved {
		if by != "" {
			text += "\nApproved by: " + quotedName(by)
		}
	}
	if s.Expired {
		text += "\nNobody decided in time before"
	}
	if len(s.Edit) > 0 {
		text += "\nMay be approved with other values of: " + Visible(strings.Join(s.Edit, ", "))
	}
	if problem != "" {
		text += "\nIt asks because " + quotedName(problem)
	}
	return text
}
