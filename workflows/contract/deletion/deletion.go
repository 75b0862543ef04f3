package deletion

import (
	"encoding/json"
	"fmt"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Workflow is the registered name of the workflow that deletes a conversation.
const Workflow = "Deletion"

// WorkflowID returns the ID of the workflow that deletes a conversation.
func WorkflowID(conversationID string) string { return "deletion-" + conversationID }

// KindDeleted is the kind of every failure about a conversation that was deleted.
const KindDeleted contract.Kind = "deleted"

// The activities of a Deletion, in their order.
var (
	ActivityEnd   = contract.Activity[Input, EndResult]{Name: "end_conversation"}
	ActivityBury  = contract.Activity[Input, Result]{Name: "bury_conversation"}
	ActivityErase = contract.Activity[Tombstone, EraseResult]{Name: "erase_conversation"}
)

// Cause is why a conversation is deleted.
type Cause string

const (
	CauseRequest Cause = "request" // somebody has asked for it
	CauseAge     Cause = "age"     // it has not changed for the time that the configuration sets
)

// Input is the argument of a Deletion.
type Input struct {
	ConversationID string `json:"conversation_id"`
	Cause          Cause  `json:"cause"`
	// Force deletes a conversation although an approval waits.
	Force bool `json:"force,omitempty"`
	// UnchangedSince refuses to delete a conversation that has changed since then, or in which a
	// turn runs.
	UnchangedSince time.Time `json:"unchanged_since,omitzero"`
	At             time.Time `json:"at"`
	// By and Identity say who deletes it; Proof is the gateway's, as in a signal.
	By       string            `json:"by,omitempty"`
	Identity contract.Identity `json:"identity,omitzero"`
	Proof    string            `json:"proof,omitempty"`
}

// Claim returns what the proof of an input is about.
func (i Input) Claim() Input {
	i.Proof = ""
	return i
}

// EndResult says whether the conversation has ended. Refused is the kind of the refusal, or "".
type EndResult struct {
	Refused contract.Kind `json:"refused,omitempty"`
}

// EraseResult counts what was removed.
type EraseResult struct {
	Workflows int `json:"workflows"`
}

// Result is the result of a Deletion: a refusal, or the tombstone.
type Result struct {
	Refused   contract.Kind `json:"refused,omitempty"`
	Tombstone *Tombstone    `json:"tombstone,omitempty"`
}

// Tombstone is what is left of a deleted conversation. It has nothing that a user, a model or a
// tool wrote.
type Tombstone struct {
	ConversationID string            `json:"conversation_id"`
	AgentName      string            `json:"agent_name,omitempty"`
	Owner          string            `json:"owner,omitempty"` // the key of the owner's identity
	CreatedAt      time.Time         `json:"created_at,omitzero"`
	DeletedAt      time.Time         `json:"deleted_at"`
	Cause          Cause             `json:"cause"`
	By             string            `json:"by,omitempty"`
	Identity       contract.Identity `json:"identity,omitzero"`
	Decisions      []Decision        `json:"decisions,omitempty"`
}

// Sum returns the SHA-256 of the tombstone as JSON, with which an audit log commits to it.
func (t Tombstone) Sum() string {
	data, err := json.Marshal(t)
	if err != nil { // never: it was decoded from JSON, or will be
		return ""
	}
	return contract.Hash(data)
}

// Decision is what is left of an approval.
type Decision struct {
	UUID            string              `json:"uuid"`
	Tool            string              `json:"tool"`
	ArgumentsSHA256 string              `json:"arguments_sha256,omitempty"`
	Decision        contract.Decision   `json:"decision"`
	Outcome         contract.RunOutcome `json:"outcome,omitempty"`
	By              string              `json:"by,omitempty"`
	OnBehalfOf      string              `json:"on_behalf_of,omitempty"`
	Via             string              `json:"via,omitempty"`
	Identity        contract.Identity   `json:"identity,omitzero"`
	RequestedAt     time.Time           `json:"requested_at,omitzero"`
	DecidedAt       time.Time           `json:"decided_at,omitzero"`
}

// DecisionOf returns what is kept of the record of a decision.
func DecisionOf(r contract.ApprovalResult) Decision {
	if r.Revision != nil {
		r.ArgumentsSHA256 = r.Revision.SHA256
	}
	return Decision{
		UUID: r.UUID, Tool: r.Tool, ArgumentsSHA256: r.ArgumentsSHA256, Decision: r.Decision, Outcome: r.Outcome, By: r.By,
		OnBehalfOf: r.OnBehalfOf, Via: r.Via, Identity: r.Identity, RequestedAt: r.RequestedAt, DecidedAt: r.DecidedAt,
	}
}

// Text says when the conversation was deleted, and by whom, for callers who may see it.
func (t Tombstone) Text() string {
	by := ""
	switch {
	case t.Identity.Authenticated():
		by = " by " + t.Identity.Subject
	case t.By != "":
		by = " by " + t.By
	}
	return fmt.Sprintf("conversation %s was deleted on %s%s", t.ConversationID, t.DeletedAt.UTC().Format("2006-01-02 at 15:04:05 MST"), by)
}
