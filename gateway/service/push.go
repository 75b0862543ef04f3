package service

import (
	"context"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
)

// Pushes keeps the webhooks that are told how a task fares. All of it fails with
// KindNotFound when there is no such conversation.
type Pushes interface {
	// SetPush adds a webhook and returns it with the ID that it was given if it had none.
	// One that has the ID already is replaced. It fails with KindInvalid when the webhook
	// cannot be one, or when there are contract.MaxPushConfigs others.
	SetPush(ctx context.Context, conversationID string, c PushConfig) (PushConfig, error)
	// PushConfigs lists the webhooks in the order in which they were first set, without
	// their secrets (PushConfig.Shown). A day after the task is over there are none.
	PushConfigs(ctx context.Context, conversationID string) ([]PushConfig, error)
	// DeletePush takes a webhook away. It is no error if there is none of this ID.
	DeletePush(ctx context.Context, conversationID, id string) error
}

// PushConfig is a webhook as its owner knows it: contract.PushConfig has its secrets
// sealed.
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

// secretSet stands for a token or credentials that are set, wherever a webhook is shown:
// whoever knows a task's ID may read its webhooks.
const secretSet = "[set]"

// Shown is the webhook without its secrets.
func (c PushConfig) Shown() PushConfig {
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

// Check fails with KindInvalid when c cannot be a webhook.
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

// headerText reports whether s can be the value of a header as it is (RFC 9110 §5.5).
func headerText(s string) bool {
	return s == strings.TrimSpace(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// notInScheme reports whether no token holds a character (RFC 9110 §5.6.2).
func notInScheme(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
