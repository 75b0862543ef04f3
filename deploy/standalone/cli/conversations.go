package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

func newConversations(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "conversations",
		Aliases: []string{"conversation"},
		Short:   "List, read, follow, rename, end and delete conversations",
	}
	f := AddFlags(cmd, getenv)
	return family(cmd, newConversationsList(f), newConversationsShow(f), newEvents(f), newExport(f), newRename(f),
		newChange(f, "cancel ID", "Stop the running turn; the conversation goes on", (*client.Client).Cancel),
		newChange(f, "close ID", "End a conversation for good", (*client.Client).Close), newDelete(f))
}

func newConversationsList(f *Flags) *cobra.Command {
	var p pages
	var status string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conversations, the newest first",
		Args:  arguments(),
		RunE: f.session(func(s *session, cmd *cobra.Command, _ []string) error {
			p.query.Status = client.Status(status)
			page, err := s.Conversations(cmd.Context(), p.query)
			if err != nil {
				return err
			}
			return s.show(page, func(w io.Writer) {
				rows := [][]string{{"ID", "SHORT", "STATUS", "CHANGED", "TITLE"}}
				for _, i := range page.Conversations {
					rows = append(rows, []string{i.ID, i.ShortID, string(i.Status), age(i.UpdatedAt), i.Title})
					if i.Excerpt != "" {
						rows = append(rows, []string{"", "", "", "", "  " + i.Excerpt})
					}
				}
				table(w, rows...)
				if n := page.Search; n != nil {
					fmt.Fprintf(w, "Searched %d titles and %d texts.\n", n.Searched, n.Texts)
				}
				more(w, page.NextCursor)
			})
		}),
	}
	p.add(cmd)
	cmd.Flags().StringVar(&p.query.Search, "search", "", "only those with all of these `words` in their title or in what people and agents wrote")
	cmd.Flags().StringVar(&status, "status", "", "only those with this `status`: active, waiting_approval or completed")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions([]string{"active", "waiting_approval", "completed"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// newOf returns a command about one conversation.
func newOf(f *Flags, use, short string, run func(*session, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		Args:              arguments("ID"),
		ValidArgsFunction: completeFrom(f, conversationIDs),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			return run(s, cmd.Context(), args[0])
		}),
	}
}

func newConversationsShow(f *Flags) *cobra.Command {
	return newOf(f, "show ID", "Show the messages of a conversation", func(s *session, ctx context.Context, id string) error {
		c, err := s.Conversation(ctx, id)
		if err != nil {
			return err
		}
		return s.show(c, func(w io.Writer) {
			for _, m := range c.Messages {
				printMessage(w, m)
			}
			for _, a := range c.PendingApprovals {
				fmt.Fprint(w, screen.Approval(a))
				s.printAnswers(w, a)
			}
		})
	})
}

// printMessage prints a message, a call or a result.
func printMessage(w io.Writer, m client.Message) {
	who := screen.Safe(cmp.Or(m.Node, m.Role))
	switch c := m.ToolCall; {
	case c == nil:
		fmt.Fprintf(w, "%s\n%s\n\n", who, screen.Indent(screen.Safe(m.Content), "  "))
	case m.Role == "tool" || c.Result != "" || c.IsError:
		fmt.Fprintf(w, "%s answers\n%s\n\n", screen.Safe(c.Name), screen.Indent(screen.Safe(cmp.Or(c.Result, c.Note)), "  "))
	default:
		fmt.Fprintf(w, "%s calls %s\n%s\n\n", who, screen.Safe(c.Name), screen.Indent(screen.JSON(c.Arguments), "  "))
	}
}

func newExport(f *Flags) *cobra.Command {
	var format string
	cmd := newOf(f, "export ID", "Print a whole conversation as JSON or Markdown", func(s *session, ctx context.Context, id string) error {
		if format != "json" && format != "markdown" {
			return &UsageError{fmt.Errorf("--format is json or markdown, not %q", format)}
		}
		data, err := s.Export(ctx, id, format)
		if err == nil {
			_, err = s.out.Write(data)
		}
		return err
	})
	cmd.Example = `  agent conversations export 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f > conversation.json
  agent conversations export 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --format markdown > conversation.md`
	cmd.Flags().StringVar(&format, "format", "json", "json, the file that the agent itself exports, or markdown, for people")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"json", "markdown"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newEvents(f *Flags) *cobra.Command {
	var after string
	cmd := newOf(f, "events ID", "Follow a conversation: its events as lines of JSON", func(s *session, ctx context.Context, id string) error {
		for e, err := range s.Follow(ctx, id, after) {
			if err != nil {
				return err
			}
			if err := printLine(s.out, e.Raw); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.Long = `Follow a conversation until it is closed or Ctrl-C: its events as lines of JSON, in the
vocabulary of AG-UI (https://docs.ag-ui.com), replies of models while they are written. A lost
connection is resumed behind the last event.
`
	cmd.Flags().StringVar(&after, "after", "", "begin behind the event with this `id`")
	return cmd
}

func newRename(f *Flags) *cobra.Command {
	var by string
	cmd := &cobra.Command{
		Use:               "rename ID TITLE",
		Short:             "Give a conversation a title",
		Example:           `  agent conversations rename 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f "Fruit for the canteen"`,
		Args:              arguments("ID", "TITLE"),
		ValidArgsFunction: completeFrom(f, conversationIDs),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			t, err := s.Rename(cmd.Context(), args[0], args[1], f.decider(by))
			if err != nil {
				return err
			}
			return s.showChange(t)
		}),
	}
	cmd.Long = `Give a conversation a title, which lists show instead of the first words of its first
message: one line of at most 80 characters. A closed conversation keeps its title.
`
	cmd.Flags().StringVar(&by, "by", "", "your `name`, for the record (default $USER)")
	return cmd
}

// newChange returns a command that cancels or closes.
func newChange(f *Flags, use, short string, change func(*client.Client, context.Context, string) (client.Turn, error)) *cobra.Command {
	return newOf(f, use, short, func(s *session, ctx context.Context, id string) error {
		t, err := change(s.Client, ctx, id)
		if err != nil {
			return err
		}
		return s.showChange(t)
	})
}

// showChange prints what has come of a request that changes a conversation.
func (s *session) showChange(t client.Turn) error {
	return s.show(t, func(w io.Writer) {
		text := "The conversation is " + string(t.Conversation.Status) + "."
		if t.Result != nil {
			text = t.Result.Response
		}
		fmt.Fprintln(w, screen.Safe(text))
	})
}

func newDelete(f *Flags) *cobra.Command {
	var force bool
	cmd := newOf(f, "delete ID", "Delete a conversation and all that belongs to it", func(s *session, ctx context.Context, id string) error {
		d, err := s.Delete(ctx, id, force)
		if err != nil {
			return err
		}
		return s.show(d, func(w io.Writer) {
			if d.Status != "deleted" {
				fmt.Fprintln(w, "The conversation is being deleted, which goes on.")
				return
			}
			fmt.Fprintln(w, "The conversation is deleted.")
		})
	})
	cmd.Long = `Delete a conversation: what runs is stopped, and its messages, histories, approvals and
files are removed for good. A record of when it was deleted, by whom, and of its decisions
stays. It is refused while an approval waits, unless --force is set, which withdraws it.
`
	cmd.Flags().BoolVar(&force, "force", false, "also while an approval waits; its call does not run")
	return cmd
}
