package chat

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// View returns what is not final yet, the input, and a line about it.
func (m *Model) View() tea.View {
	if m.left {
		return tea.NewView("")
	}
	var parts []string
	if draft := m.draft(); draft != "" {
		parts = append(parts, draft)
	}
	switch {
	case m.approvals.fills():
		parts = append(parts, m.approvals.form.shown.View())
	case m.approvals.step == stepLeave && m.approvals.open():
		parts = append(parts, m.styled(bold, m.wrap("d decline · l not now · m write a message · Esc goes back to the form")))
	case m.approvals.takesKey():
		parts = append(parts, m.styled(bold, m.wrap(keysOf(m.approvals.waiting[0]))))
	case m.approvals.open():
		parts = append(parts, m.styled(bold, m.wrap(m.question())), m.input.View())
	default:
		parts = append(parts, m.input.View())
	}
	parts = append(parts, m.styled(dim, ansi.Truncate(screen.Line(m.footer(), 500), m.width, "…")))
	return tea.NewView(strings.Join(parts, "\n"))
}

// keysOf returns the question that one key answers.
func keysOf(a client.Approval) string {
	tool := screen.Exact(a.ToolName)
	switch {
	case a.IsDoubtful():
		return "Did " + tool + " run?  r it did · y run it again · n go on without it · l not now"
	case a.IsPaused():
		return tool + " is paused and waits for the resume.  n go on without it · l not now"
	case a.NeedsLogin():
		return tool + " waits for your login; its address is above.  n go on without it · l not now"
	case a.Reason == client.ReasonLimit:
		return "Go on?  y yes · n no · l not now"
	}
	return "Run " + tool + " with these arguments?  y yes · n no · l not now"
}

func (m *Model) question() string {
	if m.approvals.step == stepWhy {
		return "Why not? (Enter for no reason)"
	}
	return "Your answer, a value or a JSON object (decline refuses, Tab writes a message instead)"
}

// footer says what happens, and what keys do.
func (m *Model) footer() string {
	switch {
	case m.status != "":
		return m.status
	case m.approvals.fills():
		return "Enter next · Shift-Tab back · Esc declines, puts off or writes a message · Ctrl-D leaves"
	case m.approvals.open():
		return "waits for you · Tab writes a message instead · Ctrl-D leaves, it goes on waiting"
	case len(m.approvals.waiting) > 0:
		return "an approval waits: Tab goes back to it"
	case m.running:
		return "working · Ctrl-C cancels the turn"
	case m.sending != "":
		return "sending"
	}
	keys := "Enter sends · Alt-Enter new line · ↑ earlier ones · Ctrl-G editor · !help · Ctrl-D leaves"
	if m.short != "" {
		return m.short + " · " + keys
	}
	return keys
}

// draft returns the entries that may still change, as much of their end as fits.
func (m *Model) draft() string {
	var texts []string
	for _, e := range m.transcript.Entries {
		if _, done := m.written[key(e)]; !done && !m.isShown(e) {
			texts = append(texts, m.entry(e))
		}
	}
	if m.sending != "" {
		texts = append(texts, m.styled(bold, "you")+"\n"+screen.Indent(m.text(m.sending), "  "))
	}
	lines := strings.Split(m.wrap(strings.Join(texts, "\n")), "\n")
	room := max(1, m.height/2-m.input.Height()-2)
	return strings.Join(lines[max(0, len(lines)-room):], "\n")
}

func key(e client.Entry) string { return string(e.Kind) + " " + e.ID }

// write writes the entries that are final above the input.
func (m *Model) write() tea.Cmd {
	var out []string
	for i, e := range m.transcript.Entries {
		text := m.entry(e)
		old, done := m.written[key(e)]
		switch {
		case done && old == text, m.isShown(e):
			continue
		case done:
			text = "(corrected)\n" + text
		case !m.isFinal(i):
			return m.print(out...)
		}
		m.written[key(e)] = m.entry(e)
		out = append(out, text)
	}
	return m.print(out...)
}

// isFinal reports whether an entry is complete. A call that waits for its approval is not.
func (m *Model) isFinal(i int) bool {
	e := m.transcript.Entries[i]
	return e.Done || !m.running && e.Kind != client.KindCall
}

// isShown reports whether an approval that was shown has everything of an entry.
func (m *Model) isShown(e client.Entry) bool {
	return e.Kind == client.KindNotice && m.approvals.mentions(e.Text) ||
		e.Kind == client.KindCall && e.Result == nil && len(m.approvals.waiting) > 0 && !m.running
}

// entry returns an entry as text.
func (m *Model) entry(e client.Entry) string {
	switch e.Kind {
	case client.KindUser:
		return m.styled(bold, "you") + "\n" + screen.Indent(m.text(e.Text), "  ")
	case client.KindThought:
		return m.styled(dim, screen.Indent(m.text(e.Text), "  "))
	case client.KindNotice:
		return m.styled(dim, screen.Indent(m.text(e.Text), "· "))
	case client.KindCall:
		return m.call(e)
	}
	return m.styled(bold, cmp.Or(screen.Line(e.Node, 40), "agent")) + "\n" + screen.Indent(m.text(e.Text), "  ")
}

// maxResult is how many characters of a result are shown.
const maxResult = 400

func (m *Model) call(e client.Entry) string {
	text := fmt.Sprintf("· %s %s", screen.Line(e.Tool, 80), screen.Line(e.Text, 200))
	if e.Result == nil {
		return m.styled(dim, text)
	}
	verb := "→"
	if e.IsError {
		verb = "→ error:"
	}
	return m.styled(dim, text+"\n"+screen.Indent(m.text(verb+" "+screen.Line(*e.Result, maxResult)), "  "))
}

// text returns a text from outside for the terminal, with room for an indent.
func (m *Model) text(s string) string {
	return ansi.Wrap(strings.ReplaceAll(screen.Safe(s), "\t", "    "), max(20, m.width-4), "")
}

// wrap breaks long lines. What follows a break keeps the indent, so that it cannot be mistaken for
// a line of ours.
func (m *Model) wrap(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		rest := ansi.Wrap(line[len(indent):], max(20, m.width-len(indent)), "")
		lines[i] = indent + strings.ReplaceAll(rest, "\n", "\n"+indent)
	}
	return strings.Join(lines, "\n")
}

// printedMsg says that a piece has been written.
type printedMsg struct{}

// print writes texts above the input.
func (m *Model) print(texts ...string) tea.Cmd {
	for _, text := range texts {
		if !strings.HasPrefix(text, "· ") && !strings.HasPrefix(text, dim+"· ") {
			text = "\n" + text // a call and a notice belong to what is above them
		}
		m.queue = append(m.queue, strings.Split(m.wrap(strings.TrimRight(text, "\n")), "\n")...)
	}
	if m.printing {
		return nil
	}
	return m.printNext()
}

// printNext writes a piece of what is to be written. Pieces are written one after the other. A
// piece and the view, which takes half of the screen at most, fit on it together: lines that do
// not would be lost.
func (m *Model) printNext() tea.Cmd {
	n := min(max(1, m.height/2-1), len(m.queue))
	if m.printing = n > 0; !m.printing {
		return nil
	}
	piece := strings.Join(m.queue[:n], "\n")
	m.queue = m.queue[n:]
	return tea.Sequence(tea.Println(piece), func() tea.Msg { return printedMsg{} })
}

func (m *Model) styled(style, text string) string {
	if !m.Color {
		return text
	}
	return style + strings.ReplaceAll(text, "\n", plain+"\n"+style) + plain
}
