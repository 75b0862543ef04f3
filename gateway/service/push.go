package service

import (
	"context"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
)

// Pushes manages the webhooks of a task. All methods fail with KindNotFound if the
// conversation does not exist.
type Pushes interface {
	// SetPush adds a webhook and returns it, with an ID if it had none. A webhook with the
	// same ID is replaced. SetPush fails with KindInvalid if the webhook is invalid or there
	// are contract.MaxPushConfigs others.
	SetPush(ctx context.Context, conversationID string, c PushConfig) (PushConfig, error)
	// PushConfigs lists the webhooks in the order in which they were first set, without their
	// secrets. They are deleted a day after the end of the task.
	PushConfigs(ctx context.Context, conversationID string) ([]PushConfig, error)
	// DeletePush deletes a webhook. An unknown ID is not an error.
	DeletePush(ctx context.Context, conversationID, id string) error
}

// PushConfig is a webhook with its secrets in clear. In contract.PushConfig they are sealed.
type PushConfig struct {
	ID          string
	URL         string
	Token       string
	Scheme      string // of Credentials: Bearer, Basic
	Credentials string
	// Protocol is contract.PushProtocol1, the default, or contract.PushProtocol03.
	Protocol string
}

// String hides the secrets from logs and format verbs.
func (c PushConfig) String() string { return "[webhook " + c.ID + "]" }

// GoString hides the secrets from %#v.
func (c PushConfig) GoString() string { return c.String() }

// secretSet replaces tokens and credentials wherever a webhook is shown, because everyone who
// knows a task's ID may read its webhooks.
const secretSet = "[set]"

// Redacted returns the webhook without its secrets.
func (c PushConfig) Redacted() PushConfig {
	for _, secret := range []*string{&c.Token, &c.Credentials} {
		if *secret != "" {
			*secret = secretSet
		}
	}
	return c
}

const (
	maxPushID     = 256
	maxPushSecret = 4096
	maxPushScheme = 64
)

// Check fails with KindInvalid if the webhook is invalid.
func (c PushConfig) Check(reach network.Reach) error {
	if err := network.CheckWebhook(c.URL, reach); err != nil {
		return Errorf(contract.KindInvalid, "push notification: %s", err.Error())
	}
	switch {
	case len(c.ID) > maxPushID || !headerText(c.ID):
		return Errorf(contract.KindInvalid, "push notification: the id has more than %d bytes or strange characters", maxPushID)
	case len(c.Token) > maxPushSecret || len(c.Credentials) > maxPushSecret:
		return Errorf(contract.KindInvalid, "push notification: the token or the credentials have more than %d bytes", maxPushSecret)
	case c.Token == secretSet || c.Credentials == secretSet:
		return Errorf(contract.KindInvalid, "push notification: %s only says that there is a secret; send the secret itself", secretSet)
	case !headerText(c.Token) || !headerText(c.Credentials):
		return Errorf(contract.KindInvalid, "push notification: the token or the credentials cannot be in a header")
	case len(c.Scheme) > maxPushScheme || strings.ContainsFunc(c.Scheme, notInScheme):
		return Errorf(contract.KindInvalid, "push notification: no such authentication scheme")
	case c.Scheme == "" && c.Credentials != "":
		return Errorf(contract.KindInvalid, "push notification: credentials need an authentication scheme, such as Bearer")
	case c.Protocol != contract.PushProtocol1 && c.Protocol != contract.PushProtocol03:
		return Errorf(contract.KindInvalid, "push notification: unknown version of the protocol %q", Printable(c.Protocol))
	}
	return nil
}

// headerText reports whether s is a valid header value (RFC 9110 §5.5).
func headerText(s string) bool {
	return s == strings.TrimSpace(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// notInScheme reports whether a character is not allowed in a token (RFC 9110 §5.6.2).
func notInScheme(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
