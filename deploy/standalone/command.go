package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli"
)

const about = `agent runs an AI agent that stops before destructive calls until a person approves.

Without a command it does what "agent run" does.

To try it:
  agent run --demo-if-no-key              in one terminal
  agent ask "list the resources"          in another

` + cli.ExitCodes

// The groups of commands in the help.
const (
	groupServe = "serve"
	groupTalk  = "talk"
	groupOther = "other"
)

// newCommand returns the command line of agent.
func newCommand(getenv func(string) string) *cobra.Command {
	root := newRun(getenv)
	root.Use = "agent"
	root.Short = "Run an AI agent that stops before destructive calls until a person approves"
	root.Long, root.Example, root.GroupID, root.Args = about, "", "", nil
	root.Version = version
	root.SilenceErrors, root.SilenceUsage = true, true // printError prints them
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddGroup(
		&cobra.Group{ID: groupServe, Title: "Run an agent:"},
		&cobra.Group{ID: groupTalk, Title: "Talk to an agent that runs:"},
		&cobra.Group{ID: groupOther, Title: "Other commands:"})
	root.SetHelpCommand(newHelp(root))
	root.SetCompletionCommandGroupID(groupOther)
	root.AddCommand(newImport(getenv), newRepair(getenv), newPolicy(getenv), newPrompt(getenv), newAudit(getenv))
	root.AddCommand(newRun(getenv), newValidate(getenv), newDoctor(getenv), newTemporal(getenv), newBackup(getenv), newRestore(getenv), newReplay(getenv), newKeys(), newEncryption(getenv), newConfig(getenv), newDeployment(getenv), newGC(getenv), newVersion(), newMan())
	for _, cmd := range cli.Commands(getenv) {
		cmd.GroupID = groupTalk
		root.AddCommand(cmd)
	}
	return root
}

// newHelp returns the command help, which fails for a command that does not exist.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Help about any command",
		GroupID: groupOther,
		Args: func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q for %q", rest[0], found.CommandPath())
			}
			return err
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (out []cobra.Completion, d cobra.ShellCompDirective) {
			cmd, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, _, err := root.Find(args)
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupOther,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version)
			return err
		},
	}
}

// withDoubleDashes gives the long flags that earlier versions accepted with a single dash their
// second one. There are no one-letter flags that could be meant instead.
func withDoubleDashes(args []string) []string {
	out := append([]string{}, args...)
	for i, arg := range out {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--":
			return out
		case "-config", "-demo-if-no-key", "-connect", "-help":
			out[i] = "-" + arg
		}
	}
	return out
}
