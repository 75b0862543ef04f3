package toolbox

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/activities/mask"
)

// lineLogger logs a child's standard error line by line, a limited number of lines per second,
// and the number of those that were dropped.
type lineLogger struct {
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

func (l *lineLogger) Write(b []byte) (int, error) {
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

func (l *lineLogger) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log(l.rest)
	l.rest = nil
	if l.second != nil {
		l.second.Stop()
		l.next()
	}
}

func (l *lineLogger) log(line []byte) {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "�")); text != "" && l.mayLog() {
		l.logger.Info("MCP server says", "line", l.mask.Excerpt(text))
	}
}

// mayLog counts a line. The mutex is held.
func (l *lineLogger) mayLog() bool {
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
func (l *lineLogger) next() {
	if left := l.said - linesPerSec; left > 0 {
		l.logger.Warn("MCP server says too much, lines were left out", "lines", left)
	}
	l.said, l.second = 0, nil
}
