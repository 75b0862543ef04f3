package toolbox

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// maxLine limits a message of a child. A longer one is skipped; a child that has not ended it
// after maxSkipped is ended itself.
const (
	maxLine    = 16 << 20
	maxSkipped = 16 * maxLine
)

var (
	errTooLong  = fmt.Errorf("the answer has more than %d MiB", maxLine>>20)
	errNameless = fmt.Errorf("an answer of more than %d MiB does not say what it answers", maxLine>>20)
)

// childLines are the messages of a child as mcp-go reads them. A message that is too long is
// replaced by a failure of the request that it answers, or of all running requests if its
// request is not known. So is an error without an ID, which mcp-go would drop. The stream ends
// with the child's output, without an error that mcp-go would log.
type childLines struct {
	p      *process
	in     *bufio.Reader
	rest   []byte
	logger *slog.Logger
	// seal marks our own failures; a child cannot know it.
	seal string

	mu       sync.Mutex
	inFlight map[string]int // by the JSON of their IDs
}

func newChildLines(p *process, logger *slog.Logger) *childLines {
	return &childLines{p: p, in: bufio.NewReaderSize(p.stdout, 64<<10), logger: logger, seal: rand.Text(), inFlight: map[string]int{}}
}

// begin registers a request until done is called.
func (r *childLines) begin(id mcp.RequestId) (done func()) {
	raw, err := json.Marshal(id)
	if err != nil { // a number or a text
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight[string(raw)]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.inFlight[string(raw)]--; r.inFlight[string(raw)] == 0 {
			delete(r.inFlight, string(raw))
		}
	}
}

// problem is why an answer of the child was not read, or nil.
func (r *childLines) problem(resp *transport.JSONRPCResponse) error {
	if resp == nil || resp.Error == nil || resp.Error.Data != any(r.seal) {
		return nil
	}
	if resp.Error.Message == errTooLong.Error() {
		return errTooLong
	}
	return errors.New(resp.Error.Message)
}

func (r *childLines) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil && len(line) == 0 {
			return 0, io.EOF
		}
		r.rest = line
	}
	n := copy(b, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) == 0 {
		r.rest = nil // it may be large
	}
	return n, nil
}

func (r *childLines) line() (line []byte, err error) {
	for {
		var piece []byte
		piece, err = r.in.ReadSlice('\n')
		line = append(line, piece...)
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case len(line) > maxLine+1:
			return r.skip(line, full)
		case !full:
			return r.attribute(line), err
		}
	}
}

// skip reads the rest of a line that is too long, and returns its replacement.
func (r *childLines) skip(begun []byte, more bool) ([]byte, error) {
	var s headScanner
	s.write(begun)
	var err error
	for size := len(begun); more; {
		var piece []byte
		piece, err = r.in.ReadSlice('\n')
		s.write(piece)
		more = errors.Is(err, bufio.ErrBufferFull)
		if size += len(piece); size > maxSkipped {
			r.p.signal(syscall.SIGKILL)
			return nil, io.EOF
		}
	}
	r.logger.Warn("a message of an MCP server was too long", "limit_mib", maxLine>>20, "id", string(s.id), "method", string(s.method))
	return r.replacement(s), err
}

// replacement replaces a skipped message: nothing for a notification, an unknown request for a
// request, and a failure for an answer.
func (r *childLines) replacement(s headScanner) []byte {
	switch {
	case s.method != nil && s.id == nil:
		return nil
	case s.method != nil:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"too/long"}`+"\n", s.id)
	case s.id != nil:
		return r.failure(s.id, errTooLong)
	}
	return r.failAll(errNameless)
}

// attribute returns a message with the ID of its request. An error without one fails all
// running requests.
func (r *childLines) attribute(line []byte) []byte {
	message, ok := namelessError(line)
	if !ok {
		return line
	}
	return r.failAll(fmt.Errorf("the server could not read a request: %.300s", message))
}

func (r *childLines) failAll(err error) (lines []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.inFlight {
		lines = append(lines, r.failure([]byte(id), err)...)
	}
	return lines
}

func (r *childLines) failure(id []byte, err error) []byte {
	text, _ := json.Marshal(err.Error()) // a string can be encoded
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s,"data":%q}}`+"\n", id, mcp.INTERNAL_ERROR, text, r.seal)
}

// headScanner finds the ID and the method of a message without storing it.
type headScanner struct {
	depth             int
	inString, escaped bool
	text              []byte // of the scalar or the name that is being read
	name              string
	id, method        []byte // JSON; nil is none
}

// maxHead is the maximum length of a name, an ID or a method.
const maxHead = 256

func (s *headScanner) write(p []byte) {
	for _, c := range p {
		if s.inString {
			s.inside(c)
		} else {
			s.outside(c)
		}
	}
}

func (s *headScanner) inside(c byte) {
	s.keep(c)
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
	}
}

func (s *headScanner) outside(c byte) {
	switch c {
	case '{', '[':
		s.depth++
	case '}', ']':
		if s.depth == 1 {
			s.member()
		}
		s.depth--
	case ',':
		if s.depth == 1 {
			s.member()
		}
	case ':':
		if s.depth == 1 {
			s.name, s.text = string(s.text), nil
		}
	case ' ', '\t', '\r', '\n':
	default:
		s.keep(c)
		s.inString = c == '"'
	}
}

// keep stores scalars at the top level of the message.
func (s *headScanner) keep(c byte) {
	if s.depth == 1 && len(s.text) <= maxHead {
		s.text = append(s.text, c)
	}
}

// member handles a complete member of the message.
func (s *headScanner) member() {
	value := s.text
	name := s.name
	s.name, s.text = "", nil
	if len(value) == 0 || len(value) > maxHead || !json.Valid(value) || string(value) == "null" {
		return
	}
	switch name {
	case `"id"`:
		s.id = value
	case `"method"`:
		s.method = value
	}
}
