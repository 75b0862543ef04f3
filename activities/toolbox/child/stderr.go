package child

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/activities/mask"
)

// Log logs a child's standard error line by line, a limited number of lines per second,
// and the number of those that were dropped.
type Log struct {
	logger *slog.Logger
	mask   *mask.Mask // for the secrets that the child was given
	mu     sync.Mutex
	rest   []byte
	said   int // lines logged in this second
	second *time.Timer
}

const (
	maxLogLine  = 8 << 10
	linesPerSec = 50
)

// NewLog returns a Log that hides the secrets of a mask.
func NewLog(logger *slog.Logger, hidden *mask.Mask) *Log { return &Log{logger: logger, mask: hidden} }

// Write never fails.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 && len(l.rest) < maxLogLine {
			return len(b), nil
		}
		if i < 0 || i > maxLogLine {
			i = maxLogLine - 1
		}
		l.log(l.rest[:i+1])
		l.rest = l.rest[i+1:]
	}
}

// Flush logs what is left, once the child has ended.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log(l.rest)
	l.rest = nil
	if l.second != nil {
		l.second.Stop()
		l.next()
	}
}

func (l *Log) log(line []byte) {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "�")); text != "" && l.mayLog() {
		l.logger.Info("MCP server says", "line", l.mask.Excerpt(text))
	}
}

// mayLog counts a line. The mutex is held.
func (l *Log) mayLog() bool {
	if l.said == 0 {
		l.second = time.AfterFunc(time.Second, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.next()
		})
	}
	l.said++
	return l.said <= linesPerSec
}

// next starts another second. The mutex is held.
func (l *Log) next() {
	if left := l.said - linesPerSec; left > 0 {
		l.logger.Warn("MCP server says too much, lines were left out", "lines", left)
	}
	l.said, l.second = 0, nil
}
