package client

import (
	"context"
	"time"
)

// Judgement is what rules say of a call that waits, which have changed since it was proposed.
type Judgement struct {
	Policy string    `json:"policy"`
	At     time.Time `json:"at"`
	Effect string    `json:"effect"` // none, tightened or refused
	Rule   string    `json:"rule,omitempty"`
	Text   string    `json:"text,omitempty"`
	Asks   []Need    `json:"asks,omitempty"`
	Would  *Would    `json:"would,omitempty"`
}

// Would is what a release would do.
type Would struct {
	Run  bool   `json:"run,omitempty"`
	Asks []Need `json:"asks,omitempty"`
}

// Need is one approval that a call needs.
type Need struct {
	Rule         string   `json:"rule,omitempty"`
	By           []string `json:"by,omitempty"`
	Count        int      `json:"count,omitempty"`
	NotRequester bool     `json:"not_requester,omitempty"`
}

// Releasable is an approval that waits for more than the rules of now need.
type Releasable struct {
	UUID           string    `json:"uuid"`
	ConversationID string    `json:"conversation_id"`
	ToolName       string    `json:"tool_name"`
	Server         string    `json:"server,omitempty"`
	CreatedAt      time.Time `json:"created_at"`
	OpenedUnder    string    `json:"opened_under,omitempty"`
	Policy         string    `json:"policy"`
	Would          Would     `json:"would"`
	Released       bool      `json:"released,omitempty"`
	Error          string    `json:"error,omitempty"`
}

// Releases are approvals that were released, or may be.
type Releases struct {
	Approvals []Releasable `json:"approvals"`
}

// ReleaseRequest names approvals, or all of the agent.
type ReleaseRequest struct {
	Approvals []string `json:"approvals,omitempty"`
	All       bool     `json:"all,omitempty"`
	Policy    string   `json:"policy,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	By        string   `json:"by,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
}

// Release releases approvals that wait for more than the rules of now need.
func (c *Client) Release(ctx context.Context, in ReleaseRequest) (out Releases, err error) {
	_, err = c.post(ctx, "/control/releases", in, &out)
	return out, err
}
