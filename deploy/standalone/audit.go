package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/auditor"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/server"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/duration"
	"agent-stop-and-go/workflows/credential/cosigner"
)

const aboutAudit = `The audit log has every proposal of a destructive call, what was shown, every decision, call and
outcome, and changes of rules, keys, switches, limits and deputies, so that a change of it is found (deploy/AUDIT.md).
It is on if the file has the key audit.
`

// errAudit is what the commands exit with 1 for.
var errAudit = errors.New("the audit has findings")

// errWitnesses is what verify exits with 1 for, if nothing else is wrong.
var errWitnesses = errors.New("witnesses of the audit log")

type auditFlags struct {
	file    string
	keys    []string
	offline bool
	asJSON  bool
}

func newAudit(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Prove what was decided and done", Long: aboutAudit, GroupID: groupServe}
	cmd.AddCommand(newAuditVerify(getenv), newAuditReconcile(getenv), newAuditImport(getenv), newAuditExport(getenv), newAuditFigures(getenv), newAuditKey(getenv))
	return cmd
}

func (f *auditFlags) add(cmd *cobra.Command) {
	addFile(cmd, &f.file)
	cmd.Flags().StringArrayVar(&f.keys, "key", nil, "a public `key` of the log to trust, instead of the configured one")
}

// open reads the log. asks connects to the server, which is closed by end.
func (f *auditFlags) open(ctx context.Context, asks bool, getenv func(string) string) (r *auditor.Reader, server client.Client, namespace string, err error) {
	c, err := config.Load(f.file)
	if err != nil {
		return nil, nil, "", err
	}
	if c.Audit == nil {
		return nil, nil, "", auditor.ErrNone
	}
	if asks {
		temporal, settings, err := dial(ctx, c, getenv)
		if err != nil {
			return nil, nil, "", err
		}
		server, namespace = temporal, settings.Namespace
	}
	r, err = auditor.Open(ctx, c, f.keys, server, getenv)
	if err != nil && server != nil {
		server.Close()
	}
	return r, server, namespace, err
}

func newAuditVerify(getenv func(string) string) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use: "verify", Short: "Say whether the audit log is forked, altered, cut off or incomplete", Args: noArguments,
		Example: `  agent audit verify
  agent audit verify --offline --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, server, _, err := f.open(cmd.Context(), !f.offline, getenv)
			if err != nil {
				return err
			}
			if server != nil {
				server.Close()
			}
			return printVerified(cmd.OutOrStdout(), r, f)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.offline, "offline", false, "do not ask the server and the witnesses what they know of the log")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func printVerified(w io.Writer, r *auditor.Reader, f auditFlags) error {
	v := r.Report
	var failed error
	if v.Class() != "" {
		failed = fmt.Errorf("%w: the log is %s", errAudit, v.Class())
	}
	var unasked error
	if len(r.Unasked) > 0 {
		unasked = fmt.Errorf("%w cannot be asked (--offline does not): %s", errWitnesses, strings.Join(r.Unasked, "; "))
	}
	if f.asJSON {
		return errors.Join(cli.PrintJSON(w, v), failed, unasked)
	}
	fmt.Fprintf(w, "log %s: %d events in %d batches, root %s\n", v.Origin, v.Size, v.Batches, v.Root)
	switch {
	case len(r.Evidence.Witnesses) > 0:
		for _, name := range slices.Sorted(maps.Keys(v.Witnesses)) {
			fmt.Fprintf(w, "compared with the witness %s, which has seen %d events\n", screen.Line(name, 100), v.Witnesses[name])
		}
	default:
		fmt.Fprintln(w, "there is no witness: whoever has the key of the log could have written it anew")
	}
	switch {
	case f.offline:
		fmt.Fprintln(w, "not compared with the server")
	case r.Evidence.Head.Size > 0:
		fmt.Fprintf(w, "compared with the server, which has seen %d events\n", r.Evidence.Head.Size)
	}
	if v.Open > 0 {
		fmt.Fprintf(w, "%d calls have no outcome yet\n", v.Open)
	}
	for _, finding := range v.Findings {
		where := finding.Batch + finding.Leaf
		if where != "" {
			where = " (" + screen.Line(where, 120) + ")"
		}
		fmt.Fprintf(w, "%s: %s%s\n", finding.Class, screen.Line(finding.Text, 400), where)
	}
	switch {
	case failed != nil:
	case unasked != nil:
		fmt.Fprintln(w, "nothing is wrong with it, as far as could be asked")
	default:
		fmt.Fprintln(w, "nothing is wrong with it")
	}
	return errors.Join(failed, unasked)
}

func newAuditReconcile(getenv func(string) string) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use: "reconcile", Short: "Compare the calls of the audit log with the histories of the server", Args: noArguments,
		Example: `  agent audit reconcile`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, server, namespace, err := f.open(cmd.Context(), true, getenv)
			if err != nil {
				return err
			}
			defer server.Close()
			if err := r.Intact(); err != nil {
				return err
			}
			found, err := r.Reconcile(cmd.Context(), server, namespace)
			if err != nil {
				return err
			}
			return printReconciled(cmd.OutOrStdout(), found, f.asJSON)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func printReconciled(w io.Writer, found auditor.Reconciliation, asJSON bool) error {
	var failed error
	if n := len(found.Faults); n > 0 {
		failed = fmt.Errorf("%w: %d calls are known to one side only", errAudit, n)
	}
	if asJSON {
		return errors.Join(cli.PrintJSON(w, found), failed)
	}
	fmt.Fprintf(w, "%d destructive calls are in the log and in the histories\n", found.Matched)
	for _, line := range []struct {
		n    int
		text string
	}{
		{found.Unsent, "ended before they were sent"}, {found.Running, "run"}, {found.Before, "are older than the log"},
		{found.Gone, "are in the log only: their histories are not kept any more"},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, "%d %s\n", line.n, line.text)
		}
	}
	for _, fault := range found.Faults {
		fmt.Fprintf(w, "%s: %s, activity %s of %s\n", fault.Text, screen.Line(fault.Tool, 100), screen.Line(fault.Activity, 100), screen.Line(fault.Workflow, 100))
	}
	return failed
}

func newAuditImport(getenv func(string) string) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use: "import", Short: "Send deletions to the audit log that are older than it", Args: noArguments,
		Example: `  agent audit import`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, server, _, err := f.open(cmd.Context(), true, getenv)
			if err != nil {
				return err
			}
			defer server.Close()
			if err := r.Intact(); err != nil {
				return err
			}
			n, err := r.ImportDeletions(cmd.Context(), server)
			fmt.Fprintf(cmd.OutOrStdout(), "%d deletions were sent to the log\n", n)
			return err
		},
	}
	f.add(cmd)
	return cmd
}

func newAuditExport(getenv func(string) string) *cobra.Command {
	var f auditFlags
	var out string
	cmd := &cobra.Command{
		Use: "export CONVERSATION", Short: "Write what proves the events of a conversation, for audit-verify", Args: cobra.ExactArgs(1),
		Example: `  agent audit export 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --output proof.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, _, _, err := f.open(cmd.Context(), false, getenv)
			if err != nil {
				return err
			}
			e, err := r.Export(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			data, err := e.JSON()
			if err != nil {
				return err
			}
			if out != "" {
				return os.WriteFile(out, data, 0o600)
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&out, "output", "", "the `file` to write, instead of standard output")
	return cmd
}

