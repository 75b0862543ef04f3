package intake

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/wording"
)

// history is the messages of a file as those of a conversation here, with their values in place.
type history struct {
	messages []contract.Message
	turns    int
	// open are the calls of the last turn that have no result, by their positions in messages.
	open []int
	// interruption is why the last turn has no answer; "" if it has one.
	interruption string
}

// Former texts.
var (
	requestText   = regexp.MustCompile(`(?s)^This action requires approval:\n\n.*pproval UUID: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
	formerAnswers = map[string]contract.Decision{"[APPROVAL]: Approved": contract.Approved, "[APPROVAL]: Rejected": contract.Rejected}
)

// historyOf converts the messages of a file. id is the ID of the conversation here.
func historyOf(f File, id string) history {
	var h history
	asked := ""  // the last approval that was asked for
	called := "" // the tool of the last call
	for i, d := range f.Messages {
		m := messageOf(f, id, i)
		switch {
		case m.Role == contract.RoleUser && d.Approval != nil:
			m.Notice, m.Approval = true, decision(d.Approval, id)
		case m.Role == contract.RoleUser && f.Former && formerAnswers[d.Content] != "":
			m.Notice = true
			m.Approval = decision(&contract.ApprovalResult{
				UUID: asked, Tool: called, Decision: formerAnswers[d.Content], RequestedAt: m.CreatedAt, DecidedAt: m.CreatedAt,
			}, id)
		case m.Role == contract.RoleUser:
			h.turns, h.open = h.turns+1, nil
			m.Identity = author(d.Identity)
		case m.Role == contract.RoleAssistant && m.ToolCall != nil:
			m.Reply = h.reply(f, m)
			h.open = append(h.open, i)
			called = m.ToolCall.Name
		case m.Role == contract.RoleAssistant && d.DraftID == "":
			if found := requestText.FindStringSubmatch(d.Content); found != nil {
				m.Notice, m.ApprovalID, asked = true, found[1], found[1]
			}
		case m.Role == contract.RoleTool:
			h.connect(&m)
		}
		h.messages = append(h.messages, m)
	}
	return h
}

// reply returns the reply that a call is part of: in our own files, that of the call or of the
// text before it.
func (h *history) reply(f File, m contract.Message) string {
	if n := len(h.messages); n > 0 && !f.Former {
		before := &h.messages[n-1]
		if before.Role == contract.RoleAssistant && before.Node == m.Node && !before.Notice && (before.ToolCall != nil || before.DraftID != "" && m.DraftID == "") {
			if before.Reply == "" {
				before.Reply = before.ID
			}
			return before.Reply
		}
	}
	return m.ID
}

// connect connects a result with its call.
func (h *history) connect(m *contract.Message) {
	for _, sameID := range []bool{true, false} {
		for n, i := range h.open {
			call := h.messages[i]
			if call.ToolCall.Name == m.ToolCall.Name && (!sameID || call.ToolCall.ID == m.ToolCall.ID) {
				m.ResultOf, m.Reply = call.ID, call.Reply
				h.open = append(h.open[:n:n], h.open[n+1:]...)
				return
			}
		}
	}
}

// messageOf returns message i of a file without its place in the conversation.
func messageOf(f File, id string, i int) contract.Message {
	d := f.Messages[i]
	m := contract.Message{
		ID: strings.ToLower(d.ID), Role: d.Role, Content: contract.Inline(d.Content + missingFiles(d.Content, d.Media)), CreatedAt: d.CreatedAt.UTC(),
		Node: d.Node, Model: d.Model, DraftID: d.DraftID, Usage: usage(d.Usage),
	}
	if !contract.IsUUID(m.ID) {
		m.ID = contract.NameUUID(id, "imported-"+d.ID)
	}
	if c := d.ToolCall; c != nil {
		m.ToolCall = &contract.ToolCall{
			ID: c.ID, Name: c.Name, Result: contract.Inline(c.Result + missingFiles(c.Result, c.Media)), IsError: c.IsError, Note: c.Note,
		}
		if d.Role == contract.RoleAssistant {
			m.ToolCall.Arguments = contract.JSON{Raw: object(c.Arguments)}
		}
	}
	return m
}

// missingFiles says which files belonged to a text. A file of a conversation has only their names.
func missingFiles(text string, media []document.Media) string {
	var b strings.Builder
	for _, m := range media {
		if text != "" || b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "[a file that was not imported: %q, %s, %d bytes]", m.Name, m.MIMEType, m.Size)
	}
	return b.String()
}

// usage returns what was used. Less than nothing would extend the limits of a conversation.
func usage(u document.Usage) contract.Usage {
	out := contract.Usage{
		InputTokens: max(u.InputTokens, 0), OutputTokens: max(u.OutputTokens, 0), CachedTokens: max(u.CachedTokens, 0), Calls: max(u.Calls, 0),
	}
	if cost, err := u.Cost.Float64(); err == nil && cost > 0 && cost < 1e9 {
		out.Cost = int64(cost*1e9 + 0.5)
	}
	return out
}

// last returns the end of the last turn, which has ended.
func (h *history) last() *contract.LastTurn {
	if h.turns == 0 {
		return nil
	}
	out := &contract.LastTurn{Turn: h.turns, Outcome: contract.OutcomeDone}
	if h.interruption != "" {
		out.Outcome, out.Response, out.EndedAt = contract.OutcomeCancelled, contract.Inline(h.interruption), h.messages[len(h.messages)-1].CreatedAt
		return out
	}
	if m := h.answer(); m != nil {
		out.Response, out.EndedAt = m.Content, m.CreatedAt
	}
	if strings.HasPrefix(out.Response.Inline, wording.TextCancelledByUser) {
		out.Outcome = contract.OutcomeRejected
	}
	return out
}

// answer returns the text that ends the last turn, or nil. A call without a result follows no
// answer; one that was rejected comes before it.
func (h *history) answer() (answer *contract.Message) {
	for i, m := range h.messages {
		switch {
		case m.Notice:
		case m.Role == contract.RoleUser, slices.Contains(h.open, i):
			answer = nil
		case m.Role == contract.RoleAssistant && m.ToolCall == nil:
			answer = &h.messages[i]
		}
	}
	return answer
}

// answered reports whether each message of the user has an answer.
func (h *history) answered() bool { return h.turns == 0 || h.answer() != nil }

// interrupt adds a notice that is the end of the last turn, too.
func (h *history) interrupt(id, text string) {
	h.notice(id, text)
	h.interruption = text
}

// question returns the last message of the user that is not a decision.
func (h *history) question() contract.Message {
	for i := len(h.messages) - 1; i >= 0; i-- {
		if m := h.messages[i]; m.Role == contract.RoleUser && !m.Notice {
			return m
		}
	}
	return contract.Message{}
}

// notice adds a message for people.
func (h *history) notice(id, text string) {
	n := len(h.messages)
	m := contract.Message{
		ID: contract.NameUUID(id, fmt.Sprint("notice-of-import-", n)), Role: contract.RoleAssistant, Content: contract.Inline(text), Notice: true,
	}
	if n > 0 {
		m.CreatedAt = h.messages[n-1].CreatedAt
	}
	h.messages = append(h.messages, m)
}

// seq returns the number of the last message. The IDs of messages of our own files are derived
// from their numbers, and later messages must not get the same ones.
func (h *history) seq(id string) int {
	known := map[string]bool{}
	for _, m := range h.messages {
		known[m.ID] = true
	}
	last := len(h.messages)
	for n := 1; n <= 2*len(h.messages)+seqGap; n++ {
		if known[contract.MessageID(id, n)] {
			last = max(last, n)
		}
	}
	return last
}

// seqGap is how many numbers may have no message: those of requests without an ID.
const seqGap = 4096
