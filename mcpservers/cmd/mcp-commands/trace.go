package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// trace writes every request with its answer as a line of JSON. Arguments and results may be secret: only
// the user of the server can read the file.
type trace struct {
	mu   sync.Mutex
	file *os.File
	log  *slog.Logger
}

// openTrace makes a new file in a folder.
func openTrace(folder string, log *slog.Logger) (*trace, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("--tracing-dir: %w", err)
	}
	name := fmt.Sprintf("%s-%d.jsonl", time.Now().UTC().Format("20060102T150405.000"), os.Getpid())
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--tracing-dir: %w", err)
	}
	return &trace{file: file, log: log}, nil
}

// Close closes the file.
func (t *trace) Close() error { return t.file.Close() }

func (t *trace) hooks() *server.Hooks {
	hooks := &server.Hooks{}
	hooks.AddOnSuccess(func(_ context.Context, id any, method mcp.MCPMethod, message, result any) {
		t.write(map[string]any{"id": id, "method": method, "request": message, "result": result})
	})
	hooks.AddOnError(func(_ context.Context, id any, method mcp.MCPMethod, message any, err error) {
		t.write(map[string]any{"id": id, "method": method, "request": message, "error": err.Error()})
	})
	return hooks
}

func (t *trace) write(line map[string]any) {
	line["time"] = time.Now().UTC()
	text, err := json.Marshal(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		_, err = t.file.Write(append(text, '\n'))
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		t.log.Warn("a request is not traced", "error", err)
	}
}
