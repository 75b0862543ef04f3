// Package review has the activity with which an Approval has its call judged again by the rules of
// the agent: because a person approves it, and the rules may be others than before, or with changes.
package review

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Activity judges a call that waits. It changes nothing.
var Activity = contract.Activity[Input, Result]{Name: "review_approval"}

// KindOtherRules is the kind of the failure of a worker that has other rules than those that are to
// judge. Another one may have them.
const KindOtherRules contract.Kind = "other_rules"

// KindUnjudged is the kind of the refusal of a decision about a call that could not be judged again. The
// approval waits on.
const KindUnjudged contract.Kind = "unjudged"

// Input is a call that waits.
type Input struct {
	ConversationID string `json:"conversation_id"`
	Tool           string `json:"tool"`
	// Server is "" for a delegation.
	Server    string        `json:"server,omitempty"`
	Arguments contract.JSON `json:"arguments"`
	// Basis is a verdict.Basis; absent if it is not known.
	Basis contract.JSON `json:"basis,omitzero"`
	// Waits are the approvals that the call waits for, and the version of the rules that asked for
	// them, "" for that of the basis.
	Waits verdict.Verdict `json:"waits,omitzero"`
	// Edit are changes of the arguments, and Allowed those that may be changed; see package edit.
	Edit    json.RawMessage `json:"edit,omitempty"`
	Allowed []string        `json:"allowed,omitempty"`
	// Policy is the version of the rules that is to judge, whatever has judged before; "" is that of any
	// worker.
	Policy string `json:"policy,omitempty"`
}

// Result is what the rules say now.
type Result struct {
	// Policy is the version of the rules.
	Policy  string           `json:"policy,omitempty"`
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	// Tightened is what the call needs beyond that for which it waits, without Edit; see
	// verdict.Tightened.
	Tightened *verdict.Verdict `json:"tightened,omitempty"`
	// Loosened is what the call needs by these rules alone, if that is less; see verdict.Loosened.
	Loosened *verdict.Verdict `json:"loosened,omitempty"`
	// Revision is the changed call, with Edit.
	Revision *contract.Revision `json:"revision,omitempty"`
	// Problem is why the call cannot be changed so, in words.
	Problem string `json:"problem,omitempty"`
}
