package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

type copyResult struct {
	Destination string   `json:"destination"`
	IsDirectory bool     `json:"is_directory"`
	Size        *int64   `json:"size,omitempty"`    // files only
	Skipped     []string `json:"skipped,omitempty"` // paths in the source that were not copied
	Source      string   `json:"source"`
}

func copyPath(ctx context.Context, c call) (any, error) {
	from, err := c.resolvedLocation("source_root", "source_path", "")
	if err != nil {
		return nil, err
	}
	to, err := c.writableLocation("dest_root", "dest_path")
	if err != nil {
		return nil, err
	}
	info, err := from.root.dir.Lstat(from.rel)
	if err != nil {
		return nil, describe(err, "source file not found", from.given)
	}
	result := copyResult{Source: from.given, Destination: to.given, IsDirectory: info.IsDir()}
	if info.IsDir() && isInside(to.hostPath(), from.hostPath()) {
		return nil, fmt.Errorf("cannot copy a directory into itself: %s", to.given)
	}
	job := copier{ctx: ctx, locks: &c.locks, from: from, to: to, limit: c.config.MaxCopySize}
	if err := job.copy(); err != nil {
		return nil, describe(err, "source file not found", from.given)
	}
	result.Skipped = job.skipped
	if !info.IsDir() {
		result.Size = &job.size
	}
	return result, nil
}

// copier copies one path, with everything below it, to another.
type copier struct {
	ctx      context.Context
	locks    *fileLocks
	from, to location
	limit    int64 // maximum of size
	size     int64 // of the files copied so far
	skipped  []string
	folders  []createdFolder
}

type createdFolder struct {
	rel  string
	mode fs.FileMode
}

func (c *copier) copy() error {
	info, err := c.from.root.dir.Lstat(c.from.rel)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() == fs.ModeSymlink:
		return c.link(c.from.rel, c.to.rel, ".")
	case !info.IsDir():
		return c.file(c.from.rel, c.to.rel)
	}
	dir, err := openFolder(c.from.root.dir, c.from.rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := c.folder(c.to.rel, info.Mode()); err != nil {
		return err
	}
	unreadable, err := walk(c.ctx, dir, -1, func(rel string, _ fs.DirEntry) error { return c.visit(dir, rel) })
	if err != nil {
		return err
	}
	if unreadable > 0 {
		return fmt.Errorf("%d directories in the source cannot be read: %s", unreadable, c.from.given)
	}
	return c.finishFolders()
}

func (c *copier) visit(dir *os.Root, rel string) error {
	source, target := path.Join(c.from.rel, rel), path.Join(c.to.rel, rel)
	info, err := dir.Lstat(rel)
	switch {
	case err != nil:
	case info.IsDir():
		err = c.folder(target, info.Mode())
	case info.Mode().IsRegular():
		err = c.file(source, target)
	case info.Mode().Type() == fs.ModeSymlink:
		err = c.link(source, target, rel)
	default:
		c.skipped = append(c.skipped, rel)
	}
	return describe(err, "source file not found", path.Join(c.from.given, rel))
}

// folder creates a writable folder. finishFolders sets its mode at the end.
func (c *copier) folder(target string, mode fs.FileMode) error {
	above, err := c.to.root.makeFolder(path.Dir(target))
	if err != nil {
		return c.targetError(err)
	}
	defer above.Close()
	name := path.Base(target)
	switch err = above.Mkdir(name, newFolderMode); {
	case err == nil:
		c.folders = append(c.folders, createdFolder{target, mode.Perm()})
	case errors.Is(err, fs.ErrExist):
		var info fs.FileInfo
		if info, err = above.Stat(name); err == nil && !info.IsDir() {
			err = errNotFolder
		}
	}
	return c.targetError(err)
}

func (c *copier) finishFolders() error {
	for _, created := range slices.Backward(c.folders) {
		if err := c.to.root.dir.Chmod(created.rel, created.mode); err != nil {
			return c.targetError(err)
		}
	}
	return nil
}

func (c *copier) file(source, target string) error {
	file, info, err := c.from.root.openFile(source, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer file.Close()
	if info.Size() > c.limit-c.size {
		return c.tooLarge()
	}
	release, err := c.locks.acquire(c.ctx, c.to.root.hostPath(target))
	if err != nil {
		return err
	}
	defer release()
	err = c.to.root.replace(target, info.Mode().Perm(), false, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(cancellable{c.ctx, file}, c.limit-c.size+1))
		if c.size += n; c.size > c.limit {
			return c.tooLarge()
		}
		return err
	})
	return c.targetError(err)
}

func (c *copier) tooLarge() error {
	return fmt.Errorf("too large to copy (limit: %s): %s", sizeText(c.limit), c.from.given)
}

// link copies a symbolic link as a link if its target is inside both roots, and skips it
// otherwise.
func (c *copier) link(source, target, rel string) error {
	text, err := c.from.root.dir.Readlink(source)
	if err != nil {
		return err
	}
	_, err = c.from.root.resolve(source)
	inTarget := path.Join(path.Dir(target), filepath.ToSlash(text))
	if err != nil || filepath.IsAbs(text) || inTarget == ".." || strings.HasPrefix(inTarget, "../") {
		c.skipped = append(c.skipped, rel)
		return nil
	}
	err = c.to.root.dir.Symlink(text, target)
	if errors.Is(err, fs.ErrExist) {
		temp := path.Join(path.Dir(target), tempName())
		if err = c.to.root.dir.Symlink(text, temp); err == nil {
			err = c.to.root.dir.Rename(temp, target)
		}
	}
	return c.targetError(err)
}

// targetError adds the path of the destination to an error of the destination.
func (c *copier) targetError(err error) error {
	return describe(err, "path is not a directory", c.to.given)
}
