package server

import (
	"context"
	"fmt"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/ledger"
	"agent-stop-and-go/gateway/quota"
)

func limitsOf(c *config.Config) quota.Limits {
	limits := c.Limits.OfCaller()
	requests, burst := limits.Rate()
	return quota.Limits{Requests: requests, Burst: burst, Conversations: limits.Conversations}
}

// ledgerOf opens the ledger that gateways share, if callers are limited and there is a Redis
// server. It is closed when ctx ends.
func ledgerOf(ctx context.Context, c *config.Config, p Parts) (quota.Ledger, error) {
	if limitsOf(c) == (quota.Limits{}) || c.Events.Redis == "" {
		return nil, nil
	}
	url, err := c.Events.RedisURL(p.Getenv)
	if err != nil {
		return nil, err
	}
	shared, err := ledger.Open(url, p.Namespace+" "+c.Temporal.TaskQueue, quota.Lag)
	if err != nil {
		return nil, fmt.Errorf("events.redis: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = shared.Close() })
	return shared, nil
}
