package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// costs measures a conversation of one turn on an agent in its own process: processor time, and
// writes to the database. The model and the tool server run in another process, and take no
// time.
func costs(ctx context.Context, n size, t *table) error {
	for _, kind := range []struct {
		name, profile string
		turn          func(*site) turner
	}{
		{"list turn", ".list", func(s *site) turner { return listTurn{s} }},
		{"approval", ".approval", func(s *site) turner { return approvalTurn{s} }},
	} {
		var args []string
		if n.profile != "" {
			args = []string{"-cpuprofile", n.profile + kind.profile}
		}
		if err := costOf(ctx, n, t, kind.name, kind.turn, args); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	return nil
}

// listTurn is a new conversation: model, tool, model.
type listTurn struct{ *site }

func (l listTurn) turn(ctx context.Context) error {
	_, err := l.newChat(ctx, "look")
	return err
}

// approvalTurn is a new conversation: model, approval, its decision, tool, model.
type approvalTurn struct{ *site }

func (a approvalTurn) turn(ctx context.Context) error {
	_, err := a.ask(ctx, "write")
	return err
}

// costOf prints the processor time of a kind of turn, by one client and by many, and its writes
// to the database.
func costOf(ctx context.Context, n size, t *table, name string, kind func(*site) turner, args []string) (err error) {
	dir, err := os.MkdirTemp("", "bench-cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := newFarEnds(0, 0)
	defer f.close()
	m, err := newMortal(dir, "prompt: "+asTold, f, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	starting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := m.ready(starting); err != nil {
		return err
	}
	c := costing{m: m, t: t, name: name, client: kind(&site{url: m.url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500}}})}
	if _, err := each(n.turns/2, func() error { return c.client.turn(ctx) }); err != nil { // warms up
		return err
	}
	if err := c.alone(ctx, n.turns*n.rounds); err != nil {
		return err
	}
	if err := c.crowded(ctx, n.clients, n.busy*time.Duration(n.rounds)); err != nil {
		return err
	}
	return c.written(ctx, n.turns, filepath.Join(dir, "data", "temporal.db"))
}

// costing measures the cost of one kind of turn.
type costing struct {
	m      *mortal
	t      *table
	name   string
	client turner
}

func (c costing) alone(ctx context.Context, turns int) error {
	cpu, err := processTime(c.m.cmd.Process.Pid)
	if err != nil {
		return err
	}
	times, err := each(turns, func() error { return c.client.turn(ctx) })
	if err != nil {
		return err
	}
	after, err := processTime(c.m.cmd.Process.Pid)
	c.t.value(c.name+", 1 client: CPU", ms((after-cpu)/time.Duration(turns)), "", true)
	c.t.value(c.name+", 1 client: median", ms(quantile(times, .5)), "", true)
	return err
}

func (c costing) crowded(ctx context.Context, clients int, busy time.Duration) error {
	cpu, err := processTime(c.m.cmd.Process.Pid)
	if err != nil {
		return err
	}
	crowd := make([]turner, clients)
	for i := range crowd {
		crowd[i] = c.client
	}
	f, err := together(ctx, crowd, busy)
	if err != nil {
		return err
	}
	after, err := processTime(c.m.cmd.Process.Pid)
	f.cpu = after - cpu
	c.t.value(fmt.Sprintf("%s, %d clients: CPU", c.name, clients), ms(f.cpuPerTurn()), "", true)
	c.t.value(fmt.Sprintf("%s, %d clients: turns", c.name, clients), perSecond(f), "", true)
	return err
}

// written prints the writes during one client's turns, including background writes of the
// server.
func (c costing) written(ctx context.Context, turns int, database string) error {
	w, err := writesOf(ctx, database, func() error {
		_, err := each(turns, func() error { return c.client.turn(ctx) })
		return err
	})
	if err != nil {
		return err
	}
	c.t.value(c.name+": transactions that write", fmt.Sprintf("%.1f", float64(w.transactions)/float64(turns)), "", true)
	c.t.value(c.name+": pages written to the log", fmt.Sprintf("%.1f", float64(w.pages)/float64(turns)), "", true)
	c.t.value(c.name+": bytes written to the log", fmt.Sprintf("%.0f KiB", float64(w.bytes)/float64(turns)/1024), "", true)
	return nil
}

// processTime returns the processor time that a process has used. The kernel counts it in
// hundredths of a second.
func processTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), ") ") // the name of the program ends here
	fields := strings.Fields(rest)
	var ticks int
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
