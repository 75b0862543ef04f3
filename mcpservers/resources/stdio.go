package resources

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/server"
)

// ServeStdio speaks MCP, one JSON message per line, until in ends or ctx does.
// Requests that were read before the end are still answered, for at most five
// seconds. One process can serve one stdio client.
func ServeStdio(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer, log *slog.Logger) error {
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(slog.NewLogLogger(log.Handler(), slog.LevelWarn))
	open := &openRequests{ids: map[string]int{}, none: make(chan struct{}, 1)}
	err := stdio.Listen(ctx, &stdioReader{ctx: ctx, lines: bufio.NewReader(in), open: open}, &stdioWriter{out: out, open: open})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

// openRequests counts the requests that were read and not answered yet.
// mcp-go drops them when its input ends, so stdioReader holds the end back.
type openRequests struct {
	mu   sync.Mutex
	ids  map[string]int
	none chan struct{}
}

func (o *openRequests) count(line []byte, delta int) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || string(m.ID) == "null" {
		return
	}
	if delta > 0 && m.Method == "" { // not a request
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids[string(m.ID)] += delta; o.ids[string(m.ID)] <= 0 {
		delete(o.ids, string(m.ID))
	}
	if len(o.ids) == 0 {
		select {
		case o.none <- struct{}{}:
		default:
		}
	}
}

func (o *openRequests) settled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.ids) == 0
}

func (o *openRequests) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownLimit)
	defer cancel()
	for !o.settled() {
		select {
		case <-o.none:
		case <-ctx.Done():
			return
		}
	}
}

type stdioReader struct {
	ctx   context.Context
	lines *bufio.Reader
	rest  []byte
	open  *openRequests
}

func (r *stdioReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if err != nil && len(line) == 0 {
			r.open.wait(r.ctx)
			return 0, err
		}
		if err != nil {
			line = append(line, '\n') // mcp-go ignores a last line without an end
		}
		r.open.count(line, 1)
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

type stdioWriter struct {
	out  io.Writer
	open *openRequests
}

// Write gets one whole message at a time: mcp-go writes each with one call.
func (w *stdioWriter) Write(line []byte) (int, error) {
	n, err := w.out.Write(line)
	w.open.count(line, -1)
	return n, err
}
