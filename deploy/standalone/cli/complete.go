package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

// completionTime bounds how long a shell waits for IDs.
const completionTime = 2 * time.Second

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeFrom completes the first argument with what list returns.
func completeFrom(f *Flags, list func(context.Context, *client.Client) []string) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := f.Client()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		return list(ctx, c), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func approvalIDs(ctx context.Context, c *client.Client) (out []string) {
	page, err := c.Approvals(ctx, client.Query{Limit: 50})
	if err != nil {
		return nil
	}
	for _, a := range page.Approvals {
		out = append(out, cobra.CompletionWithDesc(a.UUID, screen.Line(a.ToolName+" "+string(a.ToolArgs), 60)))
	}
	return out
}

func conversationIDs(ctx context.Context, c *client.Client) (out []string) {
	page, err := c.Conversations(ctx, client.Query{Limit: 50})
	if err != nil {
		return nil
	}
	for _, i := range page.Conversations {
		out = append(out, cobra.CompletionWithDesc(i.ID, screen.Line(i.Title, 60)))
	}
	return out
}
