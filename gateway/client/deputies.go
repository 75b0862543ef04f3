package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Deputy is somebody, To, who decides in the place of another, From, until a time.
type Deputy struct {
	ID   string     `json:"id"`
	From DeputyName `json:"from"`
	To   DeputyName `json:"to"`
	// Approval is the only approval that it is about; "" is all.
	Approval string    `json:"approval,omitempty"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Reason   string    `json:"reason,omitempty"`
}

// DeputyName is a name and who vouches for it. In a record, Groups and Scopes are those that allowed
// the decision.
type DeputyName struct {
	Subject string   `json:"subject"`
	Issuer  string   `json:"issuer,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
}

// Appointment lets somebody decide in the caller's place. The issuer of To is the caller's unless it
// is given.
type Appointment struct {
	To       DeputyName `json:"to"`
	Approval string     `json:"approval,omitempty"`
	Until    time.Time  `json:"until"`
	Reason   string     `json:"reason,omitempty"`
}

// Deputies lists who decides in whose place, as far as it concerns the caller.
func (c *Client) Deputies(ctx context.Context) ([]Deputy, error) {
	var out struct {
		Deputies []Deputy `json:"deputies"`
	}
	err := c.get(ctx, "/deputies", &out)
	return out.Deputies, err
}

// Appoint lets somebody decide in the caller's place.
func (c *Client) Appoint(ctx context.Context, a Appointment) (out Deputy, err error) {
	_, err = c.post(ctx, "/deputies", a, &out)
	return out, err
}

// RevokeDeputy ends a deputy before its time.
func (c *Client) RevokeDeputy(ctx context.Context, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: "/deputies/" + url.PathEscape(id)}, nil)
	return err
}
