package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/mcpservers/prompt"
	"agent-stop-and-go/mcpservers/prompt/sections"
	"agent-stop-and-go/worker"
)

const aboutPrompt = `Look at the system prompt of an agent: the key prompt of its file, which may be a text, or a tree of
sections in the file, in a directory or at a tool server. A directory has versions, which mcp-prompt
makes, and revert. used says which prompts a conversation has had.
`

const aboutPromptShow = `Show what the model gets: first a line for each section with its number and name, either of which is
its address, then the text. With the address of a section, only its text.
`

const aboutPromptHistory = `List the versions of a prompt in a directory, the newest first: who made each, when, why, and with --diff
what it changed. Files that were edited are a version from now on.
`

const aboutPromptRevert = `Make a prompt in a directory as it was in a version, which makes a new version by you. New conversations
have it at once; those that run keep what they have until "agent config adopt".
`

func newPrompt(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "prompt", Short: "Show the system prompt and its sections", Long: aboutPrompt, GroupID: groupServe,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var p promptFlags
	show := &cobra.Command{
		Use: "show [SECTION]", Short: "Show what the model gets", Long: aboutPromptShow, Args: cobra.MaximumNArgs(1),
		Example: `  agent prompt show
  agent prompt show tone --config config/agent.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.show(cmd, args, getenv) },
	}
	history := &cobra.Command{
		Use: "history", Short: "List the versions of a prompt in a directory", Long: aboutPromptHistory, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.history(cmd) },
	}
	diff := &cobra.Command{
		Use: "diff [VERSION]", Short: "Show what a version changed, without a number the newest", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.diff(cmd, args) },
	}
	revert := &cobra.Command{
		Use: "revert VERSION", Short: "Make a prompt in a directory as it was in a version", Long: aboutPromptRevert, Args: cobra.ExactArgs(1),
		Example: `  agent prompt revert 3 --why "too long"`,
		RunE:    func(cmd *cobra.Command, args []string) error { return p.revert(cmd, args[0], getenv("USER")) },
	}
	show.Flags().BoolVar(&p.text, "text", false, "only the text, without the list of sections")
	history.Flags().IntVar(&p.limit, "limit", 20, "how many versions at most")
	history.Flags().BoolVar(&p.diffs, "diff", false, "also what each changed")
	revert.Flags().StringVar(&p.why, "why", "", "the reason, for the history")
	for _, c := range []*cobra.Command{show, history, diff, revert} {
		addFile(c, &p.file)
		cmd.AddCommand(c)
	}
	cmd.AddCommand(cli.NewUsedPrompts(getenv))
	return cmd
}

type promptFlags struct {
	file  string
	text  bool
	limit int
	diffs bool
	why   string
}

func (p promptFlags) show(cmd *cobra.Command, args []string, getenv func(string) string) error {
	c, err := config.Load(p.file)
	if err != nil {
		return err
	}
	if err := worker.ReadPrompt(cmd.Context(), c, getenv); err != nil {
		return err
	}
	a, err := c.Agent(cmd.Context(), blobstore.Memory())
	if err != nil {
		return err
	}
	if a.Root().Composite() {
		return fmt.Errorf("%s: the nodes of the tree have prompts of their own", p.file)
	}
	tree := c.Prompt.Tree()
	if c.Root != nil && c.Root.Prompt != "" {
		tree = sections.Prompt{Text: c.Root.Prompt}
	}
	return p.print(cmd.OutOrStdout(), tree, args)
}

// store opens the directory of the prompt. It removes no versions: how many are kept is the server's.
func (p promptFlags) store(ctx context.Context) (*prompt.Store, error) {
	c, err := config.Load(p.file)
	if err != nil {
		return nil, err
	}
	if c.Prompt.Server != "" {
		return nil, fmt.Errorf("%s: the prompt is at the tool server %s, which has its versions: its tool prompt_history lists them", p.file, c.Prompt.Server)
	}
	if c.Prompt.Path() == "" {
		return nil, fmt.Errorf("%s: the prompt is in no directory, so no versions of it are kept", p.file)
	}
	return prompt.Open(ctx, c.Prompt.Path(), prompt.Limits{})
}

func (p promptFlags) history(cmd *cobra.Command) error {
	s, err := p.store(cmd.Context())
	if err != nil {
		return err
	}
	list, err := s.History(cmd.Context(), p.limit)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range list {
		b.WriteString(screen.Safe(e.String()) + "\n")
		if p.diffs {
			b.WriteString(safeLines(e.Diff))
		}
	}
	_, err = io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

func (p promptFlags) diff(cmd *cobra.Command, args []string) error {
	s, err := p.store(cmd.Context())
	if err != nil {
		return err
	}
	limit := prompt.MaxVersions
	if len(args) == 0 {
		limit = 1
	}
	list, err := s.History(cmd.Context(), limit)
	if err != nil {
		return err
	}
	for _, e := range list {
		if len(args) == 0 || args[0] == strconv.Itoa(e.Version) {
			_, err := io.WriteString(cmd.OutOrStdout(), screen.Safe(e.String())+"\n"+safeLines(e.Diff))
			return err
		}
	}
	return fmt.Errorf("there is no version %s; there are %d to %d", args[0], list[len(list)-1].Version, list[0].Version)
}

func (p promptFlags) revert(cmd *cobra.Command, version, by string) error {
	n, err := strconv.Atoi(version)
	if err != nil {
		return fmt.Errorf("%q is no number of a version", version)
	}
	s, err := p.store(cmd.Context())
	if err != nil {
		return err
	}
	now, err := s.Read(cmd.Context())
	if err != nil {
		return err
	}
	c, err := s.Revert(cmd.Context(), prompt.Revert{Version: n, Base: now.Base(), Why: p.why}, prompt.Author{By: by})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "This is version %d.\n%s", c.Version, safeLines(c.Diff))
	return err
}

// safeLines makes each line safe for a terminal.
func safeLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(screen.Safe(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// print writes a prompt, or one section.
func (p promptFlags) print(w io.Writer, tree sections.Prompt, args []string) error {
	if len(args) > 0 {
		e, err := tree.Find(args[0])
		if err == nil {
			_, err = io.WriteString(w, withNewline(e.Only()))
		}
		return err
	}
	text := withNewline(tree.Assemble())
	if !p.text && len(tree.Sections) > 0 {
		text = sections.List(tree.Entries()) + "\n\n" + text
	}
	_, err := io.WriteString(w, text)
	return err
}

func withNewline(text string) string {
	if text == "" || text[len(text)-1] == '\n' {
		return text
	}
	return text + "\n"
}
