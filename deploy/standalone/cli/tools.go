package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
)

const aboutTools = `List the tools of a running agent: where each comes from, whether a person is asked before
it is called, and why:
  annotation   the server says so of the tool
  setting      the file of the agent names the tool
  no_hint      the server says nothing, so unannotated in the file decides
  rule, rules  the rules of the file decide: what they do, or what that depends on

Inside parallel and loop nodes, tools that would ask run at once unless the node has
approval: required.
`

func newTools(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of the agent, and which of them ask",
		Long:  aboutTools,
		Args:  arguments(),
	}
	f := AddFlags(cmd, getenv)
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, _ []string) error {
		offer, err := s.Offer(cmd.Context())
		if err != nil {
			return err
		}
		return s.show(offer, func(w io.Writer) {
			rows := [][]string{{"NAME", "SERVER", "ASKS", "BECAUSE", "DESCRIPTION"}}
			for _, t := range offer.Tools {
				asks, because := "?", ""
				if a := t.Approval; a != nil {
					asks, because = "no", a.Because
					if a.Asks {
						asks = "yes"
					}
				}
				if r := t.Rules; r != nil && r.Outcome != "" {
					asks, because = r.Outcome, "rule "+r.Rule
				} else if r != nil {
					asks, because = "depends on "+strings.Join(r.On, ", "), "rules "+strings.Join(r.Depends, ", ")
				}
				rows = append(rows, []string{t.Name, t.Server, asks, because, t.Description})
			}
			table(w, rows...)
			for _, server := range offer.Servers {
				if !server.Ready {
					fmt.Fprintf(w, "\nThe tool server %s does not answer: %s\n", screen.Safe(server.Name), screen.Safe(server.Error))
				}
			}
		})
	})
	cmd.AddCommand(newToolsLint(getenv))
	return cmd
}
