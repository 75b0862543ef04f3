package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"agent-stop-and-go/deploy/standalone/bench/peer"
)

// telemetries measures what metrics and traces cost: the same turns, in alternating rounds, on an
// agent without them and on agents with metrics for Prometheus, and with traces of every request
// besides. Prometheus and the collector are in this process.
func telemetries(ctx context.Context, n size, t *table) (err error) {
	f := newFarEnds(0, 0)
	defer f.close()
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	var agents []*watched
	defer func() {
		for _, w := range agents {
			err = errors.Join(err, w.stop(), os.RemoveAll(w.dir))
		}
	}()
	for _, with := range []struct {
		name string
		env  []string
	}{
		{name: "nothing"},
		{name: "metrics", env: []string{"OTEL_METRICS_EXPORTER=prometheus"}},
		{name: "metrics and traces", env: []string{"OTEL_METRICS_EXPORTER=prometheus", "OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + collector.URL + "/v1/traces"}},
	} {
		w, err := newWatched(ctx, f, with.name, with.env)
		if w != nil {
			agents = append(agents, w)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", with.name, err)
		}
	}
	for round := range n.rounds + 1 {
		for _, w := range agents {
			if err := w.work(ctx, n.turns, round > 0); err != nil { // the first one warms up
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	for _, w := range agents[1:] {
		t.ratio("telemetry, "+w.name+": CPU of a turn", ms(w.perTurn()), ms(agents[0].perTurn()), float64(w.cpu)/float64(agents[0].cpu), "", true)
	}
	return nil
}

// watched is an agent with some telemetry.
type watched struct {
	*mortal
	name, dir, metrics string // metrics is the URL that Prometheus reads; "" for none
	turns              int
	cpu                time.Duration
}

func newWatched(ctx context.Context, f *farEnds, name string, env []string) (*watched, error) {
	dir, err := os.MkdirTemp("", "bench-telemetry-")
	if err != nil {
		return nil, err
	}
	ports, err := peer.FreePorts(1)
	if err != nil {
		return nil, err
	}
	m, err := prepared(dir, "prompt: "+asTold, f)
	if err != nil {
		return nil, err
	}
	w := &watched{mortal: m, name: name, dir: dir}
	if len(env) > 0 {
		w.metrics = fmt.Sprintf("http://localhost:%d/metrics", ports[0])
		m.env = append(m.env, append(env, fmt.Sprintf("OTEL_EXPORTER_PROMETHEUS_PORT=%d", ports[0]))...)
	}
	if err := m.start(); err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return w, m.ready(starting)
}

// work makes turns, and reads the metrics once, and counts what they cost.
func (w *watched) work(ctx context.Context, turns int, counts bool) error {
	before, err := processTime(w.cmd.Process.Pid)
	if err != nil {
		return err
	}
	if _, err := each(turns, func() error { return listTurn{w.site}.turn(ctx) }); err != nil {
		return err
	}
	if err := w.scrape(ctx); err != nil {
		return err
	}
	after, err := processTime(w.cmd.Process.Pid)
	if counts {
		w.cpu, w.turns = w.cpu+after-before, w.turns+turns
	}
	return err
}

// scrape reads the metrics as Prometheus does.
func (w *watched) scrape(ctx context.Context) error {
	if w.metrics == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.metrics, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", w.metrics, res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func (w *watched) perTurn() time.Duration { return w.cpu / time.Duration(w.turns) }
