package server

import (
	"fmt"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/clients"
	"agent-stop-and-go/config/lease"
	"agent-stop-and-go/gateway/slackchat"
)

// slackOf returns the settings of Slack, nil without it. Gateways that share a Redis server agree on one
// that connects; any other gateway takes itself to be the only one.
func slackOf(c *config.Config, p Parts) (*slackchat.Settings, error) {
	s := c.Clients.Slack
	if s == nil {
		return nil, nil
	}
	app, bot, err := s.Tokens(p.Getenv)
	if err != nil {
		return nil, err
	}
	out := &slackchat.Settings{AppToken: app, BotToken: bot, APIURL: s.APIURL, LinkLasts: s.LinkLasts, BaseURL: clients.PageURL(c.PublicURL, c.Host, c.Port)}
	if c.Events.Redis == "" {
		return out, nil
	}
	url, err := c.Events.RedisURL(p.Getenv)
	if err != nil {
		return nil, err
	}
	held, err := lease.Open(url, p.Namespace+" "+c.Temporal.TaskQueue, "slack", 0, p.Logger)
	if err != nil {
		return nil, fmt.Errorf("events.redis: %w", err)
	}
	out.Lease = held
	return out, nil
}
