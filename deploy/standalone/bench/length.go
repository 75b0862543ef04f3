package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// shortTurns is the number of turns of a short conversation.
const shortTurns = 10

// length compares a message to a long conversation with one to a short conversation.
func length(ctx context.Context, s *stack, n size, t *table) error {
	long, err := s.talk(ctx, n.long)
	if err != nil {
		return err
	}
	var costs [2]cost
	for range n.rounds {
		short, err := s.talk(ctx, shortTurns)
		if err != nil {
			return err
		}
		runtime.GC()
		for i, c := range []*chat{long, short} {
			if err := costs[i].add(ctx, s, c, max(n.turns/10, 5)); err != nil {
				return err
			}
		}
	}
	costs[0].print(t, fmt.Sprintf("a message after %d turns / after %d", n.long, shortTurns), costs[1])
	return nil
}

// talk starts a conversation and runs some turns.
func (s *stack) talk(ctx context.Context, turns int) (*chat, error) {
	c, err := s.newChat(ctx, "")
	for range turns {
		if err == nil {
			err = c.say(ctx, strings.Repeat("Some words about something. ", 8))
		}
	}
	return c, err
}

func (c *chat) say(ctx context.Context, text string) error {
	return c.call(ctx, "POST", "/conversations/"+c.id+"/messages", message{text}, nil)
}

// cost is the cost of messages to a conversation.
type cost struct {
	times   []time.Duration
	cpu     time.Duration
	history int64 // history bytes, without messages that started a new run
	counted int64 // number of these messages
}

// add sends some messages.
func (k *cost) add(ctx context.Context, s *stack, c *chat, messages int) error {
	before, err := s.historySize(ctx, c.id)
	if err != nil {
		return err
	}
	cpu := cpuTime()
	times, err := each(messages, func() error { return c.say(ctx, "go") })
	if err != nil {
		return err
	}
	k.cpu += cpuTime() - cpu
	k.times = append(k.times, times...)
	after, err := s.historySize(ctx, c.id)
	if after > before { // within one run
		k.history += after - before
		k.counted += int64(messages)
	}
	return err
}

// historySize returns the size of the history of the current run.
func (s *stack) historySize(ctx context.Context, id string) (int64, error) {
	d, err := s.Client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(id), "")
	if err != nil {
		return 0, err
	}
	return d.WorkflowExecutionInfo.HistorySizeBytes, nil
}

// print prints the cost of a message to a long conversation beside that of one to a short one.
func (k cost) print(t *table, name string, short cost) {
	row := func(what, ours, theirs string, ratio float64) {
		t.ratio(name+": "+what, ours, theirs, ratio, "≤ 1.20", ratio <= 1.2)
	}
	a, b := quantile(k.times, .5), quantile(short.times, .5)
	row("median", ms(a), ms(b), float64(a)/float64(b))
	a, b = k.cpu/time.Duration(len(k.times)), short.cpu/time.Duration(len(short.times))
	row("CPU", ms(a), ms(b), float64(a)/float64(b))
	c, d := k.history/max(k.counted, 1), short.history/max(short.counted, 1)
	row("history", fmt.Sprintf("%d B", c), fmt.Sprintf("%d B", d), float64(c)/float64(d))
}
