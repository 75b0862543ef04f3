package chat

import (
	"context"
	"errors"
	"io"
	"os"

	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/gateway/client"
)

// Options are the settings of a chat.
type Options struct {
	Client *client.Client
	// ConversationID is the conversation to continue. Empty starts one with the first message.
	ConversationID string
	// By is who decides, for the record.
	By string
	// Editor is the command that edits a message in a file.
	Editor string
	// Color means that texts may have styles.
	Color bool
	In    io.Reader
	Out   io.Writer
}

// Run holds a conversation until the person leaves. It returns the ID of the conversation, or
// "" if there was none.
func Run(ctx context.Context, o Options) (conversation string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := New(ctx, o)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(os.Environ()), tea.WithoutSignalHandler())
	m.send = p.Send
	_, err = p.Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return m.transcript.ConversationID, err
}
