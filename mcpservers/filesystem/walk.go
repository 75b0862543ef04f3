package filesystem

import (
	"context"
	"io/fs"
	"os"
	"strings"
)

// tree is the [os.Root.FS] of a folder, without temporary files. Reading a folder never blocks,
// even if it has been replaced by a FIFO.
type tree struct {
	fs.FS
	dir *os.Root
}

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) { return readFolder(t.dir, name) }

// walk visits everything below a folder in order of names, folders before their contents. It
// does not follow links. A folder whose path has more than depth separators is visited but not
// entered; -1 means no limit. The result counts the folders that could not be read or are too
// deep. The error is that of visit or ctx, or of reading the first folder.
func walk(ctx context.Context, dir *os.Root, depth int, visit func(rel string, entry fs.DirEntry) error) (unreadable int, err error) {
	err = fs.WalkDir(tree{dir.FS(), dir}, ".", func(rel string, entry fs.DirEntry, err error) error {
		switch {
		case rel == ".":
			return err
		case err != nil:
			unreadable++
			return fs.SkipDir
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := visit(rel, entry); err != nil || !entry.IsDir() {
			return err
		}
		level := strings.Count(rel, "/")
		if level >= maxParts {
			unreadable++
		}
		if level >= maxParts || depth >= 0 && level > depth {
			return fs.SkipDir
		}
		return nil
	})
	return unreadable, err
}
