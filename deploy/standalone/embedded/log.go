package embedded

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog is the server's logger. Warnings and errors go to ours; the rest is the server talking to itself.
type serverLog struct {
	out *slog.Logger
	*serverState
}

type serverState struct {
	stopping atomic.Bool            // says no more but that it cannot stop
	fatal    atomic.Pointer[string] // the first message the server wanted to end the process with
}

// expected is the start of warnings that tell an operator nothing.
var expected = []string{
	"HTTP API port has not been set",                // on purpose: one listener less
	"GetHistory page size is larger than threshold", // of the Web UI, which asks for longer pages than there are
}

var (
	_ log.Logger      = serverLog{}
	_ log.WithLogger  = serverLog{}
	_ log.SLogWrapper = serverLog{}
)

func newServerLog(out *slog.Logger) serverLog {
	state := &serverState{}
	return serverLog{slog.New(atLeastWarn{out.Handler(), state}).With("component", "temporal"), state}
}

func (serverLog) Debug(string, ...tag.Tag) {}
func (serverLog) Info(string, ...tag.Tag)  {}

func (l serverLog) Warn(msg string, tags ...tag.Tag) {
	if !slices.ContainsFunc(expected, func(start string) bool { return strings.HasPrefix(msg, start) }) {
		l.out.Warn(msg, attrs(tags)...)
	}
}

func (l serverLog) Error(msg string, tags ...tag.Tag)  { l.out.Error(msg, attrs(tags)...) }
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.out.Error(msg, attrs(tags)...) }

func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.out.Error(msg, attrs(tags)...)
	panic(msg)
}

// Fatal must not return, and must not end our process either: it ends the goroutine. While the server starts that
// becomes the error of Start.
func (l serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.out.Error(msg, attrs(tags)...)
	text := msg
	for _, t := range tags {
		if err, ok := t.Value().(string); ok && t.Key() == "error" {
			text += ": " + err
		}
	}
	l.fatal.CompareAndSwap(nil, &text)
	runtime.Goexit()
}

// With implements log.WithLogger.
func (l serverLog) With(tags ...tag.Tag) log.Logger {
	return serverLog{l.out.With(attrs(tags)...), l.serverState}
}

// SLog implements log.SLogWrapper, for the SDK inside the server.
func (l serverLog) SLog() *slog.Logger { return l.out }

func attrs(tags []tag.Tag) []any {
	out := make([]any, len(tags))
	for i, t := range tags {
		out[i] = slog.Any(t.Key(), t.Value())
	}
	return out
}

// atLeastWarn drops what is below a warning, whatever the handler behind it would print, and nearly everything while the
// server stops: its services then complain of each other's absence, at every level.
type atLeastWarn struct {
	slog.Handler
	*serverState
}

const stopFailed = "Failed to stop service"

func (h atLeastWarn) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h atLeastWarn) Handle(ctx context.Context, r slog.Record) error {
	if h.stopping.Load() && r.Message != stopFailed {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h atLeastWarn) WithAttrs(a []slog.Attr) slog.Handler {
	return atLeastWarn{h.Handler.WithAttrs(a), h.serverState}
}

func (h atLeastWarn) WithGroup(name string) slog.Handler {
	return atLeastWarn{h.Handler.WithGroup(name), h.serverState}
}
