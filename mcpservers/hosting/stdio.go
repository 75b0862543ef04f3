package hosting

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// ServeStdio serves MCP, one JSON message per line, until options.Stdin or ctx ends. Requests
// that were read before are still answered within options.Grace. A process can serve one stdio
// client, with one session.
func ServeStdio(ctx context.Context, options Options, s *server.MCPServer) error {
	options = options.withDefaults()
	open := &pendingRequests{counter: newCounter(), ids: map[string]int{}}
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
	out := &stdioWriter{out: options.Stdout, open: open}
	in := &stdioReader{lines: bufio.NewReader(options.Stdin), limit: options.MaxBody, log: options.Log, open: open, out: out, atEnd: grace}
	err := stdio.Listen(withSession(serving, session), in, out)
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

type stdioReader struct {
	lines *bufio.Reader
	limit int64 // maximum size of a line
	log   *slog.Logger
	rest  []byte
	open  *pendingRequests
	out   *stdioWriter
	atEnd func()
}

// maxHead is the number of bytes that are kept of a line that is too long.
const maxHead = 4 << 10

func (r *stdioReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil && len(line) == 0 {
			r.atEnd()
			return 0, err
		}
		if len(line) == 0 {
			continue
		}
		if err != nil && line[len(line)-1] != '\n' {
			line = append(line, '\n') // mcp-go ignores a last line without newline
		}
		r.open.addRequest(line)
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads one line. A line that is too long is answered with an error, and line returns
// nothing.
func (r *stdioReader) line() (line []byte, err error) {
	var read int64
	for {
		var piece []byte
		piece, err = r.lines.ReadSlice('\n')
		if read += int64(len(piece)); read <= r.limit {
			line = append(line, piece...)
		} else {
			line = append(line, piece[:min(len(piece), max(maxHead-len(line), 0))]...)
			line = line[:min(len(line), maxHead)]
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if read <= r.limit {
		return line, err
	}
	r.log.Warn("a line of the input is too long", "limit", size(r.limit))
	if refused := r.refuse(line); err == nil {
		err = refused
	}
	return nil, err
}

// refuse answers a line that is too long. The answer has no ID if there is none at the
// beginning of the line.
func (r *stdioReader) refuse(head []byte) error {
	text, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": messageID(head), "error": map[string]any{
		"code": mcp.INVALID_REQUEST, "message": "the message is too long: the limit is " + size(r.limit),
	}})
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("refuse a line: %w", err)
	}
	return nil
}

// messageID returns the ID of a message of which only the beginning is known, nil if the ID is not
// in it.
func messageID(head []byte) any {
	dec := json.NewDecoder(bytes.NewReader(head))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value any
		if dec.Decode(&value) != nil {
			return nil
		}
		if name == "id" {
			return value
		}
	}
	return nil
}

// stdioWriter writes one message at a time.
type stdioWriter struct {
	mu   sync.Mutex
	out  io.Writer
	open *pendingRequests
}

// Write receives one complete message, because mcp-go writes each with one call.
func (w *stdioWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(line)
	w.open.removeAnswered(line)
	return n, err
}
