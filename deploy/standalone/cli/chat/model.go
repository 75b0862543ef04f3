package chat

import (
	"context"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/client"
)

// Model is the state of a chat.
type Model struct {
	Options
	ctx  context.Context
	send func(tea.Msg) // to the program, from other goroutines

	transcript client.Transcript
	// written are the texts that are above the input, by key of the entry.
	written map[string]string
	// queue are lines to be written there; printing means that some are on their way.
	queue     []string
	printing  bool
	running   bool
	following bool
	// sending is the message that is on its way.
	sending string

	// place counts the conversations that the chat was in. unfollow ends the events of the present
	// one, whose short ID is short, or "" if it is not known yet.
	place    int
	unfollow context.CancelFunc
	short    string
	// chosen is the model for the next message and all after it, "" for no change.
	chosen string

	approvals approvals
	input     textarea.Model
	history   history
	width     int
	height    int
	// status is a line for the person, such as an error. It goes with the next key.
	status string
	// leaving is when Ctrl-C was pressed, to leave with the next one.
	leaving time.Time
	now     func() time.Time
	// left means that the person leaves.
	left bool
}

// New returns the chat of a person who has typed nothing.
func New(ctx context.Context, o Options) *Model {
	m := &Model{
		Options: o, ctx: ctx, written: map[string]string{}, width: 80, height: 24, now: time.Now,
		approvals: newApprovals(), unfollow: func() {},
	}
	m.transcript.ConversationID = o.ConversationID
	m.input = textarea.New()
	m.input.ShowLineNumbers = false
	m.input.Prompt = "> "
	m.input.Placeholder = "Write a message"
	m.input.DynamicHeight, m.input.MinHeight, m.input.MaxHeight = true, 1, 8
	m.input.MaxContentHeight = 10_000
	m.input.KeyMap.InsertNewline.SetKeys("ctrl+j", "alt+enter", "shift+enter")
	if !o.Color {
		m.input.SetStyles(textarea.Styles{})
	}
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	greeting := m.styled(dim, "A conversation with the agent at "+m.Client.URL()+".")
	return tea.Batch(m.input.Focus(), m.print(greeting), m.follow())
}

// The messages of other goroutines.
type (
	// eventMsg is an event of the conversation.
	eventMsg client.Event
	// brokenMsg says that the events have ended.
	brokenMsg struct{ err error }
	// sentMsg says what became of a message.
	sentMsg struct {
		text         string
		conversation string
		keptModel    bool // that was chosen
		err          error
	}
	// cancelledMsg says what became of a cancellation.
	cancelledMsg struct{ err error }
)

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.input.SetWidth(msg.Width)
		m.input.MaxHeight = max(1, min(8, msg.Height/4))
		if m.approvals.form != nil {
			m.approvals.form.resize(msg.Width, msg.Height)
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case eventMsg:
		return m, m.event(client.Event(msg))
	case brokenMsg:
		m.following, m.running = false, false
		m.fail(msg.err)
	case sentMsg:
		return m, m.sent(msg)
	case cancelledMsg:
		m.fail(msg.err)
	case placedMsg:
		if msg.place != m.place || msg.msg == nil {
			return m, nil
		}
		return m.Update(msg.msg)
	case commandMsg:
		return m, m.commanded(msg)
	case shortMsg:
		m.short = string(msg)
	case approvalMsg:
		return m, m.waits(msg)
	case nextMsg:
		return m, m.print(screen.Approval(client.Approval(msg)))
	case laterMsg:
		m.wasPutOff(msg)
	case decidedMsg:
		return m, m.decided(msg)
	case editedMsg:
		m.edited(msg)
	case printedMsg:
		return m, m.printNext()
	default:
		return m, m.pass(msg)
	}
	return m, nil
}

// pass gives a message to what the person fills in. What is pasted is for one of both.
func (m *Model) pass(msg tea.Msg) tea.Cmd {
	var form, input tea.Cmd
	if m.approvals.fills() {
		form = m.fill(msg)
	}
	if _, pasted := msg.(tea.PasteMsg); !pasted || !m.approvals.fills() {
		m.input, input = m.input.Update(msg)
	}
	return tea.Batch(form, input)
}

// event shows an event of the conversation.
func (m *Model) event(e client.Event) tea.Cmd {
	m.transcript.Add(e)
	m.sending = ""
	switch e.Type {
	case agui.TypeRunStarted:
		m.running = true
	case agui.TypeRunError:
		m.running = false
		m.status = e.Message
	case agui.TypeRunFinished:
		m.running = false
		ask := m.ask(e.Outcome.Interrupts)
		return tea.Batch(m.write(), ask, m.name())
	}
	return m.write()
}

// sent follows the conversation of a message that was sent.
func (m *Model) sent(msg sentMsg) tea.Cmd {
	if msg.err != nil {
		m.sending = ""
		if m.input.Value() == "" {
			m.input.SetValue(msg.text) // not to be typed again
		}
		m.fail(msg.err)
		return nil
	}
	if msg.keptModel {
		m.chosen = ""
	}
	m.transcript.ConversationID = msg.conversation
	return m.follow()
}

func (m *Model) fail(err error) {
	if err != nil && m.ctx.Err() == nil {
		m.status = err.Error()
	}
}
