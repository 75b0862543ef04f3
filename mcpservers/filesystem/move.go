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
	from, err := c.parentResolved("source_root", "source_path")
	if err != nil {
		return nil, err
	}
	to, err := c.parentResolved("dest_root", "dest_path")
	if err != nil {
		return nil, err
	}
	if err := to.reserved(); err != nil {
		return nil, err
	}
	if from.rel == "." || to.rel == "." {
		return nil, errors.New("cannot move root directory")
	}
	info, err := from.root.dir.Lstat(from.rel)
	if err != nil {
		return nil, describe(err, "source file not found", from.given)
	}
	if info.IsDir() && from.host() != to.host() && inside(to.host(), from.host()) {
		return nil, fmt.Errorf("cannot move a directory into itself: %s", to.given)
	}
	release, err := c.locks.take(ctx, from.host(), to.host())
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
		return l.carryTo(ctx, to, limit)
	}
	if err = l.root.dir.Rename(l.rel, to.rel); errors.Is(err, syscall.EXDEV) {
		return l.carryTo(ctx, to, limit)
	}
	return to.occupied(err)
}

// sameFile handles a destination that is the same file as the source. Renaming would do
// nothing, and copying would lose the file. Of two hard links the source is removed. For one
// path reached through two roots nothing is done.
func (l location) sameFile(to location) (same bool, err error) {
	if l.host() == to.host() {
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

// occupied adds the path of the destination to an error of a rename that is about it.
func (l location) occupied(err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("destination exists as a directory: %s", l.given)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%v: %s", errNotFolder, l.given)
	}
	return err
}

// carryTo copies to a temporary name beside the destination first. The destination is then
// replaced atomically, and the source is removed only after everything has been copied.
func (l location) carryTo(ctx context.Context, to location, limit int64) error {
	beside := to
	beside.rel = path.Join(path.Dir(to.rel), tempName())
	job := copier{ctx: ctx, locks: new(locks), from: l, to: beside, limit: limit}
	err := job.copy()
	if err == nil && len(job.skipped) > 0 {
		err = fmt.Errorf("cannot move to another root: %s has links or special files that have to stay, such as %s", l.given, job.skipped[0])
	}
	if err == nil {
		err = to.occupied(to.root.dir.Rename(beside.rel, to.rel))
	}
	if err != nil {
		return errors.Join(err, to.root.dir.RemoveAll(beside.rel))
	}
	return l.root.dir.RemoveAll(l.rel)
}
