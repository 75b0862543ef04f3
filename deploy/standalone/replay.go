package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/worker/replay"
	"agent-stop-and-go/workflows/contract/switches"
)

const aboutReplay = `Replay the histories of an agent with this program, before it replaces the one that runs: all
runs that are open, however old, and those that closed in the time of --since. It says which of
them a worker of this version could not continue, and why. Nothing changes at the server, which
must run: the one of TEMPORAL_ADDRESS or temporal.address, or that of the agent which runs with
the same file on this machine.

One history at a time is in memory. Values in the blob store are not read.

Exit codes:
  0    nothing breaks
  1    the server could not be read, or some runs were left out because of --limit
  2    the command line is wrong
  6    at least one run breaks
`

// exitNo is the exit code if a run breaks, a conversation cannot take over a configuration, or a key is
// needed.
const exitNo = 6

// shownBreaks bounds the runs that are shown as text.
const shownBreaks = 20

// errBreaks means that runs break, which have been shown.
var errBreaks = errors.New("this version would break runs: do not roll it out before they are over")

type replayFlags struct {
	file  string
	since string
	limit int
	json  bool
}

func newReplay(getenv func(string) string) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay", Short: "Say whether this version can continue what runs", Long: aboutReplay, GroupID: groupServe, Args: noArguments,
		Example: `  agent replay --since 7d
  agent replay --since 12h --limit 10000 --json | jq -r 'select(.workflow_id) | .workflow_id'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			since, err := span(f.since)
			if err == nil && f.limit < 0 {
				err = errors.New("--limit must not be negative")
			}
			if err != nil {
				return &usageError{err, cmd}
			}
			return f.run(cmd, time.Now().Add(-since), getenv)
		},
	}
	addFile(cmd, &f.file)
	cmd.Flags().StringVar(&f.since, "since", "7d", "how long ago closed runs may have closed, such as 7d or 12h")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "how many runs are replayed at most, open ones first; 0 replays all")
	cmd.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each run that breaks, and one with the numbers")
	return cmd
}

// span reads a duration, which may be in days.
func span(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 36500 {
			return time.Duration(n * float64(24*time.Hour)), nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("--since %s is no time: write 7d or 12h", screen.Safe(text))
}

func (f replayFlags) run(cmd *cobra.Command, since time.Time, getenv func(string) string) error {
	c, err := config.Load(f.file)
	if err != nil {
		return err
	}
	temporal, settings, err := dial(cmd.Context(), c, getenv)
	if err != nil {
		return err
	}
	defer temporal.Close()
	replayer, err := worker.NewReplayer(settings)
	if err != nil {
		return fmt.Errorf("make a replayer: %w", err)
	}
	p := breakPrinter{out: cmd.OutOrStdout(), json: f.json}
	sum, err := replay.Replay{
		Server: temporal, Namespace: settings.Namespace, TaskQueues: []string{c.Temporal.TaskQueue, switches.TaskQueue}, Since: since, Limit: f.limit,
		Replayer: replayer, Broken: p.show, Progress: replayProgress(cmd.ErrOrStderr()),
	}.Run(cmd.Context())
	if err != nil {
		return errors.Join(err, context.Cause(cmd.Context()))
	}
	p.end(sum)
	switch {
	case p.err != nil:
		return p.err
	case sum.Broken > 0:
		return errBreaks
	case sum.Cut:
		return fmt.Errorf("only %d runs were replayed: give a higher --limit", sum.Replayed)
	}
	return nil
}

// replayProgress returns a function that prints how far a replay is, every five seconds.
func replayProgress(w io.Writer) func(replay.Summary) {
	next := time.Now().Add(5 * time.Second)
	return func(s replay.Summary) {
		if now := time.Now(); now.After(next) {
			next = now.Add(5 * time.Second)
			fmt.Fprintf(w, "%d runs, %d of them break\n", s.Replayed, s.Broken)
		}
	}
}

// breakPrinter prints runs that break, as they are found.
type breakPrinter struct {
	out   io.Writer
	json  bool
	shown int
	err   error // of the first failed write
}

func (p *breakPrinter) show(b replay.Break) {
	switch p.shown++; {
	case p.json:
		p.line(b)
	case p.shown <= shownBreaks:
		p.printf("BREAKS  %s (%s, %s)\n        run %s%s: %s\n        → %s\n", screen.Safe(b.WorkflowID), screen.Safe(b.Type), state(b.Running), b.RunID, place(b.Event), screen.Safe(b.Problem), b.Advice)
	}
}

func (p *breakPrinter) end(s replay.Summary) {
	if p.json {
		p.line(s)
		return
	}
	if more := p.shown - shownBreaks; more > 0 {
		p.printf("and %d more, which --json lists\n", more)
	}
	verdict := "none would break"
	if s.Broken > 0 {
		verdict = fmt.Sprintf("%d of them would break", s.Broken)
	}
	var types []string
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		types = append(types, fmt.Sprintf("%d %s", s.Types[name], screen.Safe(name)))
	}
	p.printf("%d runs replayed with version %s, %d of them open: %s\n", s.Replayed, version, s.Running, verdict)
	if len(types) > 0 {
		p.printf("%s\n", strings.Join(types, ", "))
	}
	if s.Empty+s.Gone > 0 {
		p.printf("not replayed: %d that no worker has begun, %d that were deleted meanwhile\n", s.Empty, s.Gone)
	}
}

func (p *breakPrinter) line(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		p.err = errors.Join(p.err, err)
		return
	}
	p.printf("%s\n", screen.Exact(string(data)))
}

func (p *breakPrinter) printf(format string, a ...any) {
	if _, err := fmt.Fprintf(p.out, format, a...); p.err == nil {
		p.err = err
	}
}

func state(running bool) string {
	if running {
		return "open"
	}
	return "closed"
}

func place(event int64) string {
	if event == 0 {
		return ""
	}
	return fmt.Sprintf(", event %d", event)
}
