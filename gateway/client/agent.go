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

// Method is a way in which callers prove who they are.
type Method struct {
	Type     string `json:"type"`
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
	// Device is the client of the provider with which a terminal logs in, nil if it cannot.
	Device *Device `json:"device"`
}

// Device is a public client of an OpenID provider.
type Device struct {
	ClientID string   `json:"client_id"`
	Scopes   []string `json:"scopes"`
}

// Methods returns the ways in which callers prove who they are, none if they do not have to.
func (c *Client) Methods(ctx context.Context) ([]Method, error) {
	var out struct {
		Methods []Method `json:"methods"`
	}
	err := c.get(ctx, "/auth/methods", &out)
	return out.Methods, err
}

// Caller is what is proven of the caller.
type Caller struct {
	Authenticated bool     `json:"authenticated"`
	Subject       string   `json:"subject,omitempty"`
	Issuer        string   `json:"issuer,omitempty"`
	Groups        []string `json:"groups,omitempty"`
	Scopes        []string `json:"scopes,omitempty"`
}

// Me returns what is proven of the caller.
func (c *Client) Me(ctx context.Context) (Caller, error) {
	var out Caller
	err := c.get(ctx, "/me", &out)
	return out, err
}
