package deletion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Bury writes the tombstone of a conversation that has ended.
func (d *Deletions) Bury(ctx context.Context, in deletion.Input) (deletion.Result, error) {
	defer heartbeat.Send(ctx)()
	there, err := d.Graves.Tombstone(ctx, in.ConversationID)
	if err != nil || there != nil {
		return deletion.Result{Tombstone: there}, err
	}
	s := serverOf(ctx)
	info, err := s.describe(ctx, contract.ConversationWorkflowID(in.ConversationID))
	if err != nil {
		return deletion.Result{}, fmt.Errorf("describe the conversation: %w", err)
	}
	file, err := d.exported(in.ConversationID)
	switch {
	case err != nil:
		return deletion.Result{}, err
	case info == nil && file.ID == "":
		return deletion.Result{Refused: contract.KindNotFound}, nil
	}
	t := deletion.Tombstone{
		ConversationID: in.ConversationID, AgentName: file.Agent, Owner: file.Owner.Key(), CreatedAt: file.CreatedAt,
		DeletedAt: in.At.UTC(), Cause: in.Cause, By: in.By, Identity: in.Identity,
	}
	if info != nil {
		t = described(t, info)
	}
	if t.Decisions, err = s.decisions(ctx, in.ConversationID, file.decisions()); err != nil {
		return deletion.Result{}, fmt.Errorf("read the decisions: %w", err)
	}
	t, err = d.Graves.Bury(ctx, t)
	return deletion.Result{Tombstone: &t}, err
}

// described completes a tombstone by what the server knows of the conversation.
func described(t deletion.Tombstone, info *workflowpb.WorkflowExecutionInfo) deletion.Tombstone {
	attributes := info.GetSearchAttributes().GetIndexedFields()
	t.AgentName = cmp.Or(textOf(attributes[contract.AttrAgentName]), t.AgentName)
	t.Owner = textOf(attributes[contract.AttrAgentOwner])
	if at, err := time.Parse(time.RFC3339Nano, textOf(info.GetMemo().GetFields()[contract.MemoCreatedAt])); err == nil {
		t.CreatedAt = at.UTC()
	}
	return t
}

// export is the part of a conversation's file that is read here.
type export struct {
	ID        string            `json:"id"`
	Agent     string            `json:"agent"`
	Owner     contract.Identity `json:"owner"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
	Messages  []struct {
		Approval *contract.ApprovalResult `json:"approval"`
	} `json:"messages"`
}

// exported reads the file of a conversation. Without one, or with a damaged one, it is empty.
func (d *Deletions) exported(conversationID string) (e export, err error) {
	data, err := os.ReadFile(d.file(conversationID))
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("read the file of a conversation: %w", err)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		d.Logger.Warn("a conversation's file cannot be read", "conversation", conversationID, "error", err)
		return export{ID: conversationID}, nil
	}
	return e, nil
}

func (e export) decisions() (out []deletion.Decision) {
	for _, m := range e.Messages {
		if m.Approval != nil {
			out = append(out, deletion.DecisionOf(*m.Approval))
		}
	}
	return out
}

// decisions adds those of the conversation's approvals to known ones, oldest first.
func (s server) decisions(ctx context.Context, conversationID string, known []deletion.Decision) ([]deletion.Decision, error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND %s = '%s'", contract.WorkflowApproval, contract.AttrConversationID, conversationID)
	for e, err := range s.list(ctx, query) {
		if err != nil {
			return nil, err
		}
		decided, err := s.decision(ctx, e)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(known, func(k deletion.Decision) bool { return k.UUID == decided.UUID }) {
			known = append(known, decided)
		}
	}
	slices.SortStableFunc(known, func(a, b deletion.Decision) int { return a.RequestedAt.Compare(b.RequestedAt) })
	return known, nil
}

// decision returns the decision of an approval: its result, or that it was ended.
func (s server) decision(ctx context.Context, e *workflowpb.WorkflowExecutionInfo) (deletion.Decision, error) {
	for last, err := range s.history(ctx, e.GetExecution(), enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT) {
		if err != nil {
			return deletion.Decision{}, err
		}
		var r contract.ApprovalResult
		result := last.GetWorkflowExecutionCompletedEventAttributes().GetResult()
		if result != nil && converter.GetDefaultDataConverter().FromPayloads(result, &r) == nil && r.UUID != "" {
			return deletion.DecisionOf(r.Open()), nil
		}
	}
	return deletion.Decision{
		UUID:        strings.TrimPrefix(e.GetExecution().GetWorkflowId(), contract.ApprovalWorkflowID("")),
		Tool:        textOf(e.GetSearchAttributes().GetIndexedFields()[contract.AttrToolName]),
		Decision:    contract.Terminated,
		RequestedAt: e.GetStartTime().AsTime(), DecidedAt: e.GetCloseTime().AsTime(),
	}, nil
}
