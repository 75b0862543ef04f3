package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/mcpservers/prompt/sections"
)

const aboutPrompt = `Look at the system prompt of an agent: the key prompt of its file, which may be a text, or a tree of
sections in the file or in a directory.
`

const aboutPromptShow = `Show what the model gets: first a line for each section with its number and name, either of which is
its address, then the text. With the address of a section, only its text.
`

func newPrompt() *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return p.show(cmd, args) },
	}
	addFile(show, &p.file)
	show.Flags().BoolVar(&p.text, "text", false, "only the text, without the list of sections")
	cmd.AddCommand(show)
	return cmd
}

type promptFlags struct {
	file string
	text bool
}

func (p promptFlags) show(cmd *cobra.Command, args []string) error {
	c, err := config.Load(p.file)
	if err != nil {
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
