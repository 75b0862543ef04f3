package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/chat"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

const aboutChat = `Hold a conversation with a running agent.

At a terminal you see replies while they are written, and what happens in the conversation
elsewhere. A call that needs an approval is shown with all of its arguments, and one key
answers: y (yes), n (no, with a reason), l (not now: put off for two hours, for you, wherever
you look). A question is a form. Other keys:
  Enter       sends the message, Alt-Enter begins a new line
  Up, Down    bring back what was sent before
  Ctrl-G      opens $VISUAL or $EDITOR for a long message
  Tab         goes to the approval that waits, and back
  Ctrl-C      cancels the turn; twice leaves
  Ctrl-D      leaves; what waits goes on waiting

What begins with ! is a command: !help shows all of them. !!text sends the message !text.

In a pipe every line of the standard input is a message, and the answers are plain text, or
with --json the events of the turns, in the vocabulary of AG-UI, a line each. It ends with exit
code 3 when a turn waits for an approval. Commands work there, too.
`

func newChat(getenv func(string) string) *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Hold a conversation",
		Long:  aboutChat + "\n" + ExitCodes,
		Example: `  agent chat
  agent chat --conversation 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f
  agent chat < questions.txt`,
		Args: arguments(),
	}
	f := AddFlags(cmd, getenv)
	a.add(cmd, f)
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, _ []string) error {
		id, err := s.FullID(cmd.Context(), a.conversation)
		if err != nil {
			return err
		}
		a.conversation = id
		if s.talks {
			return s.chat(cmd.Context(), a)
		}
		return s.pipe(cmd.Context(), a)
	})
	return cmd
}

// chat holds a conversation with a person.
func (s *session) chat(ctx context.Context, a asking) error {
	if _, err := s.Ready(ctx); err != nil {
		return err // rather than when the first message has been typed
	}
	id, err := chat.Run(ctx, chat.Options{
		Client: s.Client, ConversationID: a.conversation, By: s.flags.decider(a.by), Color: s.color, In: s.in, Out: s.out,
		Editor: cmp.Or(s.flags.getenv("VISUAL"), s.flags.getenv("EDITOR"), "vi"),
	})
	if err == nil && id != "" {
		fmt.Fprintf(s.out, "To continue: agent chat --conversation %s%s\n", screen.Exact(id), s.flags.again())
	}
	return err
}

// pipe sends every line and prints its answer.
func (s *session) pipe(ctx context.Context, a asking) error {
	always := a.message.Model // of the flag
	lines := bufio.NewScanner(s.in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		message := strings.TrimSpace(lines.Text())
		if message == "" {
			continue
		}
		message, err := s.command(ctx, &a, message)
		if err != nil {
			return err
		}
		if message == "" {
			continue
		}
		if a.conversation, err = s.ask(ctx, a, message); err != nil {
			return err
		}
		a.message = client.NewMessage{Model: always}
	}
	return lines.Err()
}

// command carries out a command in a pipe. It returns the message if the line is one, "" otherwise.
func (s *session) command(ctx context.Context, a *asking, line string) (message string, err error) {
	if !client.IsCommand(line) {
		return line, nil
	}
	reply, err := s.Command(ctx, client.Command{Text: line, ConversationID: a.conversation, By: s.flags.decider(a.by)})
	if err != nil {
		return "", err
	}
	a.conversation = reply.ConversationID
	if reply.Message != nil { // a line is a command or a message
		if reply.Message.Model != "" {
			a.message.Model, a.message.KeepModel = reply.Message.Model, false
		}
		return reply.Message.Text, nil
	}
	if reply.Model != "" {
		a.message.Model, a.message.KeepModel = reply.Model, true
	}
	return "", s.show(reply, func(w io.Writer) { fmt.Fprintln(w, screen.Safe(reply.Text)) })
}

// maxLine bounds a message in a pipe; agents accept 1 MiB.
const maxLine = 1 << 20
