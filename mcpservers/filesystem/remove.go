package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

type removeResult struct {
	Path    string `json:"path"`
	Removed bool   `json:"removed"`
}

// removeFile removes anything except a folder. A link is removed, not its target.
func removeFile(ctx context.Context, c call) (any, error) {
	at, err := c.parentLocation("root", "path")
	if err != nil {
		return nil, err
	}
	release, err := c.locks.acquire(ctx, at.hostPath())
	if err != nil {
		return nil, err
	}
	defer release()
	info, err := at.root.dir.Lstat(at.rel)
	if err != nil {
		return nil, describe(err, "file not found", at.given)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("path is a directory, use remove_folder instead: %s", at.given)
	}
	if err := at.root.dir.Remove(at.rel); err != nil {
		return nil, describe(err, "file not found", at.given)
	}
	return removeResult{Path: at.given, Removed: true}, nil
}

func removeFolder(ctx context.Context, c call) (any, error) {
	at, err := c.parentLocation("root", "path")
	if err != nil {
		return nil, err
	}
	if at.rel == "." {
		return nil, errors.New("cannot remove root directory")
	}
	info, err := at.root.dir.Lstat(at.rel)
	switch {
	case err != nil:
		return nil, describe(err, "directory not found", at.given)
	case info.Mode().Type() == fs.ModeSymlink:
		return nil, fmt.Errorf("path is a symbolic link, use remove_file instead: %s", at.given)
	case !info.IsDir():
		return nil, fmt.Errorf("path is a file, use remove_file instead: %s", at.given)
	}
	if err := removeTree(ctx, at.root.dir, at.rel); err != nil {
		return nil, describe(err, "directory not found", at.given)
	}
	return removeResult{Path: at.given, Removed: true}, nil
}

// removeTree is os.Root.RemoveAll with a context, which is checked between the entries of the
// top folder.
func removeTree(ctx context.Context, dir *os.Root, rel string) error {
	entries, err := readFolder(dir, rel)
	if err != nil {
		return dir.RemoveAll(rel)
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := dir.RemoveAll(path.Join(rel, entry.Name())); err != nil {
			return err
		}
	}
	return dir.RemoveAll(rel)
}
