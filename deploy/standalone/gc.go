package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/deletion"
)

const aboutGC = `Collect the files and long texts in the blob store that no conversation refers to any more,
as an agent on one machine does by itself every day, and delete the conversations that are
older than conversations.delete_after. A value is put aside a day after it was stored last,
and removed by a collection a day later. The agent, or a worker, must run.

Where several machines share a blob store, run it only if all workers share data_dir too, and
all agents that use the store the Temporal server: what refers to a value is looked for there.
`

func newGC(getenv func(string) string) *cobra.Command {
	var file string
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use: "gc", Short: "Remove stored values that nothing refers to", Long: aboutGC, GroupID: groupOther, Args: noArguments,
		Example: `  agent gc --dry-run`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(file)
			if err != nil {
				return err
			}
			result, err := collect(cmd.Context(), c, getenv, dry)
			if err != nil {
				return err
			}
			return printUpkeep(cmd.OutOrStdout(), result, dry, asJSON)
		},
	}
	addFile(cmd, &file)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only count")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// collect runs an upkeep with a collection, and waits for it.
func collect(ctx context.Context, c *config.Config, getenv func(string) string, dry bool) (out deletion.UpkeepResult, err error) {
	o := connect.Options{Address: c.Temporal.Address, Namespace: c.Temporal.Namespace, Logger: slog.New(slog.DiscardHandler)}
	if !platform.External(c, getenv) {
		o.Address, o.Embedded = fmt.Sprintf("127.0.0.1:%d", c.Temporal.Port), true
	}
	dial, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	temporal, _, err := connect.Dial(dial, o)
	if err != nil {
		return out, fmt.Errorf("%w; is the agent running?", err)
	}
	defer temporal.Close()
	run, err := worker.RunUpkeep(ctx, temporal, c.Temporal.TaskQueue, deletion.UpkeepInput{Collect: true, DryRun: dry})
	if err != nil {
		return out, fmt.Errorf("start the collection: %w", err)
	}
	return out, run.Get(ctx, &out)
}

func printUpkeep(w io.Writer, r deletion.UpkeepResult, dry, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	verb := ""
	if dry {
		verb = "would be "
	}
	c := r.Collected
	if c == nil {
		c = &deletion.Collected{}
	}
	_, err := fmt.Fprintf(w, `conversations: %d %sdeleted, %d old ones kept because an approval waits
values: %d, of which %d are used and %d are too young
%d values (%d bytes) %sput aside, %d put back, %d (%d bytes) %sremoved
`, r.Expired.Deleted, verb, r.Expired.Waiting,
		c.Values, c.Used, c.Young,
		c.Discarded, c.DiscardedBytes, verb, c.Restored, c.Removed, c.RemovedBytes, verb)
	return err
}
