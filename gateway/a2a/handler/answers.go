package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
)

// viaA2A marks decisions that came in an A2A message.
const viaA2A = "a2a"

// answer sends the decisions in a message. If the message contains none, nothing changes, and
// the reply shows the waiting task with a hint.
func (h *Handler) answer(ctx context.Context, req *a2a.SendMessageRequest, m sentMessage, in message) (sentMessage, error) {
	src, err := h.source(ctx, m.latest)
	if err != nil {
		return m, err
	}
	decisions, err := task.Decisions(req.Message, src.Document.PendingApprovals, protocol.CallOf(ctx).Dialect == protocol.Old)
	if hint, no := task.IsNoAnswer(err); no {
		if joined, ok := h.joinLogin(ctx, req, m, in); ok {
			return joined, nil
		}
		m.hint = hint
		return m, nil
	}
	if err != nil {
		return m, err
	}
	chain, err := readChain(req.Message.Metadata[contract.MetaChain])
	if err != nil {
		return m, err
	}
	by, _ := req.Message.Metadata[contract.MetaBy].(string)
	// The webhook is set only after every check of the message, because setting it writes
	// history.
	if hook := pushOfMessage(ctx, req); hook != nil {
		if _, err := h.service.Webhooks().SetPush(ctx, m.ConversationID, *hook); err != nil {
			return m, err
		}
	}
	for i, d := range decisions {
		d.By = cmp.Or(d.By, by)
		requestID := m.ID // the last decision carries the ID of the message
		if i < len(decisions)-1 {
			requestID = contract.NameUUID(m.ID, d.UUID)
		}
		first, err := h.decide(ctx, d, contract.DecideSignal{RequestID: requestID, Via: via(ctx, m.latest.Pending, d), Chain: chain})
		if err != nil {
			return m, afterDecisions(m.decided, err)
		}
		if m.decided = append(m.decided, d.UUID); !first && requestID == m.ID {
			m.ID = "" // the conversation will never know this request
		}
	}
	return m, nil
}

// via says by what a decision is made.
func via(ctx context.Context, pending []contract.PendingApproval, d task.Decision) string {
	i := slices.IndexFunc(pending, func(p contract.PendingApproval) bool { return p.UUID == d.UUID })
	if i < 0 {
		return viaA2A
	}
	return callerOf(ctx).Via(viaA2A, pending[i], d.Approved)
}

// joinLogin sends a message to a task that waits for a new token of the caller. The conversation
// takes it if it is the message of the turn, sent again.
func (h *Handler) joinLogin(ctx context.Context, req *a2a.SendMessageRequest, m sentMessage, in message) (sentMessage, bool) {
	waits := func(p contract.PendingApproval) bool { return p.Login != nil && p.Login.Way == login.AtAgent }
	if !slices.ContainsFunc(m.latest.Pending, waits) {
		return m, false
	}
	joined, err := h.continueTask(ctx, req, m, in)
	return joined, err == nil
}

// afterDecisions adds to the failure of a decision which ones of the same message were sent before.
func afterDecisions(sent []string, err error) error {
	var failed *service.Error
	if len(sent) == 0 || !errors.As(err, &failed) {
		return err
	}
	return service.Errorf(failed.Kind, "%s; the decisions before it were sent: %s", failed.Text, strings.Join(sent, ", ")).Because(err)
}

// recordUnread returns the error for a decision that was sent but whose record cannot be
// read.
func (h *Handler) recordUnread(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, service.ErrClosing) {
		return err
	}
	return a2a.NewError(a2a.ErrServerError, fmt.Sprintf(
		"the decision was sent; whether it was taken, and what came of it, cannot be read now (%s); ask for the task with GetTask",
		service.Problem(h.service.WithCause(ctx, err))))
}

// decide sends a decision and reports whether it is the one on record. Another caller may
// have decided first: that is an error only if the two decisions differ.
func (h *Handler) decide(ctx context.Context, d task.Decision, in contract.DecideSignal) (first bool, err error) {
	in.Approved, in.By, in.Reason, in.Content, in.Edit = d.Approved, d.By, d.Reason, contract.JSON{Raw: d.Content}, d.Edit
	receipt, err := h.service.Decide(ctx, callerOf(ctx), service.Decision{UUID: d.UUID, Signal: in})
	if err != nil {
		return false, err
	}
	record, err := h.service.DecisionRecord(ctx, receipt)
	if err != nil {
		return false, h.recordUnread(ctx, err)
	}
	if !record.Agrees(in) {
		record.UUID = d.UUID
		return false, &service.Error{Kind: contract.KindDecided, Text: service.AlreadyDecided(record)}
	}
	return record.RequestID == in.RequestID, nil
}
