package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/deploy/standalone/intake"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
)

const aboutImport = `Import conversations into the agent that runs with --config, from files or from folders that
have them: files that an agent exported (conversation_ID.json in its data_dir, or "agent
conversations export"), and those of the former Agent Stop and Go without Temporal, of the same
name.

Stop the system that the files come from first: what it still runs would run twice.

IDs, texts and times stay. Who wrote a message is kept as the file says it, marked as imported.
What waited for an approval waits again, under the same UUID where the file has a valid one, and
asks here whatever tool it is for; then the turn goes on from there. Decisions that were made
elsewhere grant nothing. A file is imported wholly or not at all, and the command can be
repeated: a conversation that is there stays as it is.

What cannot go on here is refused, with the place and what to do: calls inside a tree of nodes,
calls of unknown outcome, questions of tool servers, delegations that may have been sent, and
tools or other agents that this agent lacks. With --drop-approvals such a conversation is imported
without the call, which does not run. Messages that wait for a turn are only a number in a file:
with --drop-queued the conversation is imported without them. Attached files and images are not in conversation files; their names stay.

It fails if any file was not imported.
`

type importFlags struct {
	agentFlags
	owner     string
	dry, drop bool
	queued    bool // --drop-queued
	asJSON    bool
}

func newImport(getenv func(string) string) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use: "import FILE...", Short: "Import conversations from files, with what waits for an approval", Long: aboutImport, GroupID: groupOther,
		Example: `  agent import --dry-run old/data
  agent import conversation_7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f.json --owner alice`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, getenv) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "whose conversations they become, where callers prove who they are: `NAME` of a key, or ISSUER/SUBJECT")
	flags.BoolVar(&f.dry, "dry-run", false, "only say what each file would become")
	flags.BoolVar(&f.drop, "drop-approvals", false, "leave behind the approvals that cannot wait here; their calls do not run")
	flags.BoolVar(&f.queued, "drop-queued", false, "leave behind messages that wait for a turn; a file has only their number")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f *importFlags) run(cmd *cobra.Command, args []string, getenv func(string) string) error {
	paths, err := intake.Expand(args)
	if err != nil {
		return err
	}
	c, err := config.Load(f.file)
	if err != nil {
		return err
	}
	if err := worker.ReadPrompt(cmd.Context(), c, getenv); err != nil && !c.Prompt.FallBack(err.Error()) {
		return err
	}
	chooseModel(c, f.demo, getenv)
	owner, err := ownerOf(c, f.owner)
	if err != nil {
		return &usageError{err, cmd}
	}
	ctx := cmd.Context()
	p, err := platform.Open(ctx, c, platformOptions(c, getenv))
	if err != nil {
		return fmt.Errorf("%w; is the agent running?", err)
	}
	defer p.Close()
	m, err := newImporter(ctx, c, p)
	if err != nil {
		return err
	}
	m.Owner, m.DryRun, m.DropApprovals, m.DropQueued = owner, f.dry, f.drop, f.queued
	return f.importAll(cmd, m, paths)
}

// platformOptions are those of a command beside a running agent.
func platformOptions(c *config.Config, getenv func(string) string) platform.Options {
	o := platform.Options{Getenv: getenv, Logger: slog.New(slog.DiscardHandler), OneProcess: true}
	if !platform.External(c, getenv) {
		o.Embedded = fmt.Sprintf("127.0.0.1:%d", c.Temporal.Port)
	}
	return o
}

func newImporter(ctx context.Context, c *config.Config, p *platform.Platform) (*intake.Importer, error) {
	agent, err := c.Agent(ctx, p.Blobs)
	if err != nil {
		return nil, fmt.Errorf("describe the agent: %w", err)
	}
	conversations := backend.New(backend.Options{
		Client: p.Client, TaskQueue: c.Temporal.TaskQueue, Namespace: p.Namespace, Address: p.Address, Agent: agent, Blobs: p.Blobs, Keyring: p.Keyring,
	})
	tools, err := conversations.Catalogue(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask a worker for its tools: %w; is the agent running?", err)
	}
	return &intake.Importer{
		Agent: agent, Tools: tools, Start: conversations, Find: intake.Workflows{Client: p.Client}, Graves: p.Blobs, Store: p.Blobs, Now: time.Now,
	}, nil
}

