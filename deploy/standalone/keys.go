package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/duration"
)

const aboutKeys = `Make, list and revoke the keys with which callers prove who they are. They count if auth of
the agent's file has {type: keys}. Agents and gateways that run notice a change within a
second.

The file of the keys is auth[].file, or keys.json in data_dir. It has hashes of the keys, so
whoever reads it cannot call.
`

const aboutKeysAdd = `Make a key and print it. It is printed this once and stored nowhere. Callers send it as

  Authorization: Bearer KEY

The name is the caller's: conversations belong to it, and the record of a decision has it. So
the name of a key that was revoked is refused. --same-caller makes another key for the caller who
had it.
`

// keysFlags are the flags of all commands about keys.
type keysFlags struct{ file string }

func (f *keysFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "config", "config/agent.yaml", "the agent's YAML `FILE`")
}

// open loads the agent's file, which names the file of the keys.
func (f *keysFlags) open() (*config.Config, error) { return config.Load(f.file) }

func newKeys() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Make, list and revoke keys of callers", Long: aboutKeys, GroupID: groupOther,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeysAdd(), newKeysList(), newKeysRevoke())
	return cmd
}

func newKeysAdd() *cobra.Command {
	var f keysFlags
	var scopes []string
	var valid duration.Value
	var sameCaller bool
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make a key for a caller and print it", Long: aboutKeysAdd, Args: cobra.ExactArgs(1),
		Example: `  agent keys add ci --scope converse,read
  agent keys add alice --expires 90d
  agent keys revoke alice && agent keys add alice --same-caller
  agent keys add ops --scope read:all,approve:all,operate`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.open()
			if err != nil {
				return err
			}
			var expires time.Time
			if cmd.Flags().Changed("expires") {
				expires = time.Now().Add(time.Duration(valid)).UTC().Truncate(time.Second)
			}
			add := keys.Add
			if sameCaller {
				add = keys.AddAgain
			}
			text, err := add(c.KeysFile(), args[0], scopes, expires)
			if errors.Is(err, keys.ErrFormer) {
				return fmt.Errorf("%w; take another name or, for the caller who had it, --same-caller", err)
			}
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(c.Auth, func(w config.AuthWay) bool { return w.Type == config.AuthKeys }) {
				fmt.Fprintf(cmd.ErrOrStderr(), "agent: auth in %s has no {type: keys}, so nobody asks for this key\n", f.file)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().StringSliceVar(&scopes, "scope", []string{contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove},
		"what the caller may do: any of "+strings.Join(contract.Scopes(), ", "))
	cmd.Flags().BoolVar(&sameCaller, "same-caller", false, "make a key with the name of one that was revoked, whose conversations it reaches")
	cmd.Flags().Var(&valid, "expires", "how long the key is valid, such as 90d (default until it is revoked)")
	return cmd
}

func newKeysList() *cobra.Command {
	var f keysFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.open()
			if err != nil {
				return err
			}
			all, err := keys.List(c.KeysFile())
			if err != nil {
				return err
			}
			used, err := keys.LastUsed(c.KeysFile())
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tKEY\tSCOPES\tMADE\tEXPIRES\tLAST USED")
			for _, k := range all {
				fmt.Fprintf(w, "%s\t%s%s_…\t%s\t%s\t%s\t%s\n", k.Name, keys.Prefix, k.ID, strings.Join(k.Scopes, ","),
					day(k.Created), minute(k.Expires), minute(used[k.Name]))
			}
			return w.Flush()
		},
	}
	f.add(cmd)
	return cmd
}

func newKeysRevoke() *cobra.Command {
	var f keysFlags
	cmd := &cobra.Command{
		Use: "revoke NAME", Short: "End the key of a caller", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := f.open()
			if err != nil {
				return err
			}
			return keys.Revoke(c.KeysFile(), args[0])
		},
	}
	f.add(cmd)
	return cmd
}

func day(t time.Time) string { return layout(t, time.DateOnly) }

// minute is as exact as the last use is known.
func minute(t time.Time) string { return layout(t, "2006-01-02 15:04Z") }

func layout(t time.Time, form string) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(form)
}
