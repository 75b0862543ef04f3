package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/cli/screen"
)

const aboutDeployment = `Distribute the work between the versions of an agent's workers, which have
temporal.deployment.name in their file, or TEMPORAL_DEPLOYMENT_NAME. Conversations that run,
and those that wait for an approval, move with their share: a new version can be tried with a few,
and the old one can have them back. Keep workers of both versions until all work is in one.

Before each step, replay what runs with the program that is to get it: agent replay.
`

type deploymentFlags struct{ file string }

func newDeployment(getenv func(string) string) *cobra.Command {
	var f deploymentFlags
	cmd := &cobra.Command{
		Use: "deployment", Short: "Distribute the work between versions of workers", Long: aboutDeployment, GroupID: groupOther,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var percent float32
	status := &cobra.Command{
		Use: "status", Short: "Show the versions and their shares", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, getenv, func(context.Context, client.WorkerDeploymentHandle) error { return nil })
		},
	}
	current := &cobra.Command{
		Use: "current BUILD", Short: "Give a version all work", Args: cobra.ExactArgs(1),
		Long: "Give a version all work but the share of a version that is ramped. To go back, name the version from before.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, getenv, func(ctx context.Context, d client.WorkerDeploymentHandle) error {
				_, err := d.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: args[0]})
				return err
			})
		},
	}
	ramp := &cobra.Command{
		Use: "ramp BUILD --percent N", Short: "Give a version a share of the work", Args: cobra.ExactArgs(1),
		Long:    "Give a version a share of the work: that many of a hundred workflows, always the same ones, and the others as the share grows. 0 takes it back.",
		Example: `  agent deployment ramp 2.5.0 --percent 5`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("percent") || percent < 0 || percent > 100 {
				return &usageError{errors.New("--percent must be between 0 and 100"), cmd}
			}
			return f.with(cmd, getenv, func(ctx context.Context, d client.WorkerDeploymentHandle) error {
				_, err := d.SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{BuildID: args[0], Percentage: percent})
				return err
			})
		},
	}
	ramp.Flags().Float32Var(&percent, "percent", 0, "the share, 0 to 100")
	for _, sub := range []*cobra.Command{status, current, ramp} {
		addFile(sub, &f.file)
		cmd.AddCommand(sub)
	}
	return cmd
}

// with changes a deployment, and shows what it is then.
func (f *deploymentFlags) with(cmd *cobra.Command, getenv func(string) string, change func(context.Context, client.WorkerDeploymentHandle) error) error {
	c, err := config.Load(f.file)
	if err != nil {
		return err
	}
	name, _ := c.Temporal.Deployment.Version(version, getenv)
	if name == "" {
		return errors.New("the workers of this file have no versions: set temporal.deployment.name, or TEMPORAL_DEPLOYMENT_NAME")
	}
	temporal, _, err := dial(cmd.Context(), c, getenv)
	if err != nil {
		return err
	}
	defer temporal.Close()
	d := temporal.WorkerDeploymentClient().GetHandle(name)
	if err := change(cmd.Context(), d); err != nil {
		return fmt.Errorf("change deployment %s: %w", name, err)
	}
	now, err := d.Describe(cmd.Context(), client.WorkerDeploymentDescribeOptions{})
	if err != nil {
		return fmt.Errorf("describe deployment %s: %w; has a worker of it run?", name, err)
	}
	return showDeployment(cmd.OutOrStdout(), now.Info)
}

func showDeployment(out io.Writer, d client.WorkerDeploymentInfo) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tSHARE\tSINCE")
	r := d.RoutingConfig
	is := func(v *worker.WorkerDeploymentVersion, build string) bool { return v != nil && v.BuildID == build }
	slices.SortFunc(d.VersionSummaries, func(a, b client.WorkerDeploymentVersionSummary) int { return b.CreateTime.Compare(a.CreateTime) })
	for _, s := range d.VersionSummaries {
		build, share := s.Version.BuildID, "none"
		switch {
		case is(r.RampingVersion, build):
			share = fmt.Sprintf("%g %%", r.RampingVersionPercentage)
		case is(r.CurrentVersion, build) && r.RampingVersion != nil:
			share = fmt.Sprintf("%g %%", 100-r.RampingVersionPercentage)
		case is(r.CurrentVersion, build):
			share = "all"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", screen.Safe(build), share, s.CreateTime.Format("2006-01-02 15:04"))
	}
	if r.CurrentVersion == nil {
		fmt.Fprintln(w, "No version is current: new versions get no work before agent deployment current BUILD.")
	}
	return w.Flush()
}
