package chat

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

// commandMsg is the reply to a command.
type commandMsg struct {
	text  string
	reply client.CommandReply
	err   error
}

// command has the agent carry out a command. What is shown for a decision is the first approval.
func (m *Model) command(text string) tea.Cmd {
	in := client.Command{Text: text, ConversationID: m.transcript.ConversationID, By: m.By}
	if first := m.approvals.first(); first != "" {
		in.Shown = []string{first}
	}
	return m.ofPlace(func() tea.Msg {
		reply, err := m.Client.Command(m.ctx, in)
		return commandMsg{text, reply, err}
	})
}

// commanded does what the reply to a command says.
func (m *Model) commanded(msg commandMsg) tea.Cmd {
	m.sending = ""
	switch {
	case msg.err != nil:
		if m.input.Value() == "" && !strings.HasPrefix(msg.text, "!") { // a message
			m.input.SetValue(msg.text)
		}
		first, rest, _ := strings.Cut(msg.err.Error(), "\n")
		m.status = first
		if rest == "" {
			return nil
		}
		return m.print(m.styled(dim, screen.Indent(m.text(msg.err.Error()), "· ")))
	case msg.reply.Command == "":
		return m.say(msg.reply.Message)
	}
	said := m.print(m.styled(bold, m.text(msg.text)) + "\n" + screen.Indent(m.text(msg.reply.Text), "  "))
	moved := m.moveTo(msg.reply.ConversationID)
	if msg.reply.Model != "" {
		m.chosen = msg.reply.Model
	}
	return tea.Sequence(said, tea.Batch(moved, m.say(msg.reply.Message)))
}

// say sends the message that a text was, or that stood below its commands; nil is none.
func (m *Model) say(message *client.CommandMessage) tea.Cmd {
	switch {
	case message == nil:
		return nil
	case m.approvals.open():
		return m.answerByText(message.Text)
	}
	m.sending = message.Text
	return m.post(m.sending, message.Model)
}

// moveTo goes on in another conversation, "" for a new one.
func (m *Model) moveTo(id string) tea.Cmd {
	if id == m.transcript.ConversationID {
		return nil
	}
	m.place++
	m.unfollow()
	m.transcript = client.Transcript{ConversationID: id}
	m.written = map[string]string{}
	m.approvals = newApprovals()
	m.running, m.following, m.sending, m.short, m.chosen = false, false, "", "", ""
	return m.follow()
}

// placedMsg is a message about the conversation that the chat was in when its cause began.
type placedMsg struct {
	place int
	msg   tea.Msg
}

// ofPlace makes the message of a command one about the present conversation.
func (m *Model) ofPlace(cmd tea.Cmd) tea.Cmd {
	place := m.place
	return func() tea.Msg { return placedMsg{place, cmd()} }
}

// shortMsg is the short ID of the conversation.
type shortMsg string

// name asks for the short ID of the conversation, which lists have.
func (m *Model) name() tea.Cmd {
	id := m.transcript.ConversationID
	if m.short != "" || id == "" {
		return nil
	}
	return m.ofPlace(func() tea.Msg {
		page, err := m.Client.Conversations(m.ctx, client.Query{ID: id})
		if err != nil || len(page.Conversations) != 1 { // it is only shown
			return nil
		}
		return shortMsg(page.Conversations[0].ShortID)
	})
}

// followContext returns the context in which the present conversation is followed.
func (m *Model) followContext() context.Context {
	ctx, cancel := context.WithCancel(m.ctx)
	m.unfollow = cancel
	return ctx
}