func newAuditFigures(getenv func(string) string) *cobra.Command {
	var f auditFlags
	var since time.Duration
	cmd := &cobra.Command{
		Use: "figures", Short: "How long people take to decide, and how often they hardly look", Args: noArguments,
		Example: `  agent audit figures --since 30d`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, _, _, err := f.open(cmd.Context(), false, getenv)
			if err != nil {
				return err
			}
			if err := r.Intact(); err != nil {
				return err
			}
			var from time.Time
			if since > 0 {
				from = time.Now().Add(-since)
			}
			return printFigures(cmd.OutOrStdout(), auditor.FiguresOf(r.Contents.Leaves, from), f.asJSON)
		},
	}
	f.add(cmd)
	cmd.Flags().Var((*duration.Value)(&since), "since", "only approvals that were opened in this last `time`, such as 30d")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func printFigures(w io.Writer, o auditor.Oversight, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(w, o)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "APPROVER\tCHANNEL\tAPPROVED\tREJECTED\tMEDIAN\tP90\tUNDER 2 S")
	for _, f := range o.Approvers {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.1f s\t%.1f s\t%.0f %%\n", screen.Line(f.Approver, 60), screen.Line(f.Channel, 20), f.Approved, f.Rejected, f.Median, f.P90, 100*f.Quick)
	}
	fmt.Fprintf(t, "expired: %d, withdrawn: %d, open: %d\n", o.Expired, o.Cancelled, o.Open)
	return t.Flush()
}

func newAuditKey(getenv func(string) string) *cobra.Command {
	var file, fresh string
	var own bool
	cmd := &cobra.Command{
		Use: "key", Short: "Print the public keys of the audit log and its witness, or make a key", Args: noArguments,
		Example: `  agent audit key
  export AGENT_AUDIT_KEY="$(agent audit key --new agents.example.com/audit)"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fresh != "" {
				create := merkle.NewKey
				if own {
					create = cosigner.NewKey
				}
				text, err := create(fresh)
				if err == nil {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
				}
				return err
			}
			if own {
				return printWitnessKey(cmd.OutOrStdout(), file, getenv)
			}
			return printAuditKeys(cmd.OutOrStdout(), file, getenv)
		},
	}
	addFile(cmd, &file)
	cmd.Flags().BoolVar(&own, "witness", false, "the key with which this agent is a witness of the logs of others")
	cmd.Flags().StringVar(&fresh, "new", "", "make a private and a public key for the log of this `origin`")
	return cmd
}

func printAuditKeys(w io.Writer, file string, getenv func(string) string) error {
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	if c.Audit == nil {
		return auditor.ErrNone
	}
	key, err := worker.ReadAuditKey(c, getenv)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, key.Public)
	for _, remote := range c.Audit.Witnesses {
		fmt.Fprintln(w, remote.Key)
	}
	if c.Audit.Witness == "" {
		return nil
	}
	witness, err := merkle.WitnessKey(c.Audit.Witness)
	if err == nil {
		fmt.Fprintln(w, witness)
	}
	return err
}

// printWitnessKey prints the public key of the agent as a witness.
func printWitnessKey(w io.Writer, file string, getenv func(string) string) error {
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	if c.Witness == nil {
		return errors.New("the agent is no witness: the file has no key witness")
	}
	k, err := server.WitnessKey(c, getenv)
	if err == nil {
		_, err = fmt.Fprintln(w, k.Public)
	}
	return err
}
