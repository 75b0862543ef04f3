package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/gateway/client"
)

// post sends a message for a model, "" for the one that was chosen with !model, if there is one.
func (m *Model) post(text, model string) tea.Cmd {
	id := m.transcript.ConversationID
	message := client.NewMessage{Message: text, Model: model}
	if model == "" && m.chosen != "" {
		message.Model, message.KeepModel = m.chosen, true
	}
	return m.ofPlace(func() tea.Msg {
		conversation, err := m.Client.Post(m.ctx, id, message)
		return sentMsg{text, conversation, message.KeepModel, err}
	})
}

// follow reads the events of the conversation until the chat ends, unless that happens already.
func (m *Model) follow() tea.Cmd {
	id := m.transcript.ConversationID
	if id == "" || m.following {
		return nil
	}
	m.following = true
	after, place, ctx := m.transcript.Position, m.place, m.followContext()
	return m.ofPlace(func() tea.Msg {
		for e, err := range m.Client.Follow(ctx, id, after) {
			if err != nil {
				return brokenMsg{err}
			}
			m.send(placedMsg{place, eventMsg(e)})
		}
		return brokenMsg{errors.New("the conversation is closed")}
	})
}

// cancel stops the turn.
func (m *Model) cancel() tea.Cmd {
	id := m.transcript.ConversationID
	return func() tea.Msg {
		_, err := m.Client.Cancel(m.ctx, id)
		return cancelledMsg{err}
	}
}

// look reads an approval.
func (m *Model) look(uuid string) tea.Cmd {
	return m.ofPlace(func() tea.Msg {
		state, err := m.Client.Approval(m.ctx, uuid)
		return approvalMsg{state, err}
	})
}

// record sends a decision.
func (m *Model) record(uuid string, a client.Answer) tea.Cmd {
	return func() tea.Msg { return decidedMsg{uuid, m.Client.Record(m.ctx, uuid, a)} }
}

// editedMsg says that the editor has ended.
type editedMsg struct {
	file string
	err  error
}

// edit opens the editor with what has been typed.
func (m *Model) edit() tea.Cmd {
	file, err := writeDraft(m.input.Value())
	if err != nil {
		m.fail(err)
		return nil
	}
	return tea.ExecProcess(editor(m.ctx, m.Editor, file), func(err error) tea.Msg { return editedMsg{file, err} })
}

// editor returns the command that edits a file. It may have arguments of its own.
func editor(ctx context.Context, command, file string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", command+` "$1"`, "sh", file)
}

func writeDraft(text string) (file string, err error) {
	f, err := os.CreateTemp("", "message-*.md")
	if err != nil {
		return "", fmt.Errorf("open an editor: %w", err)
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// edited takes over what was written in the editor.
func (m *Model) edited(msg editedMsg) {
	defer os.Remove(msg.file)
	if msg.err != nil {
		m.fail(fmt.Errorf("the editor %s failed: %w", m.Editor, msg.err))
		return
	}
	text, err := os.ReadFile(msg.file)
	if err != nil {
		m.fail(err)
		return
	}
	m.input.SetValue(string(text))
}
