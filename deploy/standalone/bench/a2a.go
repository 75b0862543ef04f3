package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// tasks compares starting an A2A task with starting a conversation with the same message.
func tasks(ctx context.Context, s *stack, n size, t *table) error {
	ways := [2]func() error{
		func() error { return s.sendTask(ctx, "go") },
		func() error { return s.call(ctx, "POST", "/conversations", message{"go"}, nil) },
	}
	var times [2][]time.Duration
	for range n.rounds * n.turns { // one by one, because machines drift
		for i, way := range ways {
			took, err := each(1, way)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took...)
		}
	}
	ours, theirs := quantile(times[0], .5), quantile(times[1], .5)
	ratio := float64(ours) / float64(theirs)
	t.ratio("a2a: message/send, median / the same turn over REST", ms(ours), ms(theirs), ratio, "≤ 1.30", ratio <= 1.3)
	return nil
}

// sendTask sends a message of A2A 0.3 and waits for the task to be done.
func (s *site) sendTask(ctx context.Context, text string) error {
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": map[string]any{
		"message": map[string]any{
			"kind": "message", "messageId": uuid.NewString(), "role": "user", "parts": []any{map[string]any{"kind": "text", "text": text}},
		},
	}}
	var reply struct {
		Error  json.RawMessage
		Result struct{ Status struct{ State string } }
	}
	if err := s.call(ctx, "POST", "/a2a", request, &reply); err != nil {
		return err
	}
	if reply.Result.Status.State != "completed" {
		return fmt.Errorf("the task is %q: %s", reply.Result.Status.State, reply.Error)
	}
	return nil
}
