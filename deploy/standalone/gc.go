package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/deletion"
)

const aboutGC = `Delete the conversations that are older than conversations.delete_after, and collect the files
and long texts in the blob store that no conversation refers to any more. The agent, or a
worker, must run.

A value is put aside a day after it was stored last, and removed by a collection a day later.
Without blobs.url the agent does it every day by itself. With blobs.url, run this from time to
time for one of the agents that share the store, once all of them run this version: each marks
every day what it uses, and only what is a day older than all marks is collected.
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
	temporal, _, err := dial(ctx, c, getenv)
	if err != nil {
		return out, err
	}
	defer temporal.Close()
	run, err := worker.RunUpkeep(ctx, temporal, c.Temporal.TaskQueue, deletion.UpkeepInput{Mark: true, Collect: true, DryRun: dry})
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
	fmt.Fprintf(w, `conversations: %d %sdeleted, %d old ones kept because an approval waits or a turn runs
values: %d, of which %d are used and %d are too young
%d values (%d bytes) %sput aside, %d put back, %d (%d bytes) %sremoved
`, r.Expired.Deleted, verb, r.Expired.Waiting,
		c.Values, c.Used, c.Young,
		c.Discarded, c.DiscardedBytes, verb, c.Restored, c.Removed, c.RemovedBytes, verb)
	if r.Expired.Pending > 0 {
		fmt.Fprintf(w, "%d deletions go on\n", r.Expired.Pending)
	}
	if n := len(c.Damaged); n > 0 {
		fmt.Fprintf(w, "%d values that are used cannot be decrypted, %s first: restore them from a backup\n", n, c.Damaged[0])
	}
	for _, l := range c.Late {
		fmt.Fprintf(w, "agent %s marked what it uses last on %s: nothing younger is collected. Start it, or, if it is gone for good, remove %s from the blob store.\n",
			l.AgentName, l.Began.Format(time.DateTime), l.File)
	}
	return nil
}
