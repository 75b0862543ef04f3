package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
)

const aboutPolicy = `Look at the rules of an agent (approval.rules) before they are trusted. Nothing is started, and
no running agent is asked, unless a flag of backtest or diff says so. release is about calls that
wait at a running agent.

agent validate --connect checks them against the tools of the agent's servers.
`

type policyFlags struct {
	file string
	json bool
}

func newPolicy(getenv func(string) string) *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use: "policy", Short: "Test and explain the rules of an agent", Long: aboutPolicy, GroupID: groupServe,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	show := &cobra.Command{
		Use: "show", Short: "Show the rules, also those that other keys of the file are", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.show(cmd.OutOrStdout()) },
	}
	test := &cobra.Command{
		Use: "test CASES.yaml…", Short: "Judge the calls of files and compare with what they expect", Args: cobra.MinimumNArgs(1),
		Long: `Judge the calls of files and compare with what they expect. The output ends with the rules that no case is about. The exit code is 1 if
a case differs. A file has calls like this; what a call does not say is empty, and its time is now:

  cases:
    - name: a small refund passes
      call:
        tool: refund
        server: pay
        args: {amount: 20}
        annotations: {destructive: true}        # also read_only, idempotent
        caller: {subject: bob, groups: [support], scopes: [converse]}
        time: 2026-11-25T22:30:00Z              # also node, chain, usage, before, facts
      expect: allow                             # allow, ask, dry_run, deny, or none: no rule is about it
      rule: small-refunds                       # the rule that decides; may be absent
`,
		Example: `  agent policy test --config config/agent.yaml cases.yaml`,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.test(cmd.OutOrStdout(), args) },
	}
	explain := &cobra.Command{
		Use: "explain", Short: "Say which rule decides about a call, and why", Args: noArguments,
		Long:    "Say which rule decides about a call that is read from the input, as in a case of agent policy test, which values it reads, and which rules would nearly have changed it.",
		Example: `  echo '{tool: refund, args: {amount: 700}}' | agent policy explain`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.explain(cmd.InOrStdin(), cmd.OutOrStdout()) },
	}
	for _, c := range []*cobra.Command{show, test, explain} {
		addFile(c, &f.file)
		c.Flags().BoolVar(&f.json, "json", false, "print JSON")
		cmd.AddCommand(c)
	}
	cmd.AddCommand(newBacktest(getenv), newPolicyDiff(getenv), cli.NewRelease(getenv))
	return cmd
}

// load returns the rules of the file, which must have some.
func (f policyFlags) load() (*policy.Policy, error) {
	c, err := config.Load(f.file)
	if err != nil {
		return nil, err
	}
	if c.Policy() == nil {
		return nil, fmt.Errorf("%s has no approval.rules", f.file)
	}
	return c.Policy(), nil
}

func (f policyFlags) show(w io.Writer) error {
	c, err := config.Load(f.file)
	if err != nil {
		return err
	}
	rules := allRules(c)
	if f.json {
		return writeJSON(w, map[string]any{"policy": c.Policy().Version(), "rules": rules})
	}
	if v := c.Policy().Version(); v != "" {
		fmt.Fprintf(w, "Policy %s. Of the named rules that are about a call, the most careful one decides: deny, dry_run, ask, allow.\n\n", v)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tTHEN\tWHEN")
	for _, r := range rules {
		fmt.Fprintf(table, "%s\t%s\t%s\n", screen.Safe(r.Name), screen.Safe(r.Then), screen.Safe(strings.Join(strings.Fields(r.When), " ")))
	}
	return table.Flush()
}

func (f policyFlags) test(w io.Writer, files []string) error {
	p, err := f.load()
	if err != nil {
		return err
	}
	var all policy.Cases
	for _, name := range files {
		cases, err := readCases(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all.Cases = append(all.Cases, cases.Cases...)
	}
	report, err := p.Run(all, time.Now())
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(w, report)
	} else {
		printReport(w, report)
	}
	if err == nil && report.Failed() > 0 {
		err = fmt.Errorf("%d of %d cases differ", report.Failed(), len(report.Cases))
	}
	return err
}

func readCases(name string) (policy.Cases, error) {
	file, err := os.Open(name)
	if err != nil {
		return policy.Cases{}, err
	}
	defer file.Close()
	return policy.ReadCases(file)
}

func printReport(w io.Writer, r policy.Report) {
	for i, c := range r.Cases {
		name := screen.Safe(c.Name)
		if name == "" {
			name = fmt.Sprint("case ", i+1)
		}
		if c.Problem == "" {
			fmt.Fprintf(w, "ok    %s\n", name)
			continue
		}
		fmt.Fprintf(w, "DIFFERS  %s: %s\n", name, screen.Safe(c.Problem))
		printExplanation(w, *c.Why, "         ")
	}
	fmt.Fprintf(w, "%d cases, %d differ\n", len(r.Cases), r.Failed())
	if len(r.Unmatched) > 0 {
		fmt.Fprintf(w, "No case is about: %s\n", screen.Safe(strings.Join(r.Unmatched, ", ")))
	}
	if len(r.Undecided) > 0 {
		fmt.Fprintf(w, "Decide no case, because a more careful rule is about it, too: %s\n", screen.Safe(strings.Join(r.Undecided, ", ")))
	}
}

func (f policyFlags) explain(in io.Reader, w io.Writer) error {
	p, err := f.load()
	if err != nil {
		return err
	}
	call, err := policy.ReadCall(in, time.Now())
	if err != nil {
		return err
	}
	e := p.Explain(call)
	if f.json {
		return writeJSON(w, e)
	}
	switch {
	case e.Verdict == nil:
		fmt.Fprintln(w, "No rule is about the call: the hints of its tool decide.")
	case e.Verdict.Text != "":
		fmt.Fprintf(w, "%s, by the rule %s: %s\n", e.Verdict.Outcome, screen.Safe(e.Verdict.Rule), screen.Safe(e.Verdict.Text))
	default:
		fmt.Fprintf(w, "%s, by the rule %s\n", e.Verdict.Outcome, screen.Safe(e.Verdict.Rule))
	}
	printExplanation(w, e, "")
	return nil
}

func printExplanation(w io.Writer, e policy.Explanation, indent string) {
	for _, r := range e.Matching {
		fmt.Fprintf(w, "%s%s (%s) is about it%s\n", indent, screen.Safe(r.Rule), r.Outcome, values(r))
	}
	for _, r := range e.Nearest {
		fmt.Fprintf(w, "%s%s (%s) would be about it, but for: %s%s\n", indent, screen.Safe(r.Rule), r.Outcome, screen.Safe(strings.Join(r.Unmet, " and ")), values(r))
	}
}

// values shows what a rule has read, and why it could not be evaluated.
func values(r policy.Reason) string {
	var texts []string
	if r.Error != "" {
		texts = append(texts, "it cannot be evaluated: "+r.Error)
	}
	for _, v := range r.Values {
		texts = append(texts, v.Text+" is "+string(v.Value))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; " + screen.Safe(strings.Join(texts, ", "))
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
