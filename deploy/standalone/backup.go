package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/backup"
)

const aboutBackup = `Copy the data of an agent with its own Temporal server to a folder below DIR, also while the
agent runs: the databases as they are at one moment, the files of data_dir, and the values of
the blob store. What the folder DIR has already is not copied again.

The keys that seal callers' tokens and sign the audit log are not copied: keep copies of
credential.key and audit.key elsewhere. Nor is witness.key: a restored witness gets a new one.
Databases of tool servers that are not in data_dir are not copied either.
`

const aboutRestore = `Restore the newest backup below DIR, or the one that --at or DIR names, to the data_dir of the
agent's file, which must not have a database yet. The agent must not run. An interrupted restore
is completed by the same command.

What happened after the backup is not known to the restored agent: calls that ran since may be
about to run again. So the agent starts with all destructive calls paused. Compare with what has
happened, reject what has been done, and then go on with "agent resume all". With --unpaused they
go on at once.
`

// dataFlags name the data of an agent.
type dataFlags struct{ file string }

// open returns the data directory, and the folder of the blob store or what it is instead.
func (f *dataFlags) open(getenv func(string) string) (dataDir, values, elsewhere string, err error) {
	c, err := config.Load(f.file)
	if err != nil {
		return "", "", "", err
	}
	if platform.External(c, getenv) {
		return "", "", "", errors.New("this agent uses a Temporal server of its own: back up that server's database, the blob store " +
			"and the tools' data together, as deploy/CLUSTER.md says")
	}
	values, elsewhere = valuesOf(c.BlobURL())
	return c.DataDir, values, elsewhere, nil
}

// valuesOf returns the folder of a blob store, or its address if it is none.
func valuesOf(address string) (folder, elsewhere string) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "blobs.url" // opening it has failed
	}
	if u.Scheme != "file" {
		return "", u.Redacted()
	}
	if u.Host == "." {
		return filepath.FromSlash("." + u.Path), ""
	}
	return filepath.FromSlash(u.Path), ""
}

func newBackup(getenv func(string) string) *cobra.Command {
	var f dataFlags
	var keep int
	cmd := &cobra.Command{
		Use: "backup DIR", Short: "Copy the data of an agent, also while it runs", Long: aboutBackup, GroupID: groupServe,
		Example: `  agent backup /backup/agent
  agent backup /backup/agent --keep 7      and remove all but the newest 7`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep < 0 || keep == 0 && cmd.Flags().Changed("keep") {
				return &usageError{errors.New("--keep must be at least 1"), cmd}
			}
			return f.backUp(cmd, args[0], keep, getenv)
		},
	}
	addFile(cmd, &f.file)
	cmd.Flags().IntVar(&keep, "keep", 0, "how many backups are kept, including this one; without it, all")
	return cmd
}

func (f *dataFlags) backUp(cmd *cobra.Command, dir string, keep int, getenv func(string) string) error {
	dataDir, values, elsewhere, err := f.open(getenv)
	if err != nil {
		return err
	}
	c, err := backup.Make(cmd.Context(), backup.Source{
		DataDir: dataDir, Values: values, Elsewhere: elsewhere, Version: version, Progress: progress(cmd.ErrOrStderr()),
	}, dir)
	if err != nil {
		return err
	}
	files, bytes := c.Size()
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d databases and %d files, %s, as of %s\n",
		c.Dir, len(c.Databases), files-len(c.Databases), mebibytes(bytes), c.At.Format(time.RFC3339Nano))
	if elsewhere != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "the values in %s are not copied: back that store up too, after this\n", elsewhere)
	}
	if keep == 0 {
		return nil
	}
	removed, err := backup.Prune(dir, keep)
	for _, name := range removed {
		fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", name)
	}
	return err
}

func newRestore(getenv func(string) string) *cobra.Command {
	var f dataFlags
	var at string
	var unpaused bool
	cmd := &cobra.Command{
		Use: "restore DIR", Short: "Restore the data of an agent from a backup", Long: aboutRestore, GroupID: groupServe,
		Example: `  agent restore /backup/agent
  agent restore /backup/agent --at 2026-11-23T22-31-05.000Z`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.restore(cmd, args[0], at, unpaused, getenv)
		},
	}
	addFile(cmd, &f.file)
	cmd.Flags().StringVar(&at, "at", "", "the `NAME` of the backup instead of the newest one")
	cmd.Flags().BoolVar(&unpaused, "unpaused", false, "let destructive calls go on as soon as the agent starts")
	return cmd
}

func (f *dataFlags) restore(cmd *cobra.Command, dir, at string, unpaused bool, getenv func(string) string) error {
	dataDir, values, _, err := f.open(getenv)
	if err != nil {
		return err
	}
	c, err := backup.Find(dir, at)
	if err != nil {
		return err
	}
	if err := backup.Restore(cmd.Context(), c, backup.Target{DataDir: dataDir, Values: values, Unpaused: unpaused}); err != nil {
		return err
	}
	files, bytes := c.Size()
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d files, %s, as of %s\n", dataDir, files, mebibytes(bytes), c.At.Format(time.RFC3339Nano))
	if !unpaused {
		fmt.Fprintln(cmd.OutOrStdout(), `The agent will start with all destructive calls paused. Look at what has run since, then: agent resume all`)
	}
	if c.Elsewhere != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "restore the values of %s too\n", c.Elsewhere)
	}
	return nil
}

// progress returns a function that prints how far a copy is, every five seconds.
func progress(w io.Writer) func(files int, bytes int64) {
	next := time.Now().Add(5 * time.Second)
	return func(files int, bytes int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(5 * time.Second)
			fmt.Fprintf(w, "%d files, %s\n", files, mebibytes(bytes))
		}
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
