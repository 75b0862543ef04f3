package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/worker/adoption"
)

const aboutConfig = `What conversations know of the file of their agent. A conversation keeps the prompt, models,
tree, limits and approvers that it was started with; adopt has it take over those of a changed
file. Everything else, such as the addresses of tool servers and keys, is the worker's, and
counts for all conversations as soon as it has restarted.
`

const aboutAdopt = `Have running conversations take over the prompt, models, tree, limits and approvers of the file,
all of them or those with the IDs. A conversation that waits for a person takes them over for
what comes after the decision; the nodes of a tree that runs, and a turn that works, end with what
they began with, and the next turn has the new ones. New approvals have the new approvers and the
new time to expire; those that wait keep theirs.

A conversation is kept as it is, and the reason is said, if an approval that it waits for would
not hold: its tool server or other agent is not in the file any more or has another address, or
the description or the parameters of its tool have changed. The tool servers of the file are asked
for that; those with a command are started for a moment. One that does not note the file, although
it was told, is reported as kept, too.

The newest file counts: what a conversation was to take over after its turn is replaced, also by
the configuration that it has.

Restart the agent, or all workers, with the new file first. With --dry-run nothing is changed.

Exit codes:
  0    every conversation has the file's configuration, or takes it over
  1    it failed; conversations may have been told already: run it again
  2    the command line is wrong
  6    at least one conversation is kept as it is
`

// errKept means that conversations could not take over a configuration, which has been shown.
var errKept = errors.New("some conversations keep what they have")

func newConfig(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Have running conversations take over a changed file", Long: aboutConfig, GroupID: groupOther,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAdopt(getenv))
	return cmd
}

type adoptFlags struct {
	agentFlags
	dry, json bool
}

func newAdopt(getenv func(string) string) *cobra.Command {
	var f adoptFlags
	cmd := &cobra.Command{
		Use: "adopt [ID…]", Short: "Have running conversations take over the file", Long: aboutAdopt,
		Example: `  agent config adopt --dry-run
  agent config adopt --config config/agent.yaml`,
		RunE: func(cmd *cobra.Command, ids []string) error { return f.run(cmd, ids, getenv) },
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would change")
	cmd.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each conversation")
	return cmd
}

func (f adoptFlags) run(cmd *cobra.Command, ids []string, getenv func(string) string) (err error) {
	ctx := cmd.Context()
	c, err := config.Load(f.file)
	if err != nil {
		return err
	}
	if err := worker.ReadPrompt(ctx, c, getenv); err != nil {
		return err
	}
	chooseModel(c, f.demo, getenv)
	url := c.BlobURL()
	if f.dry {
		url = "mem://" // long prompts are stored, which changes something
	}
	codec, err := c.Encryption.Open(getenv)
	if err != nil {
		return err
	}
	blobs, err := blobstore.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	blobs.Encrypt(codec)
	agent, err := c.Agent(ctx, blobs)
	if err != nil {
		return err
	}
	temporal, settings, err := dial(ctx, c, getenv)
	if err != nil {
		return err
	}
	defer temporal.Close()
	p := adoptPrinter{out: cmd.OutOrStdout(), json: f.json, dry: f.dry, counts: map[adoption.State]int{}}
	err = adoption.Adoption{
		Server: temporal, Namespace: settings.Namespace, TaskQueue: c.Temporal.TaskQueue, Agent: agent, By: getenv("USER"), DryRun: f.dry, Only: ids,
		Tools: func(ctx context.Context) (adoption.Tools, error) { return worker.Tools(ctx, c, getenv) },
		Told:  p.show,
	}.Run(ctx)
	if err != nil {
		return err
	}
	p.end()
	if p.counts[adoption.Kept] > 0 {
		return errKept
	}
	return p.err
}

// adoptPrinter prints what becomes of conversations.
type adoptPrinter struct {
	out       io.Writer
	json, dry bool
	counts    map[adoption.State]int
	err       error // of the first failed write
}

func (p *adoptPrinter) show(o adoption.Outcome) {
	p.counts[o.State]++
	if p.json {
		data, err := json.Marshal(o)
		if err != nil {
			p.err = errors.Join(p.err, err)
			return
		}
		p.printf("%s\n", screen.Exact(string(data)))
		return
	}
	switch o.State {
	case adoption.Same:
		return
	case adoption.Kept:
		p.printf("%s keeps what it has\n", screen.Safe(o.ID))
	case adoption.Now:
		p.printf("%s %s\n", screen.Safe(o.ID), p.verb("takes it over", "would take it over"))
	case adoption.Next:
		p.printf("%s %s\n", screen.Safe(o.ID), p.verb("takes it over after this turn", "would take it over after this turn"))
	}
	for _, list := range []struct {
		mark  string
		lines []string
	}{{"  ! ", o.Reasons}, {"    ", o.Changes}, {"  waits for ", o.Approvals}, {"  was told before to take over after its turn: ", stored(o)}} {
		for _, line := range list.lines {
			p.printf("%s%s\n", list.mark, screen.Safe(line))
		}
	}
}

// stored is the configuration that a conversation takes over after its turn, if it does.
func stored(o adoption.Outcome) []string {
	if o.Stored == "" {
		return nil
	}
	return []string{o.Stored}
}

func (p *adoptPrinter) end() {
	if p.json {
		return
	}
	p.printf("%d %s, %d after their turn; %d keep what they have; %d have it already\n",
		p.counts[adoption.Now], p.verb("take it over", "would take it over"), p.counts[adoption.Next], p.counts[adoption.Kept], p.counts[adoption.Same])
}

func (p *adoptPrinter) verb(does, would string) string {
	if p.dry {
		return would
	}
	return does
}

func (p *adoptPrinter) printf(format string, a ...any) {
	if _, err := fmt.Fprintf(p.out, format, a...); p.err == nil {
		p.err = err
	}
}
