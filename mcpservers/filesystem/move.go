package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

type moveResult struct {
	Destination string `json:"destination"`
	Source      string `json:"source"`
}

func movePath(ctx context.Context, c call) (any, error) {
	from, err := c.parentLocation("source_root", "source_path")
	if err != nil {
		return nil, err
	}
	to, err := c.parentLocation("dest_root", "dest_path")
	if err != nil {
		return nil, err
	}
	if err := to.checkReserved(); err != nil {
		return nil, err
	}
	if from.rel == "." || to.rel == "." {
		return nil, errors.New("cannot move root directory")
	}
	info, err := from.root.dir.Lstat(from.rel)
	if err != nil {
		return nil, describe(err, "source file not found", from.given)
	}
	if info.IsDir() && from.hostPath() != to.hostPath() && isInside(to.hostPath(), from.hostPath()) {
		return nil, fmt.Errorf("cannot move a directory into itself: %s", to.given)
	}
	release, err := c.locks.acquire(ctx, from.hostPath(), to.hostPath())
	if err != nil {
		return nil, err
	}
	defer release()
	if err := from.moveTo(ctx, to, c.config.MaxCopySize); err != nil {
		return nil, describe(err, "source file not found", from.given)
	}
	return moveResult{Destination: to.given, Source: from.given}, nil
}

// moveTo renames within one file system. Otherwise it copies and removes the source.
func (l location) moveTo(ctx context.Context, to location, limit int64) error {
	dir, err := to.root.makeFolder(path.Dir(to.rel))
	if err != nil {
		return describe(err, "path is not a directory", to.given)
	}
	dir.Close()
	if same, err := l.sameFile(to); same {
		return err
	}
	if l.root != to.root {
		return l.copyAndRemove(ctx, to, limit)
	}
	if err = l.root.dir.Rename(l.rel, to.rel); errors.Is(err, syscall.EXDEV) {
		return l.copyAndRemove(ctx, to, limit)
	}
	return to.destinationError(err)
}

// sameFile handles a destination that is the same file as the source. Renaming would do
// nothing, and copying would lose the file. Of two hard links the source is removed. For one
// path reached through two roots nothing is done.
func (l location) sameFile(to location) (same bool, err error) {
	if l.hostPath() == to.hostPath() {
		return true, nil
	}
	from, err := l.root.dir.Lstat(l.rel)
	if err != nil {
		return false, nil
	}
	target, err := to.root.dir.Lstat(to.rel)
	if err != nil || from.IsDir() || !os.SameFile(from, target) {
		return false, nil
	}
	if system, ok := from.Sys().(*syscall.Stat_t); !ok || system.Nlink < 2 {
		return false, nil // the same name in a different spelling, such as another case
	}
	return true, l.root.dir.Remove(l.rel)
}

// destinationError adds the path of the destination to an error of a rename that is about it.
func (l location) destinationError(err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("destination exists as a directory: %s", l.given)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%v: %s", errNotFolder, l.given)
	}
	return err
}

// copyAndRemove copies to a temporary name beside the destination first. The destination is then
// replaced atomically, and the source is removed only after everything has been copied.
func (l location) copyAndRemove(ctx context.Context, to location, limit int64) error {
	beside := to
	beside.rel = path.Join(path.Dir(to.rel), tempName())
	job := copier{ctx: ctx, locks: new(fileLocks), from: l, to: beside, limit: limit}
	err := job.copy()
	if err == nil && len(job.skipped) > 0 {
		err = fmt.Errorf("cannot move to another root: %s has links or special files that have to stay, such as %s", l.given, job.skipped[0])
	}
	if err == nil {
		err = to.destinationError(to.root.dir.Rename(beside.rel, to.rel))
	}
	if err != nil {
		return errors.Join(err, to.root.dir.RemoveAll(beside.rel))
	}
	return l.root.dir.RemoveAll(l.rel)
}
