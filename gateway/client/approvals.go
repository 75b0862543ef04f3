package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Approvals is a page of the approvals that wait.
type Approvals struct {
	Approvals  []WaitingApproval `json:"approvals"`
	NextCursor string            `json:"next_cursor,omitempty"`
}

// Approvals lists the approvals that wait.
func (c *Client) Approvals(ctx context.Context, q Query) (Approvals, error) {
	var out Approvals
	err := c.get(ctx, "/approvals"+q.String(), &out)
	return out, err
}

// Approval returns an approval, whole, and its decision.
func (c *Client) Approval(ctx context.Context, uuid string) (ApprovalState, error) {
	var out ApprovalState
	err := c.get(ctx, approvalPath(uuid), &out)
	return out, err
}

// Answer decides an approval. Exactly one of Approved, Answer and Content is set.
type Answer struct {
	Approved *bool `json:"approved,omitempty"`
	// Answer is a word, such as yes or ran, or the value of the one field of a form.
	Answer string `json:"answer,omitempty"`
	// Content is the answer to a question.
	Content json.RawMessage `json:"content,omitempty"`
	// Edit changes arguments of the call: names to values.
	Edit   map[string]json.RawMessage `json:"edit,omitempty"`
	Always *Always                    `json:"always,omitempty"`
	By     string                     `json:"by,omitempty"`
	Reason string                     `json:"reason,omitempty"`
}

// Decide decides an approval and waits for the end of the turn that continues. If that takes
// long, ok is false: the decision is recorded, and the turn goes on. A decision that came after
// another one is an *Error with that one.
func (c *Client) Decide(ctx context.Context, uuid string, a Answer) (t Turn, ok bool, err error) {
	status, err := c.post(ctx, approvalPath(uuid), a, &t)
	return t, status == http.StatusOK, err
}

// Record decides an approval and does not wait for the turn that continues.
func (c *Client) Record(ctx context.Context, uuid string, a Answer) error {
	_, err := c.post(ctx, approvalPath(uuid), a, nil, "Prefer", "respond-async")
	return err
}

// Deferral is until when the caller put an approval off, nil if it is back.
type Deferral struct {
	UUID          string     `json:"uuid"`
	DeferredUntil *time.Time `json:"deferred_until,omitempty"`
}

// Later puts an approval off for the caller. It decides nothing. With d 0 it is back at once.
func (c *Client) Later(ctx context.Context, uuid string, d time.Duration) (out Deferral, err error) {
	_, err = c.post(ctx, approvalPath(uuid)+"/later", map[string]string{"for": d.String()}, &out)
	return out, err
}

func approvalPath(uuid string) string { return "/approvals/" + url.PathEscape(uuid) }
