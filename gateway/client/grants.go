package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Always approves later calls, too, as it was shown.
type Always struct {
	Scope  string    `json:"scope"` // turn, conversation, caller or agent
	Until  time.Time `json:"until"`
	Uses   int       `json:"uses"`
	Open   []string  `json:"open,omitempty"`
	Digest string    `json:"digest,omitempty"`
	// Problem is why nothing was granted, in a record.
	Problem string `json:"problem,omitempty"`
}

// AlwaysOffer is what may be granted for later calls. AtMost is in nanoseconds.
type AlwaysOffer struct {
	Scopes []string      `json:"scopes"`
	AtMost time.Duration `json:"at_most"`
	Uses   int           `json:"uses"`
	Open   []string      `json:"open,omitempty"`
	Rules  string        `json:"rules"`
	Node   string        `json:"node,omitempty"`
	Caller string        `json:"caller,omitempty"`
	Turn   string        `json:"turn,omitempty"`
}

// AlwaysRequest is what would be granted. Without Until it is the longest time, without Uses the greatest
// number.
type AlwaysRequest struct {
	Scope string     `json:"scope"`
	Until *time.Time `json:"until,omitempty"`
	Uses  int        `json:"uses,omitempty"`
	Open  []string   `json:"open,omitempty"`
}

// AlwaysPreview is what a decision with Always would grant: Text has it in words.
type AlwaysPreview struct {
	Text   string          `json:"text"`
	Always Always          `json:"always"`
	Terms  json.RawMessage `json:"terms"`
}

// PreviewAlways shows what approving a call for later ones, too, would grant. It changes nothing.
func (c *Client) PreviewAlways(ctx context.Context, uuid string, r AlwaysRequest) (out AlwaysPreview, err error) {
	_, err = c.post(ctx, approvalPath(uuid)+"/always", r, &out)
	return out, err
}

// Grant is an approval that counts for later calls, too.
type Grant struct {
	ID     string      `json:"id"`
	Server string      `json:"server"`
	Tool   string      `json:"tool"`
	Scope  string      `json:"scope"`
	Of     string      `json:"of,omitempty"`
	Text   string      `json:"text"`
	By     GrantPerson `json:"by"`
	Since  time.Time   `json:"since"`
	Until  time.Time   `json:"until"`
	Used   int         `json:"used"`
	Uses   int         `json:"uses"`
	Counts bool        `json:"counts"`
	// Ended is when the grant was used up or revoked, RevokedBy who revoked it.
	Ended     *time.Time   `json:"ended,omitempty"`
	RevokedBy *GrantPerson `json:"revoked_by,omitempty"`
}

// GrantPerson is whom an issuer vouches for, or the name that somebody claims.
type GrantPerson struct {
	Subject string `json:"subject,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Claimed string `json:"claimed,omitempty"`
}

// Grants lists the standing grants that concern the caller.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	var out struct {
		Grants []Grant `json:"grants"`
	}
	err := c.get(ctx, "/grants", &out)
	return out.Grants, err
}

// Grant returns a standing grant.
func (c *Client) Grant(ctx context.Context, id string) (out Grant, err error) {
	err = c.get(ctx, "/grants/"+url.PathEscape(id), &out)
	return out, err
}

// RevokeGrant ends a standing grant before its time.
func (c *Client) RevokeGrant(ctx context.Context, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: "/grants/" + url.PathEscape(id)}, nil)
	return err
}
