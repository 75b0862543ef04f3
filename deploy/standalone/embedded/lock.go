package embedded

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/gofrs/flock"
)

const lockFile = "agent.lock"

// held keeps locks reachable. Otherwise the garbage collector would close the file, and so
// release the lock, of a running server whose caller has dropped its reference.
var held sync.Map

// RestoreFile is in a data directory while a backup is restored to it. No server starts there.
const RestoreFile = "restore.unfinished"

// Lock creates a data directory if it is missing, and locks it until unlock is called.
func Lock(dir string) (unlock func() error, err error) { return lockDir(dir) }

// lockDir creates the directory if it is missing, checks that it is writable, and locks it
// until the returned function is called. The kernel releases the lock when the process ends for
// any reason; the file stays.
func lockDir(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory %s: %w", dir, err)
	}
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ours, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("data directory %s is not writable: %w", dir, err)
	}
	if !ours {
		return nil, fmt.Errorf("data directory %s is in use by another agent (pid %s)", dir, holder(path))
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		_ = lock.Unlock()
		return nil, fmt.Errorf("data directory %s is not writable: %w", dir, err)
	}
	held.Store(lock, nil)
	return func() error {
		defer held.Delete(lock)
		return lock.Unlock()
	}, nil
}

// holder returns the process ID in the lock file. The process may not have written it yet.
func holder(path string) string {
	b, _ := os.ReadFile(path)
	return cmp.Or(string(bytes.TrimSpace(b)), "unknown")
}
