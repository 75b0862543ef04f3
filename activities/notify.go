package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"agent-stop-and-go/activities/webhook"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// TaskReader reads a conversation as an A2A task.
type TaskReader interface {
	// Task returns the body of a notification with the whole task: a StreamResponse with the
	// task for contract.PushProtocol1, the task itself for contract.PushProtocol03.
	Task(ctx context.Context, conversationID, protocol string) (json.RawMessage, error)
}

// Notifications calls webhooks with the states of tasks.
type Notifications struct {
	HTTP    *http.Client // see WebhookClient
	Keyring *credential.Keyring
	Tasks   TaskReader
	// SigningKey signs notifications of webhooks without a token. Without it those are not
	// signed.
	SigningKey []byte
	Now        func() time.Time
}

// Notify delivers a notification. The answer 410 is a result; every other answer but 2xx is a
// failure, which is permanent if a retry cannot help.
func (n *Notifications) Notify(ctx context.Context, in contract.NotifyInput) (contract.NotifyResult, error) {
	if in.Config.Protocol == "" {
		in.Config.Protocol = contract.PushProtocol1
	}
	if err := n.open(in.ConversationID, &in.Config); err != nil {
		return contract.NotifyResult{}, err
	}
	body, err := n.body(ctx, in)
	if err != nil {
		return contract.NotifyResult{}, err
	}
	request, err := n.request(ctx, in, body)
	if err != nil { // err contains the URL
		return contract.NotifyResult{}, fail(contract.KindPushRefused, "the webhook's url is malformed", 0)
	}
	status, wait, err := notified.Post(n.HTTP, request, n.Now)
	if err != nil {
		return contract.NotifyResult{}, err
	}
	return statusFailure(status, wait)
}

var notified = webhook.Receiver{Name: "the webhook"}

// open unseals the secrets of a webhook.
func (n *Notifications) open(conversationID string, c *contract.PushConfig) error {
	for _, secret := range []*string{&c.Token, &c.Credentials} {
		if *secret == "" {
			continue
		}
		if n.Keyring == nil {
			return fail(contract.KindPushUnavailable, "this worker has no keys to open the webhook's token with", 0)
		}
		token, err := n.Keyring.Open(contract.PushSeal(conversationID, c.URL), *secret, n.Now())
		if errors.Is(err, credential.ErrUnknownKey) { // another worker may have the key
			return fail(contract.KindPushUnavailable, "the webhook's token is "+err.Error(), 0)
		}
		if err != nil {
			return fail(contract.KindPushRefused, "the webhook's token "+err.Error(), 0)
		}
		*secret = token.Bearer
	}
	return nil
}

// body returns the body of a notification: in version 1.0 the reported state unless it is
// final, even if the task has changed since; else the whole task.
func (n *Notifications) body(ctx context.Context, in contract.NotifyInput) ([]byte, error) {
	if in.Config.Protocol == contract.PushProtocol1 && !in.State.State.Over() {
		return statusUpdate(in.ConversationID, in.State), nil
	}
	if n.Tasks == nil {
		return nil, fail(contract.KindInternal, "this worker was given nothing to read tasks with", 0)
	}
	body, err := n.Tasks.Task(ctx, in.ConversationID, in.Config.Protocol)
	if err != nil {
		return nil, fail(contract.KindPushUnavailable, "read the task: "+err.Error(), 0)
	}
	return body, nil
}

func (n *Notifications) request(ctx context.Context, in contract.NotifyInput, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, in.Config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range notificationHeaders(in) {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if key := n.signingKey(in.Config); len(key) > 0 {
		r.Header.Set(HeaderSignature, sign(key, n.Now(), body))
	}
	return r, nil
}

func (n *Notifications) signingKey(c contract.PushConfig) []byte {
	if c.Token != "" {
		return []byte(c.Token)
	}
	return n.SigningKey
}

// statusFailure converts the answer of a webhook.
func statusFailure(status int, wait time.Duration) (contract.NotifyResult, error) {
	out := contract.NotifyResult{Status: status, Gone: status == http.StatusGone}
	said := fmt.Sprintf("the webhook answered %d", status)
	switch {
	case status >= 200 && status < 300 || out.Gone:
		return out, nil
	case status >= 300 && status < 400:
		return contract.NotifyResult{}, fail(contract.KindPushRefused, said+"; redirects are not followed", 0)
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return contract.NotifyResult{}, fail(contract.KindPushUnavailable, said, min(wait, maxRetryDelay))
	}
	return contract.NotifyResult{}, fail(contract.KindPushRefused, said, 0)
}
