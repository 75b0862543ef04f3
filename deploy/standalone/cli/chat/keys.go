package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/gateway/client"
)

// twice is how soon the second Ctrl-C has to come to leave.
const twice = 2 * time.Second

// key does what a key is for.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name != "ctrl+c" {
		m.leaving, m.status = time.Time{}, ""
	}
	switch {
	case name == "ctrl+c":
		return m.stop()
	case name == "ctrl+d" && m.input.Value() == "":
		return m.leave()
	case m.approvals.fills():
		return m.fillByKey(k)
	case name == "ctrl+g":
		return m.edit()
	case name == "tab" && len(m.approvals.waiting) > 0:
		m.approvals.later = !m.approvals.later
		return nil
	case m.approvals.takesKey():
		return m.answerByKey(name)
	case name == "enter":
		return m.enter()
	case name == "up" && m.onFirstLine() && m.recall(-1), name == "down" && m.onLastLine() && m.recall(1):
		return nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(k)
	return cmd
}

// fillByKey gives a key to the form. Esc leaves it for something else.
func (m *Model) fillByKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.now().Sub(m.approvals.since) < pause:
		return nil
	case k.String() == "esc":
		m.approvals.step = stepLeave
		return nil
	}
	return m.fill(k)
}

// stop cancels the turn, empties the input or, the second time, leaves.
func (m *Model) stop() tea.Cmd {
	if m.now().Sub(m.leaving) < twice {
		return m.leave()
	}
	m.leaving = m.now()
	switch {
	case m.running && m.transcript.ConversationID != "":
		m.status = "The turn is being cancelled. Ctrl-C again leaves."
		return m.cancel()
	case m.approvals.step != "":
		m.approvals.step = ""
		m.status = "Nothing was decided. Ctrl-C again leaves."
	case m.input.Value() != "":
		m.input.Reset()
		m.status = "Ctrl-C again leaves."
	default:
		m.status = "Ctrl-C again leaves. What waits goes on waiting."
	}
	return nil
}

func (m *Model) leave() tea.Cmd {
	m.left = true
	return tea.Quit
}

// enter sends what was typed: a message, the reason of a rejection, or an answer.
func (m *Model) enter() tea.Cmd {
	text := strings.TrimSpace(m.input.Value())
	if client.IsCommand(text) && m.approvals.step != stepWhy {
		m.history.add(text)
		m.input.Reset()
		m.sending = text
		return m.command(text)
	}
	if m.approvals.open() {
		return m.answerByText(text)
	}
	if text == "" {
		return nil
	}
	m.history.add(text)
	m.input.Reset()
	m.sending = text
	return m.post(text, "")
}
