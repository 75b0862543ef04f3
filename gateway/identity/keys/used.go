package keys

import (
	"log/slog"
	"sync"
	"time"
)

// noteEvery is how exact the time of the last use is: it is written at most once in this time
// for each key.
const noteEvery = time.Minute

// usage notes when keys were used, in a file beside theirs that nothing depends on.
type usage struct {
	path    string
	logger  *slog.Logger
	writers sync.WaitGroup

	mu      sync.Mutex
	noted   map[string]time.Time
	writing bool
	failed  bool
	closed  bool
}

func usedFile(path string) string { return path + ".used" }

func newUsage(path string, logger *slog.Logger) *usage {
	return &usage{path: usedFile(path), logger: logger, noted: map[string]time.Time{}}
}

// note writes in the background, so that no request waits for the disk.
func (u *usage) note(name string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || at.Sub(u.noted[name]) < noteEvery {
		return
	}
	u.noted[name] = at
	if u.writing {
		return
	}
	u.writing = true
	u.writers.Go(u.write)
}

// write writes until no further use has been noted.
func (u *usage) write() {
	for {
		u.mu.Lock()
		last := make(map[string]time.Time, len(u.noted))
		for name, at := range u.noted {
			last[name] = at.UTC().Truncate(time.Second)
		}
		u.mu.Unlock()
		err := merge(u.path, last)
		if !u.again(last, err) {
			return
		}
	}
}

// close waits until everything is written. What is noted after it is lost.
func (u *usage) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.writers.Wait()
}

// again reports whether uses were noted since. A failure is logged once: the folder may be
// read-only.
func (u *usage) again(written map[string]time.Time, err error) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != nil && !u.failed {
		u.logger.Warn("the last use of keys is not noted", "error", err.Error())
	}
	u.failed = err != nil
	for name, at := range u.noted {
		if err == nil && at.Sub(written[name]) >= noteEvery {
			return true
		}
	}
	u.writing = false
	return false
}

// merge adds uses to the file, which other gateways write too.
func merge(path string, last map[string]time.Time) error {
	return locked(path, func() error {
		all, err := readTimes(path)
		if err != nil {
			all = map[string]time.Time{} // it is of no consequence
		}
		for name, at := range last {
			if at.After(all[name]) {
				all[name] = at
			}
		}
		return replace(path, all)
	})
}

// LastUsed returns when the keys of a file were used last, by name.
func LastUsed(path string) (map[string]time.Time, error) { return readTimes(usedFile(path)) }
