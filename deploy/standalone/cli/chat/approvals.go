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
	// deferred are those that the person put off. They are behind the others.
	deferred map[string]bool
	// later means that the person writes something else first.
	later bool
	// step is what is asked besides yes or no: "why" for the reason of a rejection, "leave" for
	// what to do instead of filling in the form.
	step string
	// form asks for the answer to the first one, nil if that is not by a form.
	form *form
	// since is when the first one became that.
	since time.Time
}

// mentions reports whether a text has the ID of an approval that was asked for here.
func (a *approvals) mentions(text string) bool {
	return slices.ContainsFunc(a.asked, func(uuid string) bool { return strings.Contains(text, uuid) })
}

const (
	stepWhy   = "why"
	stepLeave = "leave"
)

func newApprovals() approvals {
	return approvals{decided: map[string]bool{}, deferred: map[string]bool{}}
}

// fills reports whether keys are for the form.
func (a *approvals) fills() bool { return a.open() && a.form != nil && a.step == "" }

// open reports whether the input is for an approval.
func (a *approvals) open() bool { return len(a.waiting) > 0 && !a.later }

// takesKey reports whether the next key alone is an answer.
func (a *approvals) takesKey() bool {
	return a.open() && (a.step == stepLeave || a.step == "" && !a.waiting[0].NeedsContent())
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

// next asks about the first approval, which is shown then: all of it, above the input. If the
// person put it off, it is shown only.
func (m *Model) next() tea.Cmd {
	a := &m.approvals
	a.since, a.step, a.form = m.now(), "", nil
	if len(a.waiting) == 0 {
		return nil
	}
	p := a.waiting[0]
	a.later = a.later || a.deferred[p.UUID]
	return tea.Sequence(func() tea.Msg { return nextMsg(p) }, m.openForm())
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
	a := &m.approvals
	a.deferred[p.UUID] = isPutOff(msg.state, m.now())
	before := a.first()
	at := len(a.waiting)
	if !a.deferred[p.UUID] {
		at = slices.IndexFunc(append(a.waiting[:at:at], p), func(q client.Approval) bool { return a.deferred[q.UUID] || q.UUID == p.UUID })
	}
	a.waiting = slices.Insert(a.waiting, at, p)
	if a.first() == before {
		return nil
	}
	if a.later = false; a.deferred[p.UUID] {
		m.status = "You have put this off until " + msg.state.DeferredUntil.Local().Format(toTheMinute) + ". Tab goes to it."
	}
	return m.next()
}

const toTheMinute = "2006-01-02 15:04"

// isPutOff reports whether the person put an approval off, here or elsewhere.
func isPutOff(s client.ApprovalState, now time.Time) bool {
	return s.DeferredUntil != nil && s.DeferredUntil.After(now)
}

// laterTime is for how long a key puts an approval off.
const laterTime = 2 * time.Hour

// laterMsg says what became of putting an approval off.
type laterMsg struct {
	deferral client.Deferral
	err      error
}

// putOff puts the first approval off, at the agent, and asks about the next one.
func (m *Model) putOff() tea.Cmd {
	a := &m.approvals
	uuid := a.first()
	a.deferred[uuid], a.later, a.step = true, true, ""
	kept := m.ofPlace(func() tea.Msg {
		d, err := m.Client.Later(m.ctx, uuid, laterTime)
		return laterMsg{d, err}
	})
	if len(a.waiting) < 2 || a.deferred[a.waiting[1].UUID] {
		return kept // it is the one that was shown last
	}
	a.waiting = append(a.waiting[1:len(a.waiting):len(a.waiting)], a.waiting[0])
	a.later = false
	return tea.Batch(kept, m.next())
}

// wasPutOff says until when an approval is put off.
func (m *Model) wasPutOff(msg laterMsg) {
	if msg.err != nil {
		m.fail(msg.err)
		return
	}
	if msg.deferral.DeferredUntil != nil {
		m.status = "Put off until " + msg.deferral.DeferredUntil.Local().Format(toTheMinute) + ". It still waits, for everybody."
	}
}

// pause is how long a new question ignores keys, which were meant for something else.
const pause = 700 * time.Millisecond

// answerByKey decides by one key.
func (m *Model) answerByKey(key string) tea.Cmd {
	if m.now().Sub(m.approvals.since) < pause {
		return nil
	}
	p := m.approvals.waiting[0]
	if m.approvals.step == stepLeave {
		return m.leaveForm(key)
	}
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
		return m.putOff()
	}
	return nil
}

// leaveForm does something else than filling in the form.
func (m *Model) leaveForm(key string) tea.Cmd {
	a := &m.approvals
	switch key {
	case "d", "D":
		a.step = stepWhy
		m.input.Reset()
	case "l", "L":
		return m.putOff()
	case "m", "M":
		a.step, a.later = "", true
	case "esc":
		a.step = ""
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
