package contract

import (
	"encoding/json"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract/login"
)

// TaskState is the state of a task, with the names of A2A 0.3 (§6.3).
type TaskState string

// The states.
const (
	TaskSubmitted     TaskState = "submitted"
	TaskWorking       TaskState = "working"
	TaskInputRequired TaskState = "input-required"
	TaskAuthRequired  TaskState = "auth-required"
	TaskCompleted     TaskState = "completed"
	TaskFailed        TaskState = "failed"
	TaskCanceled      TaskState = "canceled"
	TaskRejected      TaskState = "rejected"
)

// Over reports whether a state is final (A2A 1.0 §4.1.3).
func (s TaskState) Over() bool {
	switch s {
	case TaskCompleted, TaskFailed, TaskCanceled, TaskRejected:
		return true
	}
	return false
}

// Running reports whether the task is being worked on, or will be.
func (s TaskState) Running() bool { return s == TaskSubmitted || s == TaskWorking }

var outcomeStates = map[Outcome]TaskState{
	OutcomeDone: TaskCompleted, OutcomeFailed: TaskFailed,
	OutcomeRejected: TaskRejected, OutcomeCancelled: TaskCanceled,
}

// TaskState returns the state of the conversation as a task. A conversation that was closed
// without a message is canceled.
func (v ConversationView) TaskState() TaskState {
	switch {
	case v.Status != StatusCompleted && len(v.Pending) > 0:
		return waitingState(v.Pending)
	case v.Status != StatusCompleted && (v.Running || v.Queued > 0):
		return TaskWorking
	case v.Last == nil && v.Status == StatusCompleted:
		return TaskCanceled
	case v.Last == nil:
		return TaskSubmitted
	case v.Last.AuthRequired != "" && v.Status != StatusCompleted:
		return TaskAuthRequired
	}
	return outcomeStates[v.Last.Outcome]
}

// waitingState returns the state of a task with open approvals.
func waitingState(pending []PendingApproval) TaskState {
	if slices.ContainsFunc(pending, func(p PendingApproval) bool { return !p.NeedsLogin() }) {
		return TaskInputRequired
	}
	return TaskAuthRequired
}

// MaxHops is the maximum number of agents that may pass work on.
const MaxHops = 8

// Keys in the metadata of an A2A message.
const (
	MetaChain = "agent-stop-and-go/chain" // the names of the agents that have delegated the work, the sender last
	MetaBy    = "agent-stop-and-go/by"    // the person who decided: not every form of an answer has a field for that
)

// ChainText formats a chain for people.
func ChainText(chain []string) string { return strings.Join(chain, " → ") }

// Types of data parts between agents.
const (
	TypeApprovalRequest = "agent-stop-and-go/approval-request"
	TypeApprovalAnswer  = "agent-stop-and-go/approval-answer"
)

// ApprovalRequest is the data part with the question of a waiting task.
type ApprovalRequest struct {
	Type        string          `json:"type"` // TypeApprovalRequest
	UUID        string          `json:"uuid"`
	Tool        string          `json:"tool"`
	Arguments   json.RawMessage `json:"arguments"`
	Digest      string          `json:"argumentsSha256,omitempty"`
	Description string          `json:"description"`
	Reason      Reason          `json:"reason,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of the answer's content, if it needs content
	// Chain names the agents from the sender to the one whose call waits.
	Chain []string `json:"chain"`
	// Accepts describes the accepted answers.
	Accepts string `json:"accepts"`
	// Login is what the call waits for, with ReasonLogin.
	Login *login.Required `json:"login,omitempty"`
}

// ApprovalAnswer is the data part that answers an ApprovalRequest. Approved is required.
type ApprovalAnswer struct {
	Type     string          `json:"type"` // TypeApprovalAnswer
	UUID     string          `json:"uuid"`
	Approved bool            `json:"approved"`
	By       string          `json:"by,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Content  json.RawMessage `json:"content,omitempty"`
}
