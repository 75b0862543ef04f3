package tasklog

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// A longer file is rewritten once most of its records are obsolete.
const (
	tidySize  = 256 << 10
	tidyShare = 4
)

// Log is the file of one worker. It is safe for concurrent use. A nil Log records nothing.
type Log struct {
	path   string
	logger *slog.Logger
	unlock func() error

	mu     sync.Mutex
	file   *os.File
	size   int64
	least  int64 // the size after the last rewrite
	torn   bool  // the last line may be incomplete
	failed bool  // the last write failed, which was logged
	last   int64 // number
	held   map[string]task
	sticky map[string]bool
	poller string // identity
	id     string
	// Of the previous process:
	lostTasks   []task
	staleQueues []string // sticky queues
	deadPoller  string   // identity
}

// Open reads the records of the previous process in a file, if there are any, and appends to
// it. Only one process may have it open. Invalid lines are skipped: a kill may have cut the
// last one.
func Open(path string, logger *slog.Logger) (*Log, error) {
	l := &Log{path: path, logger: logger, held: map[string]task{}, sticky: map[string]bool{}, unlock: func() error { return nil }}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the tasks of the process before: %w", err)
	}
	l.read(text)
	l.deadPoller = l.poller
	if l.id == "" {
		l.id = rand.Text()
	}
	if err := l.rewrite(); err != nil {
		return nil, err
	}
	l.lostTasks = slices.SortedFunc(maps.Values(l.held), func(a, b task) int { return int(a.number - b.number) })
	l.staleQueues = slices.Sorted(maps.Keys(l.sticky))
	return l, nil
}

func (l *Log) read(text []byte) {
	byNumber := map[int64]task{}
	for line := range bytes.Lines(text) {
		var r record
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		switch {
		case r.Held > 0:
			byNumber[r.Held] = r.task()
			l.last = max(l.last, r.Held)
		case r.Poller != "":
			l.poller = r.Poller
		case r.ID != "":
			l.id = r.ID
		case r.Sticky != "":
			l.sticky[r.Sticky] = true
		case r.Gone != "":
			delete(l.sticky, r.Gone)
		default:
			delete(byNumber, r.Done)
			l.last = max(l.last, r.Done)
		}
	}
	for _, t := range byNumber {
		l.held[string(t.token)] = t
	}
}

// ID identifies the processes that use the file one after another.
func (l *Log) ID() string {
	if l == nil {
		return rand.Text()
	}
	return l.id
}

// Close closes the file. Held tasks remain recorded.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Close(), l.unlock())
}

// recordTasks writes one event: a completed task and the tasks that were taken.
func (l *Log) recordTasks(answered []byte, taken ...task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var records []record
	if t, ok := l.held[string(answered)]; ok {
		delete(l.held, string(answered))
		records = append(records, record{Done: t.number})
	}
	for _, t := range taken {
		l.last++
		t.number = l.last
		l.held[string(t.token)] = t
		records = append(records, held(t))
	}
	l.append(records...)
}

// recordPoll records the identity of the poller, and the first poll of a sticky queue.
func (l *Log) recordPoll(identity, queue string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.poller != identity {
		l.poller = identity
		l.append(record{Poller: identity})
	}
	if queue != "" && !l.sticky[queue] {
		l.sticky[queue] = true
		l.append(record{Sticky: queue})
	}
}

// recordShutdown records that a sticky queue is not polled any more.
func (l *Log) recordShutdown(queue string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sticky[queue] {
		delete(l.sticky, queue)
		l.append(record{Gone: queue})
	}
}

func (l *Log) append(records ...record) {
	if len(records) == 0 {
		return
	}
	text, err := lines(records...)
	if err == nil {
		err = l.write(text)
	}
	if err == nil && l.size > max(tidySize, tidyShare*l.least) {
		err = l.rewrite()
	}
	l.logError(err)
}

func (l *Log) write(text []byte) error {
	if l.torn {
		text = append([]byte("\n"), text...)
	}
	n, err := l.file.Write(text)
	l.size, l.torn = l.size+int64(n), err != nil
	return err
}

// logError logs the first of the errors in a row.
func (l *Log) logError(err error) {
	if err != nil && !l.failed {
		l.logger.Warn("tasks are not noted: after a kill they wait for their timeouts", "error", err)
	}
	l.failed = err != nil
}

// rewrite replaces the file by one with the current records only.
func (l *Log) rewrite() error {
	now := time.Now()
	maps.DeleteFunc(l.held, func(_ string, t task) bool { return t.expired(now) })
	records := []record{{ID: l.id}}
	for _, t := range l.held {
		records = append(records, held(t))
	}
	for queue := range l.sticky {
		records = append(records, record{Sticky: queue})
	}
	if l.poller != "" {
		records = append(records, record{Poller: l.poller})
	}
	text, err := lines(records...)
	if err != nil {
		return err
	}
	file, err := l.replace(text)
	if err != nil {
		return fmt.Errorf("write the tasks that are held: %w", err)
	}
	if l.file != nil {
		err = l.file.Close()
	}
	l.file, l.size, l.torn = file, int64(len(text)), false
	l.least = l.size
	return err
}

// replace replaces the file atomically.
func (l *Log) replace(text []byte) (*os.File, error) {
	next := l.path + ".new"
	file, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = file.Write(text); err == nil {
		err = os.Rename(next, l.path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
