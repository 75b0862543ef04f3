package toolbox

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// lineLogger logs what a child writes to its standard error, line by line.
type lineLogger struct {
	logger *slog.Logger
	mu     sync.Mutex
	rest   []byte
}

const maxLogLine = 8 << 10

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
}

func (l *lineLogger) log(line []byte) {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "�")); text != "" {
		l.logger.Info("MCP server says", "line", text)
	}
}
