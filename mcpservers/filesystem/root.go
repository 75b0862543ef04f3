package filesystem

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// root is one configured folder. Paths below it are relative and slash-separated, without links
// and without "..". The folder itself is ".".
type root struct {
	name      string
	allowed   []string // sorted
	dir       *os.Root
	hostPaths []string // absolute paths of the folder on this machine, the real one last
}

func openRoot(config RootConfig) (*root, error) {
	absolute, err := filepath.Abs(config.Path)
	if err != nil {
		return nil, fmt.Errorf("open root %s: %w", config.Name, err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, fmt.Errorf("open root %s: %w", config.Name, err)
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open root %s: %w", config.Name, err)
	}
	allowed := slices.Clone(config.AllowedTools)
	if slices.Contains(allowed, "*") {
		allowed = slices.Clone(gatedTools)
	}
	slices.Sort(allowed)
	return &root{name: config.Name, allowed: slices.Compact(allowed), dir: dir, hostPaths: []string{absolute, real}}, nil
}

func (r *root) allows(tool string) bool { return slices.Contains(r.allowed, tool) }

// hostPath returns the path on this machine. It is a key for locks and for comparing paths of
// overlapping roots, and is never returned to callers.
func (r *root) hostPath(rel string) string {
	return filepath.Join(r.hostPaths[len(r.hostPaths)-1], filepath.FromSlash(rel))
}

// maxParts is the maximum depth of a path. A walk keeps one folder open for each part.
const maxParts = 256

// clean converts a path as the caller wrote it into one relative to the root. It does not
// follow links; resolve does.
func clean(given string) (string, error) {
	if strings.ContainsRune(given, 0) {
		return "", errNullByte
	}
	rel := path.Clean(strings.TrimLeft(given, "/"))
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", errOutside
	}
	if strings.Count(rel, "/") >= maxParts {
		return "", errTooDeep
	}
	return rel, nil
}

// openFile opens a regular file with flags. It never blocks: FIFOs and devices are detected
// before and after opening.
func (r *root) openFile(rel string, flags int) (*os.File, fs.FileInfo, error) {
	return openFile(r.dir, rel, flags)
}

func openFile(dir *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if err == nil {
		err = checkFile(info)
	}
	if err != nil {
		return nil, nil, err
	}
	return openAndCheck(dir, name, flags)
}

// openAndCheck is openFile for a name that was a regular file or a link when it was last checked.
func openAndCheck(dir *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	file, err := dir.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkFile(info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// checkFile accepts links, because the opened file is checked again.
func checkFile(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return errSpecial
	}
	return nil
}
