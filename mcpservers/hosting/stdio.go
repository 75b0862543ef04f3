package hosting

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// ServeStdio speaks MCP, one JSON message per line, until options.Stdin ends or
// ctx does. What was read before the end is still answered within options.Grace.
// One process can serve one stdio client; its session lasts as long.
func ServeStdio(ctx context.Context, options Options, s *server.MCPServer) error {
	options = options.filled()
	open := newPending()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	grace := func() {
		limited, cancel := context.WithTimeout(serving, options.Grace)
		defer cancel()
		open.wait(limited)
	}
	defer context.AfterFunc(ctx, func() { grace(); stop() })()
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(slog.NewLogLogger(options.Log.Handler(), slog.LevelWarn))
	session := &Session{"stdio", NewMemoryStore()}
	if err := session.store.Create(ctx, session.id, time.Now()); err != nil {
		return err
	}
	in := &stdioReader{lines: bufio.NewReader(options.Stdin), limit: options.MaxBody, log: options.Log, open: open, atEnd: grace}
	err := stdio.Listen(withSession(serving, session), in, &stdioWriter{options.Stdout, open})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

type stdioReader struct {
	lines *bufio.Reader
	limit int64 // bytes of a line
	log   *slog.Logger
	rest  []byte
	open  *pending
	atEnd func()
}

func (r *stdioReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		line, err := r.line()
		if err != nil && len(line) == 0 {
			r.atEnd()
			return 0, err
		}
		if err != nil && line[len(line)-1] != '\n' {
			line = append(line, '\n') // mcp-go ignores a last line without an end
		}
		r.open.asked(line)
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads one line. Of one that is too long nothing is kept: what stands for
// it is no JSON, so that mcp-go answers with a parse error.
func (r *stdioReader) line() (line []byte, err error) {
	tooLong := false
	for {
		var piece []byte
		piece, err = r.lines.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(piece)) > r.limit; tooLong {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if tooLong {
		r.log.Warn("a line of the input is too long", "limit", size(r.limit))
		line = []byte("too long\n")
	}
	return line, err
}

type stdioWriter struct {
	out  io.Writer
	open *pending
}

// Write gets one whole message at a time: mcp-go writes each with one call.
func (w *stdioWriter) Write(line []byte) (int, error) {
	n, err := w.out.Write(line)
	w.open.answered(line)
	return n, err
}
