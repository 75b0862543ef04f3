package worker

import (
	"time"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/webhook"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/webhooks"
)

// newWebhooks returns the web hooks of a configuration.
func newWebhooks(c *config.Config, getenv func(string) string, publicURL string) (*webhook.Hooks, error) {
	open, err := webhooks.Resolve(c.Approval.Webhooks, getenv)
	if err != nil {
		return nil, err
	}
	out := &webhook.Hooks{PublicURL: publicURL, Now: time.Now}
	for _, h := range open {
		out.Hooks = append(out.Hooks, webhook.Hook{Name: h.Name, URL: h.URL, Secrets: h.Secrets, Events: h.Events, HTTP: activities.WebhookClient(h.Reach)})
	}
	return out, nil
}
