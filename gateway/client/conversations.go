package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Query selects a page of a list.
type Query struct {
	// Limit is how many items a page has at most; 0 is the default of the agent.
	Limit int
	// Cursor is the NextCursor of the page before.
	Cursor string
	// Status selects conversations; empty is all.
	Status Status
	// ID selects conversations whose IDs begin like it; empty is all.
	ID string
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
	if q.ID != "" {
		v.Set("id", q.ID)
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

// FullID returns the ID of the conversation that a short ID means. A full ID is not looked up.
func (c *Client) FullID(ctx context.Context, id string) (string, error) {
	if id == "" || len(id) == len("7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f") {
		return id, nil
	}
	var out Turn
	err := c.get(ctx, conversationPath(id), &out)
	return out.Conversation.ID, err
}

// Cancel stops the running turn.
func (c *Client) Cancel(ctx context.Context, id string) (Turn, error) {
	return c.change(ctx, id, "/cancel")
}

// Close ends a conversation for good.
func (c *Client) Close(ctx context.Context, id string) (Turn, error) {
	return c.change(ctx, id, "/close")
}

// Deletion is what is left of a deleted conversation.
type Deletion struct {
	ConversationID string     `json:"conversation_id"`
	AgentName      string     `json:"agent_name,omitempty"`
	CreatedAt      *time.Time `json:"created_at,omitempty"`
	DeletedAt      time.Time  `json:"deleted_at"`
	Cause          string     `json:"cause"`
	By             string     `json:"by,omitempty"`
	Identity       *Identity  `json:"identity,omitempty"`
	Decisions      []Decision `json:"decisions,omitempty"`
}

// Deleted says how far a deletion is.
type Deleted struct {
	ConversationID string    `json:"conversation_id"`
	Status         string    `json:"status"` // deleted, or running
	Deletion       *Deletion `json:"deletion,omitempty"`
}

// Delete deletes a conversation, with force also while an approval waits. If that takes long, it
// goes on after the reply.
func (c *Client) Delete(ctx context.Context, id string, force bool) (out Deleted, err error) {
	r := request{method: http.MethodDelete, path: conversationPath(id)}
	if force {
		r.path += "?force=true"
	}
	for n := 0; ; n++ {
		_, err = c.call(ctx, r, &out)
		if n > 0 && StatusOf(err) == http.StatusGone { // by the request whose reply was lost
			return Deleted{ConversationID: id, Status: "deleted"}, nil
		}
		if !isTransient(err) || n >= attempts || !c.wait(ctx, n) {
			return out, err
		}
	}
}

func (c *Client) change(ctx context.Context, id, action string) (Turn, error) {
	var out Turn
	_, err := c.post(ctx, conversationPath(id)+action, nil, &out)
	return out, err
}

func conversationPath(id string) string { return "/conversations/" + url.PathEscape(id) }
