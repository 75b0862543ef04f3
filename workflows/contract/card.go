package contract

import "time"

// CardLimit is the maximum size of a Card's JSON, in bytes.
const CardLimit = 4 << 10

// Card is a waiting approval in a list, with enough data to decide most of them. It is made
// when the approval opens, and stored in its memo MemoCard.
type Card struct {
	Server   string `json:"server,omitempty"`
	Node     string `json:"node,omitempty"`
	NodePath []int  `json:"node_path,omitempty"`
	// Chain names the agents from this one to the one whose call waits, if another agent asks.
	Chain  []string `json:"chain,omitempty"`
	Reason Reason   `json:"reason,omitempty"`
	// Because is the ground of ReasonDestructive; empty if it is not known.
	Because Ground `json:"because,omitempty"`
	// Requester is the owner of the conversation, whom the call is for.
	Requester Name `json:"requester,omitzero"`
	// Rule is the name of the rule that asks, and Policy the version of the rules.
	Rule   string `json:"rule,omitempty"`
	Policy string `json:"policy,omitempty"`

	Description          string `json:"description,omitempty"`
	DescriptionTruncated bool   `json:"description_truncated,omitempty"`
	// Arguments are absent if they are too long for a list; ArgumentsPreview is then the
	// beginning of their JSON.
	Arguments          JSON   `json:"tool_args,omitzero"`
	ArgumentsTruncated bool   `json:"tool_args_truncated,omitempty"`
	ArgumentsPreview   string `json:"tool_args_preview,omitempty"`
	Digest             string `json:"tool_args_sha256,omitempty"`

	Answer AnswerKind `json:"answer,omitempty"`
	// ExpiresAt is nil for an approval without a timeout.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// AnswerKind is the form of an approval's decision.
type AnswerKind string

// The kinds of answers.
const (
	AnswerYesOrNo AnswerKind = "yes_or_no"
	AnswerContent AnswerKind = "content" // content that fits the approval's schema
)
