// Package webhook tells web hooks what happens to approvals, in the form of Standard Webhooks
// (https://www.standardwebhooks.com): its activities are Select and Send.
//
// A request is a POST with the headers webhook-id, the same in every attempt, webhook-timestamp, the
// time of the attempt in seconds since 1970, and webhook-signature, with one signature for each
// secret of the hook. Its body is hooks.Message.
//
//	webhook.go  the activities
//	post.go     sends a request, also for the notifications of A2A tasks
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
)

// Hook is a web hook of the configuration.
type Hook struct {
	// Name is its URL as the configuration writes it, with references instead of secrets.
	Name string
	URL  string
	// Secrets sign, each with a signature of its own: whsec_ and 24 to 64 bytes in base64.
	Secrets []string
	// Events are those that it wants; none are all.
	Events []hooks.Event
	HTTP   *http.Client
}

// Hooks are those of an agent.
type Hooks struct {
	Hooks []Hook
	// PublicURL is the URL of the page, or "".
	PublicURL string
	Now       func() time.Time
}

// Select names the web hooks that want an event.
func (h *Hooks) Select(_ context.Context, in hooks.SelectInput) (out hooks.SelectResult, err error) {
	for _, one := range h.Hooks {
		if len(one.Events) == 0 || slices.Contains(one.Events, in.Event) {
			out.Hooks = append(out.Hooks, one.Name)
		}
	}
	return out, nil
}

// Send sends a message to a web hook. An answer of 2xx is one; after 410, and if the web hook is no
// longer configured, it is not sent again.
func (h *Hooks) Send(ctx context.Context, in hooks.SendInput) (hooks.SendResult, error) {
	i := slices.IndexFunc(h.Hooks, func(one Hook) bool { return one.Name == in.Hook })
	if i < 0 {
		return hooks.SendResult{}, fail(contract.KindPushRefused, "the web hook is not configured any more", 0)
	}
	if in.Message.Data.URL == "" && h.PublicURL != "" {
		in.Message.Data.URL = h.PublicURL + "/#/a/" + in.Message.Data.UUID
	}
	body, err := json.Marshal(in.Message)
	if err != nil { // texts, lists, times
		return hooks.SendResult{}, fail(contract.KindInternal, err.Error(), 0)
	}
	r, err := request(ctx, h.Hooks[i], in.ID, body, h.Now())
	if err != nil { // err may have the URL, and that a secret
		return hooks.SendResult{}, fail(contract.KindPushRefused, "the web hook's url or secret is malformed", 0)
	}
	status, wait, err := receiver.Post(h.Hooks[i].HTTP, r, h.Now)
	if err != nil {
		return hooks.SendResult{}, err
	}
	return judge(status, wait)
}

var receiver = Receiver{Name: "the web hook", Private: "allow_private"}

func request(ctx context.Context, hook Hook, id string, body []byte, now time.Time) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var signatures []string
	for _, secret := range hook.Secrets {
		w, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, err
		}
		signature, err := w.Sign(id, now, body)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, signature)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return r, nil
}

// judge converts an answer. Whatever may be a mistake of a while, also of the receiver's
// configuration, is tried again.
func judge(status int, wait time.Duration) (hooks.SendResult, error) {
	switch {
	case status >= 200 && status < 300:
		return hooks.SendResult{Status: status}, nil
	case status == http.StatusGone:
		return hooks.SendResult{}, fail(contract.KindPushRefused, "the web hook answered 410: it is gone", 0)
	}
	return hooks.SendResult{}, fail(contract.KindPushUnavailable, fmt.Sprintf("the web hook answered %d", status), min(wait, maxRetryAfter))
}

// maxRetryAfter bounds the pause that a web hook may ask for.
const maxRetryAfter = time.Hour