// ownerOf returns the identity that a flag names: NAME of a key, or ISSUER/SUBJECT.
func ownerOf(c *config.Config, text string) (contract.Identity, error) {
	if text == "" {
		return contract.Identity{}, nil
	}
	i := contract.Identity{Issuer: identity.IssuerKeys, Subject: text}
	if at := strings.LastIndex(text, "/"); at >= 0 {
		i.Issuer, i.Subject = text[:at], text[at+1:]
	}
	known := slices.ContainsFunc(c.Auth, func(w config.AuthWay) bool {
		return w.Type == config.AuthKeys && i.Issuer == identity.IssuerKeys || w.Type == config.AuthOIDC && w.Issuer == i.Issuer ||
			w.Type == config.AuthProxy && i.Issuer == identity.IssuerProxy
	})
	switch {
	case len(c.Auth) == 0:
		return i, errors.New("--owner: the agent has no auth, so its conversations belong to nobody")
	case i.Subject == "" || len(i.Subject) > contract.MaxSubject:
		return i, fmt.Errorf("--owner %s: write the NAME of a key, or ISSUER/SUBJECT", text)
	case !known:
		return i, fmt.Errorf("--owner %s: auth of the agent has no issuer %s", text, i.Issuer)
	case i.Issuer != identity.IssuerKeys:
		return i, nil
	}
	list, err := keys.List(c.KeysFile())
	if err == nil && !slices.ContainsFunc(list, func(k keys.Key) bool { return k.Name == i.Subject }) {
		err = fmt.Errorf("--owner %s: there is no key with this name; make it with agent keys add %s", text, text)
	}
	return i, err
}

// importResult is what the command prints as JSON.
type importResult struct {
	DryRun  bool                 `json:"dry_run,omitempty"`
	Files   []intake.Outcome     `json:"files"`
	Summary map[intake.State]int `json:"summary"`
}

func (f *importFlags) importAll(cmd *cobra.Command, m *intake.Importer, paths []string) error {
	out := importResult{DryRun: f.dry, Summary: map[intake.State]int{}}
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	progress := len(paths) > 1 && cli.IsTerminal(stderr)
	for n, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if progress {
			fmt.Fprintf(stderr, "\r%d of %d", n+1, len(paths))
		}
		o := m.Import(ctx, path)
		out.Files, out.Summary[o.State] = append(out.Files, o), out.Summary[o.State]+1
		if !f.asJSON {
			if progress {
				fmt.Fprint(stderr, "\r\x1b[K")
			}
			printOutcome(cmd.OutOrStdout(), o, f.dry)
		}
	}
	if f.asJSON {
		if progress {
			fmt.Fprint(stderr, "\r\x1b[K")
		}
		if err := cli.PrintJSON(cmd.OutOrStdout(), out); err != nil {
			return err
		}
	} else if len(paths) > 1 {
		s := out.Summary
		fmt.Fprintf(cmd.OutOrStdout(), "%d files: %d %s, %d already there, %d refused, %d failed\n",
			len(paths), s[intake.Imported], importedVerb(f.dry), s[intake.There], s[intake.Refused], s[intake.Failed])
	}
	if left := out.Summary[intake.Refused] + out.Summary[intake.Failed]; left > 0 {
		return fmt.Errorf("%d of %d files: not imported", left, len(paths))
	}
	return nil
}

func importedVerb(dry bool) string {
	if dry {
		return "would be imported"
	}
	return "imported"
}

func printOutcome(w io.Writer, o intake.Outcome, dry bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", screen.Line(o.File, 200))
	switch o.State {
	case intake.Imported:
		fmt.Fprintf(&b, "%s as %s, %s, %d messages\n", importedVerb(dry), o.ID, o.Status, o.Messages)
	case intake.There:
		fmt.Fprintf(&b, "already there as %s\n", o.ID)
	default:
		fmt.Fprintf(&b, "%s\n", o.State)
	}
	for _, c := range o.Waits {
		what := "waits for an approval of " + screen.Line(c.Tool, 100)
		if c.Task != "" {
			what = "waits for the task " + screen.Line(c.Task, 100) + " of " + screen.Line(c.Tool, 100)
		}
		if c.Approval != "" {
			what += ", UUID " + c.Approval
		}
		fmt.Fprintf(&b, "  %s\n", what)
	}
	for _, note := range o.Notes {
		fmt.Fprintf(&b, "  %s\n", screen.Line(note, 500))
	}
	if o.Problem != "" {
		if o.Place != "" {
			fmt.Fprintf(&b, "  %s: ", screen.Line(o.Place, 200))
		} else {
			b.WriteString("  ")
		}
		fmt.Fprintf(&b, "%s\n  → %s\n", screen.Line(o.Problem, 1000), screen.Line(o.Advice, 1000))
	}
	_, _ = io.WriteString(w, b.String())
}
