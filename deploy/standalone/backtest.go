package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/deploy/standalone/backtest"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/workflows/record/document"
)

const aboutRecordings = `
The conversations are the files of the agent's data_dir, or the given files and folders (agent
conversations export), or with --running those that the running agent has, also where they are
encrypted. One is in memory at a time. Calls older than --since are left out.

A file does not have the servers and hints of tools: --connect starts and asks the tool servers
of the file for those of today, --tools reads what agent tools --json has printed. Groups and
scopes of people, the chain of an A2A call, and facts that no rule had needed are not recorded.
What a rule decides is unclear where that could change it, and the output says what is missing.

Exit codes:
  0    calls were judged
  1    something could not be read, or there are changes of a kind that --fail-on names
  2    the command line is wrong
`

const aboutBacktest = `Judge the calls of recorded conversations by the rules of the file, and list those whose outcome
would change: ran at once, asked, only tried, or refused. Nothing is called.
` + aboutRecordings

const aboutDiff = `Judge the calls of recorded conversations by the rules of two files, and list those whose outcome
differs, or that ask other people. With --cases it judges the calls of files of agent policy test
instead. Nothing is called.
` + aboutRecordings

// recordings says which calls are judged, and what is printed.
type recordings struct {
	since   string
	running bool
	connect bool
	tools   string
	failOn  []string
	json    bool

	getenv func(string) string
}

func (r *recordings) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.since, "since", "30d", "how long ago calls were made at most, such as 30d or 12h")
	flags.BoolVar(&r.running, "running", false, "judge the calls of the conversations that the running agent has")
	flags.BoolVar(&r.connect, "connect", false, "start and ask the tool servers for the hints of their tools")
	flags.StringVar(&r.tools, "tools", "", "a `file` with the output of agent tools --json")
	flags.StringSliceVar(&r.failOn, "fail-on", nil, "fail if there are changes of these `kinds`: loosened (also those that may be), tightened, other, unclear")
	flags.BoolVar(&r.json, "json", false, "print a line of JSON for each change, and one with the numbers")
	cmd.MarkFlagsMutuallyExclusive("connect", "tools")
}

