package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
)

const aboutUsed = `Show which system prompts a conversation has had, the first one and each that it has taken over
(agent config adopt): since when, where it came from, its version there, the digest of its text, and the
digests of its sections, which are the bases that read_prompt of mcp-prompt lists. Prompts without sections
have no version.
`

// NewUsedPrompts returns the command that shows the prompts that a conversation has had.
func NewUsedPrompts(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{Use: "used ID", Short: "Show which prompts a conversation has had", Long: aboutUsed, Args: arguments("ID")}
	f := AddFlags(cmd, getenv)
	cmd.ValidArgsFunction = completeFrom(f, conversationIDs)
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, args []string) error {
		c, err := s.Conversation(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return s.show(c.Prompts, func(w io.Writer) {
			if len(c.Prompts) == 0 {
				fmt.Fprintln(w, "Its prompt has no sections, so it has no version.")
				return
			}
			rows := [][]string{{"SINCE", "SOURCE", "VERSION", "DIGEST", "BY"}}
			for _, p := range c.Prompts {
				version := "-"
				if p.Number > 0 {
					version = strconv.Itoa(p.Number)
				}
				rows = append(rows, []string{p.At.Local().Format(time.DateTime), p.Source, version, cmp.Or(p.Digest, "-"), p.By})
			}
			table(w, rows...)
			now := c.Prompts[len(c.Prompts)-1]
			if now.Fallback != "" {
				fmt.Fprintf(w, "\nIt has the text of the file: %s\n", screen.Safe(now.Fallback))
			}
			if len(now.Sections) > 0 {
				rows = [][]string{{"SECTION", "DIGEST"}}
				for _, p := range now.Sections {
					rows = append(rows, []string{p.Name, p.Digest})
				}
				fmt.Fprintln(w)
				table(w, rows...)
			}
		})
	})
	return cmd
}
