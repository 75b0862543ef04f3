package filesystem

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
)

// found is one entry met on a walk.
type found struct {
	rel   string   // relative to where the walk began
	dir   *os.Root // the folder it is in; closed when the walk leaves it
	entry fs.DirEntry
}

// walk goes through everything below a folder of a root, by name, folders before
// what is in them, and never through a link.
type walk struct {
	ctx        context.Context
	depth      int // separators in the relative path of the deepest folder to enter; -1 for no end
	visit      func(found) error
	leave      func() error // called before a folder is closed; nil for nothing
	unreadable int          // folders that could not be read, or are too deep
}

// in walks a folder that the walker does not close. The error is that of visit
// or of ctx, or says that the folder itself cannot be read.
func (w *walk) in(dir *os.Root, rel string) error {
	entries, err := readFolder(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		at := found{rel: path.Join(rel, entry.Name()), dir: dir, entry: entry}
		if err := w.visit(at); err != nil {
			return err
		}
		if err := w.enter(at); err != nil {
			return err
		}
	}
	if w.leave == nil {
		return nil
	}
	return w.leave()
}

func (w *walk) enter(at found) error {
	if !at.entry.IsDir() || w.depth >= 0 && strings.Count(at.rel, "/") > w.depth {
		return nil
	}
	if strings.Count(at.rel, "/") >= maxParts {
		w.unreadable++
		return nil
	}
	dir, err := openFolder(at.dir, at.entry.Name())
	if err != nil {
		w.unreadable++
		return nil
	}
	defer dir.Close()
	if err := w.in(dir, at.rel); err != nil {
		if bare(err) != err { // of the system, not of visit
			w.unreadable++
			return nil
		}
		return err
	}
	return nil
}
