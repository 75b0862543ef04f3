package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Prune removes all but the newest copies, and the contents that no copy refers to. It returns the
// names of the removed copies.
func Prune(dir string, keep int) (removed []string, err error) {
	unlock, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	names, err := list(dir)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for i, name := range names {
		if i < len(names)-keep {
			if err := remove(dir, name); err != nil {
				return removed, err
			}
			removed = append(removed, name)
			continue
		}
		c, err := read(filepath.Join(dir, name))
		if err != nil {
			return removed, err // its contents are not known
		}
		for _, list := range [][]File{c.Files, c.Values} {
			for _, f := range list {
				used[c.pool().path(f.SHA256)] = true
			}
		}
	}
	return removed, sweep(filepath.Join(dir, poolFolder), used)
}

// remove removes a copy. If that is interrupted, what is left is no copy any more.
func remove(dir, name string) error {
	gone := filepath.Join(dir, name+unfinished)
	if err := os.Rename(filepath.Join(dir, name), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

func sweep(dir string, used map[string]bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || used[path] {
			return err
		}
		return os.Remove(path)
	})
}
