package tasklog

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// maxClaims bounds how many workers of one host share a directory.
const maxClaims = 100

// Claim opens a file in a directory that several workers use. It takes over the file of a
// worker of the same host that has died; a lock, which ends with its process, shows that. Files
// of other hosts are not taken over, because locks on network disks are not reliable.
func Claim(dir, host string, logger *slog.Logger) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w", dir, err)
	}
	for n := range maxClaims {
		path := filepath.Join(dir, fmt.Sprintf("tasks-%s-%d.log", host, n))
		lock := flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ours, err := lock.TryLock()
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock %s: %w", path, err)
		case !ours:
			continue
		}
		l, err := Open(path, logger)
		if err != nil {
			_ = lock.Unlock()
			return nil, err
		}
		l.unlock = lock.Unlock
		return l, nil
	}
	return nil, fmt.Errorf("%d workers use %s already", maxClaims, dir)
}
