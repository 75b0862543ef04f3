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

// serverLog is the server's logger. It passes warnings and errors to the logger of Options and
// drops the rest.
type serverLog struct {
	out  *slog.Logger
	tags []tag.Tag // of With: the server adds some for each request, and nearly none is logged
	*serverState
}

type serverState struct {
	stopping atomic.Bool            // from now on only a failure to stop is logged
	fatal    atomic.Pointer[string] // message of the first call of Fatal
}

// expected are the beginnings of warnings that do not matter to an operator.
var expected = []string{
	"HTTP API port has not been set",                // intended: one listener less
	"GetHistory page size is larger than threshold", // the Web UI asks for pages above the maximum
}

var (
	_ log.Logger      = serverLog{}
	_ log.WithLogger  = serverLog{}
	_ log.SLogWrapper = serverLog{}
)

func newServerLog(out *slog.Logger) serverLog {
	state := &serverState{}
	return serverLog{out: slog.New(atLeastWarn{out.Handler(), state}).With("component", "temporal"), serverState: state}
}

func (serverLog) Debug(string, ...tag.Tag) {}
func (serverLog) Info(string, ...tag.Tag)  {}

func (l serverLog) Warn(msg string, tags ...tag.Tag) {
	if !slices.ContainsFunc(expected, func(start string) bool { return strings.HasPrefix(msg, start) }) {
		l.out.Warn(msg, l.attrs(tags)...)
	}
}

func (l serverLog) Error(msg string, tags ...tag.Tag)  { l.out.Error(msg, l.attrs(tags)...) }
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.out.Error(msg, l.attrs(tags)...) }

func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.out.Error(msg, l.attrs(tags)...)
	panic(msg)
}

// Fatal must neither return nor end the process, so it ends the goroutine. During a start its
// message becomes the error of Start.
func (l serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.out.Error(msg, l.attrs(tags)...)
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
	return serverLog{l.out, slices.Concat(l.tags, tags), l.serverState}
}

// SLog implements log.SLogWrapper, for the SDK inside the server.
func (l serverLog) SLog() *slog.Logger { return l.out.With(l.attrs(nil)...) }

// attrs returns the tags of the logger and those of a message.
func (l serverLog) attrs(tags []tag.Tag) []any {
	out := make([]any, 0, len(l.tags)+len(tags))
	for _, of := range [][]tag.Tag{l.tags, tags} {
		for _, t := range of {
			out = append(out, slog.Any(t.Key(), t.Value()))
		}
	}
	return out
}

// atLeastWarn drops records below warning level, regardless of the handler's own level. While
// the server stops it drops nearly everything: the services log each other's absence at every
// level.
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
