package chat

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

// approvals are what waits for the person.
type approvals struct {
	// waiting are not decided. The first one is shown and asked about.
	waiting []client.Approval
	decided map[string]bool
	// asked are the IDs of all that were asked for here.
	asked []string
	// later means that the person writes something else first.
	later bool
	// step is what is asked besides yes or no: "why" for the reason of a rejection.
	step string
	// since is when the first one became that.
	since time.Time
}

// mentions reports whether a text has the ID of an approval that was asked for here.
func (a *approvals) mentions(text string) bool {
	return slices.ContainsFunc(a.asked, func(uuid string) bool { return strings.Contains(text, uuid) })
}

const stepWhy = "why"

// open reports whether the input is for an approval.
func (a *approvals) open() bool { return len(a.waiting) > 0 && !a.later }

// takesKey reports whether the next key alone is an answer.
func (a *approvals) takesKey() bool {
	return a.open() && a.step == "" && !a.waiting[0].NeedsContent()
}

// approvalMsg is an approval with all that is decided on.
type approvalMsg struct {
	state client.ApprovalState
	err   error
}

// decidedMsg says what became of a decision.
type decidedMsg struct {
	uuid string
	err  error
}

// ask looks at the approvals that a run has stopped for, and forgets all others.
func (m *Model) ask(waiting []client.Interrupt) tea.Cmd {
	has := func(uuid string) bool {
		return slices.ContainsFunc(waiting, func(i client.Interrupt) bool { return i.ID == uuid })
	}
	a := &m.approvals
	before, typed := a.first(), a.open() && !a.takesKey()
	a.waiting = slices.DeleteFunc(a.waiting, func(p client.Approval) bool { return !has(p.UUID) })
	var cmds []tea.Cmd
	if a.first() != before { // what was typed was for the one that is gone
		if typed {
			m.input.Reset()
		}
		cmds = append(cmds, m.next())
	}
	for _, i := range waiting {
		known := slices.ContainsFunc(a.waiting, func(p client.Approval) bool { return p.UUID == i.ID })
		if !known && !a.decided[i.ID] {
			a.asked = append(a.asked, i.ID)
			cmds = append(cmds, m.look(i.ID))
		}
	}
	return tea.Sequence(cmds...)
}

// first returns the UUID of the approval that is asked about, or "".
func (a *approvals) first() string {
	if len(a.waiting) == 0 {
		return ""
	}
	return a.waiting[0].UUID
}

// nextMsg is an approval that is asked about from now on.
type nextMsg client.Approval

// next asks about the first approval, which is shown then: all of it, above the input.
func (m *Model) next() tea.Cmd {
	a := &m.approvals
	a.since, a.step = m.now(), ""
	if len(a.waiting) == 0 {
		return nil
	}
	p := a.waiting[0]
	return func() tea.Msg { return nextMsg(p) }
}

// waits takes an approval. One is asked about at a time.
func (m *Model) waits(msg approvalMsg) tea.Cmd {
	if msg.err != nil {
		m.fail(msg.err)
		return nil
	}
	p := msg.state.Approval
	if msg.state.Decision != nil || slices.ContainsFunc(m.approvals.waiting, func(q client.Approval) bool { return q.UUID == p.UUID }) {
		return nil
	}
	m.approvals.waiting = append(m.approvals.waiting, p)
	if len(m.approvals.waiting) > 1 {
		return nil
	}
	m.approvals.later = false
	return m.next()
}

// pause is how long a new question ignores keys, which were meant for something else.
const pause = 700 * time.Millisecond

// answerByKey decides by one key.
func (m *Model) answerByKey(key string) tea.Cmd {
	if m.now().Sub(m.approvals.since) < pause {
		return nil
	}
	p := m.approvals.waiting[0]
	switch key {
	case "y", "Y":
		yes := true
		return m.decide(client.Answer{Approved: &yes})
	case "n", "N":
		m.approvals.step = stepWhy
		m.input.Reset()
	case "r", "R":
		if p.IsDoubtful() {
			return m.decide(client.Answer{Answer: "ran"})
		}
	case "l", "L":
		m.approvals.later = true
	}
	return nil
}

// answerByText decides by what was typed.
func (m *Model) answerByText(text string) tea.Cmd {
	no := false
	switch {
	case m.approvals.step == stepWhy:
		return m.decide(client.Answer{Approved: &no, Reason: text})
	case text == "":
		return nil
	case text == "decline":
		return m.decide(client.Answer{Approved: &no})
	}
	return m.decide(screen.Content(text))
}

// decide sends the answer to the first approval that waits.
func (m *Model) decide(answer client.Answer) tea.Cmd {
	p := m.approvals.waiting[0]
	m.input.Reset()
	m.approvals.waiting = m.approvals.waiting[1:]
	m.approvals.decided[p.UUID] = true
	answer.By = m.By
	return tea.Batch(m.record(p.UUID, answer), m.next())
}

// decided asks again if the answer was not taken.
func (m *Model) decided(msg decidedMsg) tea.Cmd {
	if msg.err == nil {
		return nil
	}
	m.fail(msg.err)
	if client.StatusOf(msg.err) == 409 {
		return nil // somebody else was faster; the conversation goes on
	}
	delete(m.approvals.decided, msg.uuid)
	return m.look(msg.uuid)
}
