package client

import "context"

// BulkDecision is one decision of several.
type BulkDecision struct {
	UUID     string `json:"uuid"`
	Approved bool   `json:"approved"`
	// Digest is that of the arguments that the person has seen; "" is not checked.
	Digest string `json:"tool_args_sha256,omitempty"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// BulkResult is what became of a decision. Status is that of HTTP that it would have had alone.
type BulkResult struct {
	UUID     string    `json:"uuid"`
	Status   int       `json:"status"`
	Decision *Decision `json:"decision,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// BulkResults are in the order of the decisions.
type BulkResults struct {
	Results []BulkResult `json:"results"`
}

// DecideAll decides up to 100 approvals, each by itself, and does not wait for the turns that go on.
func (c *Client) DecideAll(ctx context.Context, decisions []BulkDecision) (out BulkResults, err error) {
	_, err = c.post(ctx, "/approvals", map[string]any{"decisions": decisions}, &out)
	return out, err
}
