package filesystem

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

const (
	tempPrefix, tempSuffix = ".mcp-filesystem-", ".tmp"

	newFileMode   fs.FileMode = 0o644
	newFolderMode fs.FileMode = 0o755
)

func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// tempFile is a temporary file beside the file that it will replace.
type tempFile struct {
	dir  *os.Root // the folder of the file, which remains valid when a parent folder is renamed
	name string
	temp *os.File
	path string      // name of temp in dir
	mode fs.FileMode // of a new file
	old  fs.FileInfo // nil for a new file
	sync bool
}

// replace writes the output of fill into a temporary file and renames it to rel. Missing
// folders are created. An existing file keeps its mode, without setuid and setgid, and, if
// permitted, its owner. A file without write permission is refused. mode is for a new file.
// With sync the file and its name are on the disk before replace returns.
func (r *root) replace(rel string, mode fs.FileMode, sync bool, fill func(io.Writer) error) error {
	return r.put(rel, mode, sync, fill, (*tempFile).rename)
}

// create is replace for a name that must not exist. Readers see no file or the complete file.
// An existing name gives fs.ErrExist.
func (r *root) create(rel string, fill func(io.Writer) error) error {
	return r.put(rel, newFileMode, true, fill, (*tempFile).link)
}

func (r *root) put(rel string, mode fs.FileMode, sync bool, fill func(io.Writer) error, finish func(*tempFile) error) error {
	dir, err := r.makeFolder(path.Dir(rel))
	if err != nil {
		return err
	}
	defer dir.Close()
	next := &tempFile{dir: dir, name: path.Base(rel), path: tempName(), mode: mode, sync: sync}
	if err := next.open(); err != nil {
		return err
	}
	err = errors.Join(fill(next.temp), next.complete(), next.temp.Close())
	if err == nil {
		err = finish(next)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(next.path))
	}
	if sync {
		syncFolder(dir)
	}
	return nil
}

// syncFolder ignores errors, because not every file system supports it.
func syncFolder(dir *os.Root) {
	if folder, err := dir.Open("."); err == nil {
		_ = folder.Sync()
		folder.Close()
	}
}

func (p *tempFile) rename() error { return p.dir.Rename(p.path, p.name) }

func (p *tempFile) link() error {
	err := p.dir.Link(p.path, p.name)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) { // the file system has no hard links
		return p.reserveName()
	}
	if err != nil {
		return err
	}
	return p.dir.Remove(p.path)
}

// reserveName is the fallback without hard links. For a moment the file exists and is empty.
func (p *tempFile) reserveName() error {
	file, err := p.dir.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.mode)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), p.rename())
}

// makeFolder opens a folder of the root and creates missing folders of its path.
func (r *root) makeFolder(rel string) (*os.Root, error) {
	if err := r.dir.MkdirAll(rel, newFolderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openFolder(r.dir, rel)
}

// openFolder never blocks: because of the dot, opening a FIFO fails.
func openFolder(dir *os.Root, name string) (*os.Root, error) { return dir.OpenRoot(name + "/.") }

func (p *tempFile) open() (err error) {
	file, info, err := openFile(p.dir, p.name, os.O_WRONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		file.Close()
		p.old, p.mode = info, 0o600 // until complete, so that it never has more permissions than the old file
	}
	p.temp, err = p.dir.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.mode)
	return err
}

func (p *tempFile) complete() error {
	if p.old != nil {
		if owner, ok := p.old.Sys().(*syscall.Stat_t); ok {
			_ = p.temp.Chown(int(owner.Uid), int(owner.Gid)) // only permitted for the superuser
		}
		if err := p.temp.Chmod(p.old.Mode().Perm()); err != nil {
			return err
		}
	}
	if p.sync {
		return p.temp.Sync()
	}
	return nil
}
