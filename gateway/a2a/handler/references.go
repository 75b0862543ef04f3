package handler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// maxReferences limits the tasks that a message may reference.
const maxReferences = 10

// referenced reads the tasks that a message references, each once. The task of another caller is
// unknown, like one that does not exist.
func (h *Handler) referenced(ctx context.Context, ids []a2a.TaskID) ([]contract.ConversationView, error) {
	if len(ids) > maxReferences {
		return nil, a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("referenceTaskIds: the message has %d: the limit is %d", len(ids), maxReferences))
	}
	var views []contract.ConversationView
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		view, err := h.conversation(ctx, id, "")
		if err != nil {
			return nil, err
		}
		views = append(views, view)
	}
	return views, nil
}

// continueContext starts a task that continues the tasks that the message references: an ended task
// takes no more messages (A2A 1.0 §3.4.3). Without a context it is in that of the last one. If one
// of them waits for an answer, the message neither decides nor starts anything.
func (h *Handler) continueContext(ctx context.Context, req *a2a.SendMessageRequest, in message, earlier []contract.ConversationView) (sentMessage, error) {
	named, m := *req, *req.Message
	named.Message = &m
	for _, view := range earlier {
		in.fingerprint += "\n" + view.ID
	}
	m.ContextID = cmp.Or(m.ContextID, earlier[len(earlier)-1].ContextID)
	waits := slices.IndexFunc(earlier, func(v contract.ConversationView) bool { return len(v.Pending) > 0 })
	if waits >= 0 {
		return h.suggest(ctx, &named, in, earlier[waits])
	}
	var err error
	if in.earlier, err = h.saidIn(ctx, earlier); err != nil {
		return sentMessage{}, err
	}
	return h.startTask(ctx, &named, in)
}

// What the model reads in front of a message that continues tasks: each text as one quoted line.
// beginEarlier also marks such a preface, whose lines the next task takes over.
const (
	beginEarlier = "[context] This was said in earlier tasks:\n"
	cutEarlier   = "[context] This was said in earlier tasks, of which the beginning is left out:\n"
	// maxEarlier limits its length in bytes.
	maxEarlier = 64 << 10
)

// saidIn returns what was said in tasks, and in the tasks that they continued.
func (h *Handler) saidIn(ctx context.Context, views []contract.ConversationView) (string, error) {
	var lines []string
	for _, view := range views {
		state, err := h.service.Record(ctx, view)
		if err != nil {
			return "", h.failure(ctx, err)
		}
		lines = append(lines, earlierLines(state)...)
	}
	return preface(lines), nil
}

// earlierLines returns what was said in a conversation, preceded by what it continues.
func earlierLines(state *record.State) (lines []string) {
	for _, m := range state.Messages {
		if m.Role == contract.RoleUser && !m.Notice {
			before := m.Content.Inline[:max(0, min(m.Preface, len(m.Content.Inline)))]
			for _, begin := range []string{beginEarlier, cutEarlier} {
				if rest, ok := strings.CutPrefix(before, begin); ok {
					lines = strings.Split(strings.TrimSpace(rest), "\n")
				}
			}
			break
		}
	}
	for _, e := range state.Entries() {
		switch e.Kind {
		case record.KindMessage:
			lines = append(lines, fmt.Sprintf("user: %q", e.Text))
		case record.KindText:
			lines = append(lines, fmt.Sprintf("assistant: %q", e.Text))
		}
	}
	return lines
}

// preface joins lines. The oldest are left out if they are too long together; a line that is too
// long by itself is cut.
func preface(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	begin, size, from := beginEarlier, 0, len(lines)
	for from > 0 && size+len(lines[from-1])+1 <= maxEarlier {
		from--
		size += len(lines[from]) + 1
	}
	kept := slices.Clone(lines[from:])
	if from > 0 {
		begin = cutEarlier
	}
	if len(kept) == 0 {
		kept = []string{strings.ToValidUTF8(lines[len(lines)-1][:maxEarlier], "") + "…"}
	}
	return begin + strings.Join(kept, "\n") + "\n\n"
}
