package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/client"
)

const aboutAsk = `Send a message to a running agent and print its answer while it is written.

When the turn stops for an approval, the call is shown with all of its arguments. At a
terminal you are asked then. Elsewhere the command ends with exit code 3, and prints the
commands with which anybody can answer, now or in a month.

The answer is on the standard output, and everything about it on the error output. With
--json the events of the turn are printed, in the vocabulary of AG-UI, a line each.
`

// asking has the flags of ask.
type asking struct {
	conversation, by string
	message          client.NewMessage // with the model
}

func (a *asking) add(cmd *cobra.Command, f *Flags) {
	cmd.Flags().StringVarP(&a.conversation, "conversation", "c", "", "continue the conversation with this `ID`, full or short")
	cmd.Flags().StringVar(&a.message.Model, "model", "", "the `NAME` of the model that answers, one that people may choose")
	cmd.Flags().StringVar(&a.by, "by", "", "who decides; a `name` for the record (default $USER, unless there is a key)")
	_ = cmd.RegisterFlagCompletionFunc("conversation", completeFrom(f, conversationIDs))
}

func newAsk(getenv func(string) string) *cobra.Command {
	var a asking
	var paths []string
	cmd := &cobra.Command{
		Use:   "ask MESSAGE...",
		Short: "Send a message and print the answer",
		Long:  aboutAsk + "\n" + ExitCodes,
		Example: `  agent ask "list the resources"
  agent ask --conversation 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f "and now the first one"
  agent ask --file plan.png --file notes.md "does the plan follow the notes?"
  agent ask - < question.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New(`the message is missing; "-" reads it from the standard input`)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := AddFlags(cmd, getenv)
	a.add(cmd, f)
	cmd.Flags().StringArrayVarP(&paths, "file", "f", nil, "send the image, PDF or text file at this `path`, too; may be repeated")
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, args []string) error {
		message, err := messageOf(args, s.in)
		if err != nil {
			return err
		}
		if a.conversation, err = s.FullID(cmd.Context(), a.conversation); err != nil {
			return err
		}
		if a.message.Files, err = filesOf(paths); err != nil {
			return err
		}
		_, err = s.ask(cmd.Context(), a, message)
		return err
	})
	return cmd
}

// messageOf returns the message of a command line.
func messageOf(args []string, in io.Reader) (string, error) {
	message := strings.Join(args, " ")
	if message == "-" {
		data, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read the message: %w", err)
		}
		message = string(data)
	}
	if strings.TrimSpace(message) == "" {
		return "", &UsageError{errors.New("the message is empty")}
	}
	return message, nil
}

// maxFiles bounds the files of a message, so that its body, which has them in base64, is taken.
const maxFiles = 6_000_000

// filesOf reads the files that come with a message.
func filesOf(paths []string) (files []client.File, err error) {
	room := int64(maxFiles)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read a file to send: %w", err)
		}
		if room -= info.Size(); room < 0 || !info.Mode().IsRegular() {
			return nil, &UsageError{fmt.Errorf("%s cannot be sent: all files of a message together have at most %d bytes", path, maxFiles)}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read a file to send: %w", err)
		}
		files = append(files, client.File{Name: filepath.Base(path), Data: data})
	}
	return files, nil
}

// ask sends a message and stays until the turn has ended, or waits for somebody else. It returns
// the ID of the conversation.
func (s *session) ask(ctx context.Context, a asking, message string) (conversation string, err error) {
	a.message.Message = message
	p := &printer{session: s}
	p.ConversationID = a.conversation
	q := &questions{session: s, by: s.flags.decider(a.by)}
	events := s.Send(ctx, a.conversation, a.message)
	for {
		last, err := p.print(events)
		switch {
		case err != nil:
			return p.ConversationID, s.leave(err, p.ConversationID)
		case last.Type == agui.TypeRunError:
			return p.ConversationID, errors.New(last.Message)
		case last.Outcome.Type != agui.OutcomeInterrupt:
			return p.ConversationID, nil
		}
		if err := q.ask(ctx, last.Outcome.Interrupts); err != nil {
			if errors.Is(err, errWaits) {
				s.printConversation(p.ConversationID)
			}
			return p.ConversationID, err
		}
		events = s.Rest(ctx, p.ConversationID, p.Position)
	}
}

// leave explains what goes on after an error.
func (s *session) leave(err error, conversation string) error {
	if errors.Is(err, context.Canceled) && conversation != "" {
		fmt.Fprintf(s.err, "\nThe turn goes on. To stop it: agent conversations cancel %s%s\n", screen.Exact(conversation), s.flags.again())
	}
	return err
}

func (s *session) printConversation(id string) {
	fmt.Fprintf(s.err, "Then read the answer with:\n  agent conversations show %s%s\n", screen.Exact(id), s.flags.again())
}

// staleTime is how long a decision may take to be seen by everybody.
const staleTime = 100 * time.Millisecond

// questions asks a person about approvals.
type questions struct {
	*session
	by      string
	decided []string
	input   *input
}

// ask shows the approvals that wait, and decides them if a person is there. It fails with
// errWaits when one is left.
func (q *questions) ask(ctx context.Context, waiting []client.Interrupt) error {
	fresh := slices.DeleteFunc(slices.Clone(waiting), func(i client.Interrupt) bool { return slices.Contains(q.decided, i.ID) })
	if len(fresh) == 0 { // what was decided is still shown
		time.Sleep(staleTime)
		return ctx.Err()
	}
	for _, i := range fresh {
		state, err := q.Approval(ctx, i.ID)
		if err != nil {
			return err
		}
		fmt.Fprintln(q.err)
		fmt.Fprint(q.err, screen.Approval(state.Approval))
		fmt.Fprint(q.err, screen.Field("put off", putOff(state.DeferredUntil)))
		if err := q.decide(ctx, state); err != nil {
			return err
		}
		q.decided = append(q.decided, i.ID)
	}
	return nil
}

// decide asks the person, if there is one, and records the answer.
func (q *questions) decide(ctx context.Context, state client.ApprovalState) error {
	if state.Decision != nil {
		return nil
	}
	if !q.talks {
		q.printAnswers(q.err, state.Approval)
		return errWaits
	}
	for {
		answer, err := q.read(ctx, state.Approval)
		if errors.Is(err, errWaits) {
			q.printAnswers(q.err, state.Approval)
		}
		if err != nil {
			return err
		}
		answer.By = q.by
		err = q.Record(ctx, state.Approval.UUID, answer)
		var e *client.Error
		switch {
		case errors.As(err, &e) && e.Decision != nil: // somebody was faster, which is as good
			fmt.Fprintln(q.err, screen.Safe(e.Text))
			return nil
		case client.StatusOf(err) != http.StatusBadRequest:
			return err
		}
		fmt.Fprintln(q.err, screen.Safe(e.Text)) // the answer does not fit
	}
}
