package client

import (
	"context"
	"time"
)

// Switch pauses destructive calls.
type Switch struct {
	// What is "all", "agent:NAME", "server:NAME" or "tool:NAME"; InWords says it for people.
	What    string    `json:"what"`
	InWords string    `json:"in_words"`
	Reason  string    `json:"reason,omitempty"`
	By      string    `json:"by,omitempty"`
	Issuer  string    `json:"issuer,omitempty"`
	Since   time.Time `json:"since"`
}

// Switches are those that are set. Note is set if a change is recorded and not in force yet.
type Switches struct {
	Switches []Switch `json:"switches"`
	Note     string   `json:"note,omitempty"`
}

// SwitchChange sets or removes a switch.
type SwitchChange struct {
	What   string `json:"what"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// Switches returns what is paused.
func (c *Client) Switches(ctx context.Context) (out Switches, err error) {
	err = c.get(ctx, "/control/switches", &out)
	return out, err
}

// Pause pauses destructive calls.
func (c *Client) Pause(ctx context.Context, change SwitchChange) (out Switches, err error) {
	_, err = c.post(ctx, "/control/pause", change, &out)
	return out, err
}

// Resume removes a switch.
func (c *Client) Resume(ctx context.Context, change SwitchChange) (out Switches, err error) {
	_, err = c.post(ctx, "/control/resume", change, &out)
	return out, err
}
