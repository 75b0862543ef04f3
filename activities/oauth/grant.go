package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// Store keeps sealed records by name, for all workers.
type Store interface {
	// LoadRecord returns nil if there is no record of the name.
	LoadRecord(ctx context.Context, name string) ([]byte, error)
	SaveRecord(ctx context.Context, name string, data []byte) error
}

// grant is what the agent holds for one subject at a server.
type grant struct {
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Issued  time.Time `json:"issued,omitzero"`
	// Scopes are those that were granted, Source is where.
	Scopes []string `json:"scopes,omitempty"`
	Source source   `json:"source,omitzero"`
	// Wanted is the refusal that a login must answer, Login the one that was begun.
	Wanted *Refusal `json:"wanted,omitempty"`
	Login  *login   `json:"login,omitempty"`
}

// source is the token endpoint of a grant, and the client that it was made for.
type source struct {
	Issuer   string `json:"issuer,omitempty"`
	Token    string `json:"token,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Metadata is where the server said that its metadata are: not every challenge says so.
	Metadata string `json:"metadata,omitempty"`
	Client   client `json:"client,omitzero"`
}

// fresh reports whether the access token may be used for some time.
func (g grant) fresh(now time.Time) bool {
	return g.Access != "" && (g.Expires.IsZero() || now.Add(expiryMargin).Before(g.Expires))
}

// recordName is the name of a record, which reveals nothing about its parts.
func recordName(parts ...string) string {
	text, _ := json.Marshal(parts) // strings always encode
	return contract.Hash(text)
}

// load reads a record into a value. Without a record the value is left as it is. A record that
// was sealed with a key that is gone is as good as none.
func (c *Client) load(ctx context.Context, name string, into any) error {
	data, err := c.store.LoadRecord(ctx, name)
	if err != nil || data == nil {
		return wrap("read the stored tokens", err)
	}
	token, err := c.keyring.Open(name, string(data), c.now())
	if errors.Is(err, credential.ErrUnknownKey) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(token.Bearer), into)
	}
	if err != nil {
		return errors.New("the stored tokens are damaged")
	}
	return nil
}

// save seals and stores a value.
func (c *Client) save(ctx context.Context, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return errors.New("encode tokens")
	}
	sealed, err := c.keyring.Seal(name, credential.Token{Bearer: string(text)})
	if err != nil {
		return err
	}
	return wrap("store tokens", c.store.SaveRecord(ctx, name, []byte(sealed)))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
