package record

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// approvalOf returns the UUID of the approval that a notice asks for, or "". Old messages have
// it at the end of their text.
func approvalOf(m contract.Message) string {
	if m.ApprovalID != "" || m.Role != contract.RoleAssistant {
		return m.ApprovalID
	}
	const before = "pproval UUID: " // "Approval", or "the approval"
	text := m.Content.Inline
	at := strings.LastIndex(text, before)
	if at < 0 {
		return ""
	}
	id := text[at+len(before):]
	if len(id) != len("01234567-0123-0123-0123-0123456789ab") {
		return ""
	}
	return id
}

// likeliestCall returns the call of the turn that a result without ResultOf belongs to: the one
// of the same reply with the same provider's ID, else with the same tool.
func (r *reader) likeliestCall(m contract.Message) int {
	best, score := 0, 0
	for _, seq := range r.open {
		c := r.entries[seq-1]
		if c.Node != m.Node || c.ToolCall.Name != m.ToolCall.Name {
			continue
		}
		s := 1
		if c.Reply == m.Reply {
			s += 2
		}
		if c.ToolCall.ID == m.ToolCall.ID {
			s++
		}
		if s > score {
			best, score = seq, s
		}
	}
	return best
}

// outcomeOf returns the outcome of the turn that a text ends. Old messages of a cancelled turn
// are recognised by their text; texts of a model have a draft ID.
func outcomeOf(e Entry) contract.Outcome {
	if e.Outcome == "" && e.DraftID == "" && e.Reply == "" && strings.HasPrefix(e.Text, wording.TextTurnCancelled) {
		return contract.OutcomeCancelled
	}
	return e.Outcome
}
