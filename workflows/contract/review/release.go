package review

import (
	"errors"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// The updates and the signal of an Approval that are about the rules of its agent.
const (
	UpdateJudge   = "judge"   // Judge
	UpdateRelease = "release" // Release
	SignalRelease = "release" // Release
)

// Judge has an Approval judge its call by the rules of a version, by itself and once for each version.
type Judge struct {
	Policy string `json:"policy"`
}

// Release makes what the rules of a version say count for a call that waits, also where it is less
// than what the call waits for. People type it, too.
type Release struct {
	// Policy is the version; "" in a typed signal is the one that has judged last.
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	// Identity is the caller, and Proof proves it; see package proof.
	Identity contract.Identity `json:"identity,omitzero"`
	Proof    string            `json:"proof,omitempty"`
}

// maxText bounds the texts of a Release, in characters.
const maxText = 2000

// Check fails for a release with texts that are too long.
func (r Release) Check() error {
	if utf8.RuneCountInString(r.Reason) > maxText || utf8.RuneCountInString(r.By) > maxText || len(r.Policy) > maxText {
		return errors.New("the texts of a release have at most 2000 characters")
	}
	return nil
}
