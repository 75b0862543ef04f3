package client

import (
	"context"
	"encoding/json"
	"errors"
)

// Offer returns the tools, the tool servers and the model of the agent.
func (c *Client) Offer(ctx context.Context) (Offer, error) {
	var out Offer
	err := c.get(ctx, "/tools", &out)
	return out, err
}

// Ready returns whether a conversation could run now, and what is missing.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var out Readiness
	err := c.get(ctx, "/health/ready", &out)
	var e *Error
	if errors.As(err, &e) && json.Unmarshal(e.Body, &out) == nil && out.Status != "" {
		return out, nil // it is not ready, and says why
	}
	return out, err
}
