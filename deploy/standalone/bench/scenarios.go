package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// measured has the results of the kinds of clients.
type measured struct {
	clients int
	alone   [3][]time.Duration
	flows   [3]flow
}

// alternate lets each kind of client run in turn, first one of them and then all.
func alternate(ctx context.Context, kinds [3][]turner, n size) (measured, error) {
	m := measured{clients: n.clients}
	for range n.rounds {
		for k, clients := range kinds {
			times, err := each(n.turns, func() error { return clients[0].turn(ctx) })
			if err != nil {
				return m, err
			}
			m.alone[k] = append(m.alone[k], times...)
		}
		for k, clients := range kinds {
			f, err := together(ctx, clients, n.busy)
			if err != nil {
				return m, err
			}
			m.flows[k] = m.flows[k].plus(f)
		}
	}
	return m, nil
}

// goals are ratios to the bare workflow: of medians at most, of turns per second
// at least. Zero is no goal.
type goals struct{ median, flow float64 }

func (m measured) print(t *table, name string, g goals) {
	for _, k := range []int{onceKind, loopKind} {
		against, goal := "bare workflow", true
		if k == loopKind { // stricter than the goal: it does not start a workflow either
			against, goal = "bare loop", false
		}
		ours, theirs := quantile(m.alone[agentKind], .5), quantile(m.alone[k], .5)
		ratio := float64(ours) / float64(theirs)
		t.ratio(fmt.Sprintf("%s: 1 client, median turn / %s", name, against), ms(ours), ms(theirs), ratio,
			only(goal, fmt.Sprintf("≤ %.2f", g.median)), ratio <= g.median)
		ratio = m.flows[agentKind].perSecond() / m.flows[k].perSecond()
		t.ratio(fmt.Sprintf("%s: %d clients, turns/s / %s", name, m.clients, against),
			perSecond(m.flows[agentKind]), perSecond(m.flows[k]), ratio,
			only(goal && g.flow > 0, fmt.Sprintf("≥ %.2f", g.flow)), ratio >= g.flow)
		ratio = float64(m.flows[agentKind].cpuPerTurn()) / float64(m.flows[k].cpuPerTurn())
		t.ratio(fmt.Sprintf("%s: %d clients, CPU per turn / %s", name, m.clients, against),
			ms(m.flows[agentKind].cpuPerTurn()), ms(m.flows[k].cpuPerTurn()), ratio, "", true)
	}
}

func only(given bool, goal string) string {
	if given {
		return goal
	}
	return ""
}

// The kinds of clients that are compared.
const (
	loopKind  = iota // one bare workflow that lives as long as a conversation
	onceKind         // a bare workflow for each turn
	agentKind        // the agent
)

func perSecond(f flow) string { return fmt.Sprintf("%.1f /s", f.perSecond()) }

// kinds returns the clients of each kind. The bare ones run that many calls in a
// turn.
func (s *stack) kinds(ctx context.Context, agent *site, name string, calls, clients int) ([3][]turner, error) {
	var kinds [3][]turner
	for i := range clients {
		loop, err := newBareClient(ctx, s.Client, fmt.Sprintf("bare-%s-%d", name, i), calls)
		if err != nil {
			return kinds, err
		}
		talk, err := agent.newChat(ctx, "")
		if err != nil {
			return kinds, err
		}
		kinds[loopKind] = append(kinds[loopKind], loop)
		kinds[onceKind] = append(kinds[onceKind], onceClient{s.Client, calls})
		kinds[agentKind] = append(kinds[agentKind], talk)
	}
	return kinds, nil
}

// reads measures the latency of reads while turns run.
func reads(ctx context.Context, s *stack, n size, t *table) error {
	s.model.hold = make(chan struct{})
	held, err := s.chats(ctx, n.clients, "")
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make([]error, len(held))
	for i, c := range held {
		group.Go(func() {
			errs[i] = c.call(ctx, "POST", "/conversations/"+c.id+"/messages", message{"hold"}, nil)
		})
	}
	for _, path := range []string{"/health", "/conversations/" + held[0].id} {
		times, err := each(n.reads, func() error { return s.call(ctx, "GET", path, nil, nil) })
		if err != nil {
			return err
		}
		name := "GET /health, p99"
		if path != "/health" {
			name = "GET /conversations/:id, p99"
		}
		p99 := quantile(times, .99)
		t.value(fmt.Sprintf("%s while %d clients hold turns", name, n.clients), ms(p99), "< 50 ms", p99 < 50*time.Millisecond)
	}
	close(s.model.hold)
	group.Wait()
	return errors.Join(errs...)
}

// chats starts conversations, several at a time.
func (s *site) chats(ctx context.Context, count int, first string) ([]*chat, error) {
	const abreast = 20
	chats, errs := make([]*chat, count), make([]error, count)
	var group sync.WaitGroup
	slots := make(chan struct{}, abreast)
	for i := range count {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			chats[i], errs[i] = s.newChat(ctx, first)
		})
	}
	group.Wait()
	return chats, errors.Join(errs...)
}

// lists measures the list of conversations when there are many.
func lists(ctx context.Context, s *stack, n size, t *table) error {
	if _, err := s.chats(ctx, n.conversations, ""); err != nil {
		return err
	}
	times, err := each(100, func() error { return s.call(ctx, "GET", "/conversations?limit=100", nil, nil) })
	if err != nil {
		return err
	}
	for _, q := range []float64{.5, .99} {
		took := quantile(times, q)
		t.value(fmt.Sprintf("list of 100 out of %d conversations, p%.0f", n.conversations, 100*q), ms(took),
			"< 50 ms", took < 50*time.Millisecond)
	}
	return nil
}
