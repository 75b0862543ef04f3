package client

import (
	"context"
	"time"
)

// RateLimit is how many calls may be made in a time, as it is in force.
type RateLimit struct {
	Name   string `json:"name"`
	Tool   string `json:"tool,omitempty"`
	Server string `json:"server,omitempty"`
	Class  string `json:"class,omitempty"`
	// Per is "agent", "caller" or "conversation": whose calls are counted together.
	Per   string `json:"per"`
	Calls int    `json:"calls"`
	In    string `json:"in"` // a duration, such as 1m0s
	// OnLimit is "deny", "ask" or "pause".
	OnLimit string `json:"on_limit"`
	// Changed is set if the limit differs from its configuration.
	Changed *LimitChanged `json:"changed,omitempty"`
	Use     []LimitUse    `json:"use"`
}

// LimitChanged says who has changed a limit.
type LimitChanged struct {
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"`
	Issuer string    `json:"issuer,omitempty"`
	Since  time.Time `json:"since"`
}

// LimitUse is a count of calls.
type LimitUse struct {
	Who     string    `json:"who,omitempty"`
	Used    int       `json:"used"`
	Waiting int       `json:"waiting,omitempty"`
	From    time.Time `json:"from,omitzero"`
}

// RateLimits are those of the agent. Note is set if a change is recorded and not in force yet, or if
// there are more counts.
type RateLimits struct {
	Limits []RateLimit `json:"limits"`
	Note   string      `json:"note,omitempty"`
}

// LimitChange changes a rate limit, or restores the configured one.
type LimitChange struct {
	Limit   string `json:"limit"`
	Calls   int    `json:"calls,omitempty"`
	In      string `json:"in,omitempty"`
	OnLimit string `json:"on_limit,omitempty"`
	Restore bool   `json:"restore,omitempty"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by,omitempty"`
}

// RateLimits returns the rate limits and their use.
func (c *Client) RateLimits(ctx context.Context) (out RateLimits, err error) {
	err = c.get(ctx, "/control/limits", &out)
	return out, err
}

// ChangeLimit changes a rate limit.
func (c *Client) ChangeLimit(ctx context.Context, change LimitChange) (out RateLimits, err error) {
	_, err = c.post(ctx, "/control/limits", change, &out)
	return out, err
}
