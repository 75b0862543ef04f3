package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// maxCommands bounds the commands of one text.
const maxCommands = 20

// lines takes the commands out of a text whose first line is one. The rest is a message for after
// them. Any other text has no commands: what somebody pastes into a message is never carried out.
func lines(text string) (commands []string, message string) {
	if !isCommand(strings.TrimSpace(text)) {
		return nil, text
	}
	var rest []string
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); isCommand(trimmed) {
			commands = append(commands, trimmed)
		} else {
			rest = append(rest, line)
		}
	}
	return commands, strings.TrimSpace(strings.Join(rest, ""))
}

func isCommand(line string) bool {
	return strings.HasPrefix(line, mark) && !strings.HasPrefix(line, mark+mark)
}

// Run carries out the commands of a text, line by line, and returns the message that the rest of it
// is. Nothing is carried out, or sent, after a command that fails or that nobody knows. An error is
// that of the first command: what the earlier ones have done is said in a reply.
func (i *Interpreter) Run(ctx context.Context, caller service.Caller, in Input) (Reply, error) {
	commands, message := lines(in.Text)
	if len(commands) > maxCommands {
		return Reply{}, service.Errorf(contract.KindInvalid, "%d commands are too many at once; send at most %d", len(commands), maxCommands)
	}
	out := Reply{ConversationID: in.ConversationID}
	var said []string
	for n, text := range commands {
		in.Text = text
		reply, err := i.one(ctx, caller, in)
		if n > 0 && err != nil {
			out.Text = strings.Join(append(said, stopped(text, err)), "\n")
			return out, nil
		}
		if err != nil || reply.unknown {
			return reply.after(said), err
		}
		if reply.ConversationID != in.ConversationID { // what is shown is elsewhere
			in.ConversationID, in.Shown, out.Model = reply.ConversationID, nil, ""
		}
		said = append(said, reply.Text)
		out.Command, out.ConversationID = reply.Command, reply.ConversationID
		if reply.Model != "" {
			out.Model = reply.Model
		}
	}
	out.Text = strings.Join(said, "\n")
	if len(commands) > 0 && message == "" {
		return out, nil
	}
	in.Text = message
	sent, err := run{i, caller, in, ""}.message(parse(message))
	switch {
	case err != nil && len(commands) > 0:
		out.Text = strings.Join(append(said, stopped("the message", err)), "\n")
		return out, nil
	case err != nil:
		return Reply{}, err
	}
	out.Message = sent.Message
	return out, nil
}

// after puts what earlier commands said before a reply.
func (r Reply) after(said []string) Reply {
	r.Text = strings.Join(append(said, r.Text), "\n")
	return r
}

// stopped says which part of a text failed behind others that did not.
func stopped(what string, err error) string {
	var known *service.Error
	why := "it failed"
	if errors.As(err, &known) {
		why = known.Text
	}
	return fmt.Sprintf("%s: %s. Nothing after it was carried out or sent.", service.Printable(what), strings.TrimSuffix(why, "."))
}
