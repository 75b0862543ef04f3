package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/gateway/a2a/hook"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/record/transcript"
)

// Reader returns a reader of the tasks of the configured agent.
func Reader(ctx context.Context, c *config.Config, t client.Client, namespace string, blobs transcript.Store) (*hook.Reader, error) {
	agent, err := c.Agent(ctx, blobs)
	if err != nil {
		return nil, fmt.Errorf("describe the agent: %w", err)
	}
	return &hook.Reader{
		Conversations: backend.New(backend.Options{
			Client: t, TaskQueue: c.Temporal.TaskQueue, Namespace: namespace, Agent: agent, Blobs: blobs, Now: time.Now, IsDead: connect.IsDead,
		}),
		Blobs: blobs, Agent: agent, PublicURL: strings.TrimRight(c.PublicURL, "/"),
	}, nil
}
