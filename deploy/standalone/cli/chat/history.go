package chat

// history are the messages and commands that the person has sent, to be sent again.
type history struct {
	sent []string
	// at is the one that is in the input, len(sent) for none. draft is what was there before.
	at    int
	draft string
}

// add keeps what was sent.
func (h *history) add(text string) {
	if len(h.sent) == 0 || h.sent[len(h.sent)-1] != text {
		h.sent = append(h.sent, text)
	}
	h.at = len(h.sent)
}

// recall puts what was sent n before or after into the input. It reports whether there is one.
func (m *Model) recall(n int) bool {
	h := &m.history
	next := h.at + n
	if m.approvals.open() || next < 0 || next > len(h.sent) {
		return false
	}
	if h.at == len(h.sent) {
		h.draft = m.input.Value()
	}
	h.at = next
	text := h.draft
	if next < len(h.sent) {
		text = h.sent[next]
	}
	m.input.SetValue(text) // the cursor is at its end
	return true
}

func (m *Model) onFirstLine() bool { return m.input.Line() == 0 && m.input.LineInfo().RowOffset == 0 }

func (m *Model) onLastLine() bool {
	info := m.input.LineInfo()
	return m.input.Line() == m.input.LineCount()-1 && info.RowOffset >= info.Height-1
}