func newBacktest(getenv func(string) string) *cobra.Command {
	r, file := recordings{getenv: getenv}, ""
	cmd := &cobra.Command{
		Use: "backtest [FILE|FOLDER…]", Short: "Say what the rules would have done to recorded calls", Long: aboutBacktest,
		Example: `  agent policy backtest --since 30d --connect
  agent policy backtest --fail-on loosened exported/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(file)
			if err != nil {
				return err
			}
			p := c.Policy()
			return r.run(cmd, c, args, sides{"then", "now", backtest.Call.Past, func(call backtest.Call) backtest.Side { return call.Judge(p) }})
		},
	}
	addFile(cmd, &file)
	r.add(cmd)
	return cmd
}

func newPolicyDiff(getenv func(string) string) *cobra.Command {
	r, cases := recordings{getenv: getenv}, []string(nil)
	cmd := &cobra.Command{
		Use: "diff OLD NEW [FILE|FOLDER…]", Short: "List the calls about which the rules of two files differ", Long: aboutDiff, Args: cobra.MinimumNArgs(2),
		Example: `  agent policy diff config/agent.yaml config/new.yaml --since 7d
  agent policy diff config/agent.yaml config/new.yaml --cases cases.yaml --fail-on loosened`,
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := config.Load(args[0])
			if err != nil {
				return err
			}
			after, err := config.Load(args[1])
			if err != nil {
				return err
			}
			s := sides{"old", "new", judgedBy(before.Policy()), judgedBy(after.Policy())}
			if len(cases) > 0 {
				return r.runCases(cmd, cases, args[2:], s)
			}
			return r.run(cmd, before, args[2:], s)
		},
	}
	r.add(cmd)
	cmd.Flags().StringSliceVar(&cases, "cases", nil, "judge the calls of these `files` of cases instead of recorded ones")
	return cmd
}

func judgedBy(p *policy.Policy) func(backtest.Call) backtest.Side {
	return func(c backtest.Call) backtest.Side { return c.Judge(p) }
}

// sides are the two outcomes of calls that are compared, and their names.
type sides struct {
	beforeName, afterName string
	before, after         func(backtest.Call) backtest.Side
}

func (s sides) compare(c backtest.Call) backtest.Change {
	return backtest.Compare(s.before(c), s.after(c))
}

// kinds returns the kinds of --fail-on.
func (r *recordings) kinds() ([]backtest.Kind, error) {
	var out []backtest.Kind
	for _, text := range r.failOn {
		if !slices.Contains(backtest.Kinds(), backtest.Kind(text)) {
			return nil, fmt.Errorf("--fail-on %s: must be loosened, tightened, other or unclear", screen.Safe(text))
		}
		out = append(out, backtest.Kind(text))
	}
	return out, nil
}

func (r *recordings) run(cmd *cobra.Command, c *config.Config, paths []string, s sides) error {
	since, err := span(r.since)
	kinds, wrong := r.kinds()
	if r.running && len(paths) > 0 {
		wrong = errors.Join(wrong, errors.New("--running reads no files"))
	}
	if err := errors.Join(err, wrong); err != nil {
		return &usageError{err, cmd}
	}
	tools, err := r.knownTools(cmd.Context(), c, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	source := func(ctx context.Context, from time.Time) (documents, error) { return files(c, paths, from) }
	if r.running {
		source = func(ctx context.Context, from time.Time) (documents, error) { return ofAgent(ctx, c, r.getenv, from) }
	}
	from := time.Now().Add(-since)
	all, err := source(cmd.Context(), from)
	if err != nil {
		return err
	}
	p := changePrinter{out: cmd.OutOrStdout(), json: r.json, sides: s, from: from, tools: r.connect || r.tools != ""}
	for d, err := range all {
		switch {
		case cmd.Context().Err() != nil:
			return context.Cause(cmd.Context())
		case err != nil:
			p.report.Unreadable++
			fmt.Fprintf(cmd.ErrOrStderr(), "not read: %s\n", screen.Line(err.Error(), 500))
			continue
		}
		p.judge(d, tools)
	}
	return p.end(kinds)
}

// judge judges the calls of a conversation.
func (p *changePrinter) judge(d document.Conversation, tools map[string]backtest.Tool) {
	counted := false
	for call := range backtest.Calls(d, tools) {
		if call.At.Before(p.from) {
			continue
		}
		if !counted {
			p.report.Conversations++
			counted = true
		}
		p.add(call)
	}
}

func (r *recordings) runCases(cmd *cobra.Command, names, paths []string, s sides) error {
	kinds, err := r.kinds()
	if err == nil && (len(paths) > 0 || r.running || r.connect || r.tools != "") {
		err = errors.New("--cases judges no recorded calls")
	}
	if err != nil {
		return &usageError{err, cmd}
	}
	p := changePrinter{out: cmd.OutOrStdout(), json: r.json, sides: s}
	for _, name := range names {
		cases, err := readCases(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, one := range cases.Cases {
			call, err := one.Judged(time.Now())
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			p.add(backtest.Call{
				Case: one.Name, At: call.Time, Call: call, Tool: &backtest.Tool{Destructive: call.Destructive},
			})
		}
	}
	return p.end(kinds)
}

// changePrinter prints changes as they are found.
type changePrinter struct {
	out    io.Writer
	json   bool
	sides  sides
	from   time.Time // zero with cases
	tools  bool      // tools are known
	report backtest.Report
	shown  int
	err    error // of the first failed write
}

// shownChanges bounds the changes that are shown as text.
const shownChanges = 50

// changeLine is a change as JSON.
type changeLine struct {
	Conversation string          `json:"conversation,omitempty"`
	Message      string          `json:"message,omitempty"`
	Case         string          `json:"case,omitempty"`
	At           time.Time       `json:"at"`
	Tool         string          `json:"tool"`
	Node         string          `json:"node,omitempty"`
	Arguments    json.RawMessage `json:"arguments"`
	Decision     string          `json:"decision,omitempty"`
	backtest.Change
}

func (p *changePrinter) add(c backtest.Call) {
	change := p.sides.compare(c)
	p.report.Add(change)
	if change.Kind == backtest.Same {
		return
	}
	if p.json {
		p.line(changeLine{c.Conversation, c.Message, c.Case, c.At, c.Call.Tool, c.Call.Node, c.Call.Arguments, string(c.Then.Decision), change})
		return
	}
	if p.shown++; p.shown > shownChanges {
		return
	}
	before := change.Before.String()
	if c.Then.Decision != "" && p.sides.beforeName == "then" {
		before += ", " + string(c.Then.Decision)
	}
	p.printf("%s  %s  %s %s\n", strings.ToUpper(string(change.Kind)), c.At.Format(time.DateTime), screen.Line(c.Call.Tool, 100), screen.Line(compact(c.Call.Arguments), 200))
	p.printf("    %-5s %s\n    %-5s %s\n", p.sides.beforeName, screen.Line(before, 500), p.sides.afterName, screen.Line(change.After.String(), 500))
	if change.After.Text != "" {
		p.printf("          %s\n", screen.Line(change.After.Text, 300))
	}
	if c.Case != "" {
		p.printf("    case  %s\n", screen.Line(c.Case, 200))
	} else {
		p.printf("    in    %s\n", screen.Line(c.Conversation, 100))
	}
}

// compact returns JSON in one line.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil { // no JSON: as it is
		return string(raw)
	}
	return b.String()
}

// end prints the numbers, and fails if something was not read or there are changes of these kinds.
func (p *changePrinter) end(kinds []backtest.Kind) error {
	if p.json {
		p.line(map[string]any{"report": p.report})
	} else {
		p.numbers()
	}
	var wrong []string
	for _, k := range kinds {
		if n := p.report.Failing(k); n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", n, k))
		}
	}
	if p.report.Unreadable > 0 {
		wrong = append(wrong, fmt.Sprintf("%d recordings were not read", p.report.Unreadable))
	}
	if len(wrong) > 0 {
		return errors.Join(p.err, errors.New(strings.Join(wrong, ", ")))
	}
	return p.err
}

func (p *changePrinter) line(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		p.err = errors.Join(p.err, err)
		return
	}
	p.printf("%s\n", screen.Exact(string(data)))
}

func (p *changePrinter) printf(format string, a ...any) {
	if _, err := fmt.Fprintf(p.out, format, a...); p.err == nil {
		p.err = err
	}
}
