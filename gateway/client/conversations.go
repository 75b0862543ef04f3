package client

import (
	"context"
	"net/url"
	"strconv"
)

// Query selects a page of a list.
type Query struct {
	// Limit is how many items a page has at most; 0 is the default of the agent.
	Limit int
	// Cursor is the NextCursor of the page before.
	Cursor string
	// Status selects conversations; empty is all.
	Status Status
}

func (q Query) String() string {
	v := url.Values{}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if q.Status != "" {
		v.Set("status", string(q.Status))
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// Conversations is a page of conversations.
type Conversations struct {
	Conversations []Item  `json:"conversations"`
	Summary       Summary `json:"summary"`
	NextCursor    string  `json:"next_cursor,omitempty"`
}

// Conversations lists conversations without their messages.
func (c *Client) Conversations(ctx context.Context, q Query) (Conversations, error) {
	var out Conversations
	err := c.get(ctx, "/conversations"+q.String(), &out)
	return out, err
}

// Turn is a conversation after a request, with the result of that.
type Turn struct {
	Conversation Conversation `json:"conversation"`
	Result       *Result      `json:"result,omitempty"`
	Problem      string       `json:"problem,omitempty"`
}

// Conversation returns a conversation with all its messages.
func (c *Client) Conversation(ctx context.Context, id string) (Conversation, error) {
	var out Turn
	err := c.get(ctx, conversationPath(id)+"?include=messages", &out)
	return out.Conversation, err
}

// Cancel stops the running turn.
func (c *Client) Cancel(ctx context.Context, id string) (Turn, error) {
	return c.change(ctx, id, "/cancel")
}

// Close ends a conversation for good.
func (c *Client) Close(ctx context.Context, id string) (Turn, error) {
	return c.change(ctx, id, "/close")
}

func (c *Client) change(ctx context.Context, id, action string) (Turn, error) {
	var out Turn
	_, err := c.post(ctx, conversationPath(id)+action, nil, &out)
	return out, err
}

func conversationPath(id string) string { return "/conversations/" + url.PathEscape(id) }
