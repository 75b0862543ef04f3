package contract

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Revision is how a call goes on that a person has approved with changes, or under other rules than
// before: then nothing has changed. Nobody else has approved it.
type Revision struct {
	Call      string        `json:"call,omitempty"` // as in ApprovalInput
	Arguments JSON          `json:"arguments"`
	SHA256    string        `json:"arguments_sha256"`
	Changes   []edit.Change `json:"changes"`
	Edit      string        `json:"edit_sha256,omitempty"` // of the canonical DecideSignal.Edit
	// Verdict is what the rules of version Policy say about it; nil if none is about it.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	Policy  string           `json:"policy,omitempty"`
	// Released: nobody has approved the call with this. It needs what Verdict says and nothing else
	// from now on, because an operator has released it.
	Released bool `json:"released,omitempty"`
}

// changed is the decision in the result of an Approval that was approved with changes. Workers that
// know no changes take it for a refusal, and do not run the call without them.
const changed Decision = "approved_changed"

// agreesOn reports whether the call was approved with the changes of a signal, if it has any.
func (r ApprovalResult) agreesOn(e json.RawMessage) bool {
	if r.Revision == nil || r.Revision.Edit == "" {
		return len(e) == 0
	}
	return len(e) > 0 && r.Revision.Edit == Hash(edit.Canonical(e))
}

// Close returns the result that an Approval ends with, and Open the reverse.
func (r ApprovalResult) Close() ApprovalResult {
	if r.Revision != nil && r.Decision == Approved {
		r.Decision = changed
	}
	return r
}

func (r ApprovalResult) Open() ApprovalResult {
	if r.Decision == changed {
		r.Decision = Approved
	}
	return r
}
