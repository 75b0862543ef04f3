package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agent-stop-and-go/config"
)

// trees measures agents that are trees of nodes.
func trees(ctx context.Context, s *stack, n size, t *table) error {
	for _, part := range []func(context.Context, *stack, size, *table) error{steps, branches, depths} {
		if err := part(ctx, s, n, t); err != nil {
			return err
		}
	}
	return nil
}

// steps compares a sequence with the bare workflows.
func steps(ctx context.Context, s *stack, n size, t *table) error {
	const calls = 5
	var nodes []*config.Node
	for i := range calls {
		nodes = append(nodes, leaf(fmt.Sprintf("step-%d", i), "0s"))
	}
	agent, err := s.open(ctx, group(config.Sequential, "steps", nodes...))
	if err != nil {
		return err
	}
	kinds, err := s.kinds(ctx, agent, "steps", calls, n.clients)
	if err != nil {
		return err
	}
	m, err := alternate(ctx, kinds, n)
	if err != nil {
		return err
	}
	m.print(t, "five steps", goals{median: 1.6})
	return nil
}

// branches compares the time of a parallel node with that of its slowest branch.
func branches(ctx context.Context, s *stack, n size, t *table) error {
	const slowest = 100 * time.Millisecond
	var nodes []*config.Node
	for i := range 5 {
		nodes = append(nodes, leaf(fmt.Sprintf("branch-%d", i), (slowest-time.Duration(i)*slowest/10).String()))
	}
	agent, err := s.open(ctx, group(config.Parallel, "branches", nodes...))
	if err != nil {
		return err
	}
	talk, err := agent.newChat(ctx, "")
	if err != nil {
		return err
	}
	times, err := each(n.rounds*n.turns, func() error { return talk.turn(ctx) })
	if err != nil {
		return err
	}
	for _, q := range []float64{.5, .99} {
		took := quantile(times, q)
		ratio := float64(took) / float64(slowest)
		t.ratio(fmt.Sprintf("five branches, p%.0f / the slowest", 100*q), ms(took), ms(slowest), ratio, only(q == .5, "≤ 1.50"), ratio <= 1.5)
	}
	return nil
}

// depths measures an approval that is asked for deep inside a tree.
func depths(ctx context.Context, s *stack, n size, t *table) error {
	node := &config.Node{Name: "leaf", Type: config.LLMNode, Prompt: "write", Approval: config.ApprovalRequired}
	for depth, kind := range []string{"", config.Sequential, config.Parallel, config.Sequential} {
		if depth > 0 {
			node = group(kind, fmt.Sprintf("depth-%d", depth), node)
		}
		agent, err := s.open(ctx, node)
		if err != nil {
			return err
		}
		var shown, settled []time.Duration
		for range n.rounds * n.turns {
			took, err := agent.ask(ctx, "go")
			if err != nil {
				return fmt.Errorf("an approval at depth %d: %w", depth, err)
			}
			shown, settled = append(shown, took[0]), append(settled, took[1])
		}
		for _, m := range []struct {
			what  string
			times []time.Duration
		}{{"start to visible", shown}, {"decision to settled", settled}} {
			t.value(fmt.Sprintf("approval at depth %d, %s, median", depth, m.what), ms(quantile(m.times, .5)), "", true)
			t.value(fmt.Sprintf("approval at depth %d, %s, p99", depth, m.what), ms(quantile(m.times, .99)), "", true)
		}
	}
	return nil
}

// ask starts a conversation with a message that leads to an approval, and approves. It returns
// the time until the approval was listed, and until the turn had ended.
func (s *site) ask(ctx context.Context, message string) (took [2]time.Duration, err error) {
	start := time.Now()
	c, err := s.newChat(ctx, message)
	if err != nil {
		return took, err
	}
	var out struct {
		Conversation struct {
			Pending []struct{ UUID string } `json:"pending_approvals"`
		}
	}
	if err := s.call(ctx, "GET", "/conversations/"+c.id, nil, &out); err != nil {
		return took, err
	}
	took[0] = time.Since(start)
	if len(out.Conversation.Pending) != 1 {
		return took, errors.New("it is not listed")
	}
	start = time.Now()
	var answer struct {
		Result struct {
			Response string
			Waiting  bool `json:"waiting_approval"`
		}
	}
	err = s.call(ctx, "POST", "/approvals/"+out.Conversation.Pending[0].UUID, map[string]bool{"approved": true}, &answer)
	took[1] = time.Since(start)
	if err == nil && (answer.Result.Waiting || answer.Result.Response == "") {
		err = fmt.Errorf("it was answered with %+v", answer.Result)
	}
	return took, err
}

func leaf(name, takes string) *config.Node {
	return &config.Node{Name: name, Type: config.LLMNode, Prompt: takes}
}

func group(kind, name string, nodes ...*config.Node) *config.Node {
	return &config.Node{Name: name, Type: kind, Agents: slices.Clone(nodes)}
}
