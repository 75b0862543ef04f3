package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gofrs/flock"
)

// serverDatabase is the database of the embedded Temporal server.
const serverDatabase = "temporal.db"

// Source is the data of an agent.
type Source struct {
	DataDir string
	// Values is the folder of the blob store; empty if the store is not a folder, which
	// Elsewhere names then.
	Values, Elsewhere string
	// Version is that of the program.
	Version string
	// Progress is called after each file; it may be nil.
	Progress func(files int, bytes int64)

	files int
	bytes int64
}

// Make copies the data to a new folder below dir. The agent may run. Of an interrupted copy
// nothing is left but contents that the next one uses.
func Make(ctx context.Context, s Source, dir string) (c Copy, err error) {
	if err := s.check(dir); err != nil {
		return c, err
	}
	unlock, err := open(dir)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	draft := filepath.Join(dir, "new"+unfinished)
	if err := os.MkdirAll(filepath.Join(dir, poolFolder), 0o700); err != nil {
		return c, err
	}
	if err := os.Mkdir(draft, 0o700); err != nil {
		return c, err
	}
	c = Copy{Dir: draft, Manifest: Manifest{Version: manifestV1, Agent: s.Version, Elsewhere: s.Elsewhere}}
	if err := s.fill(ctx, &c); err != nil {
		return c, errors.Join(err, os.RemoveAll(draft))
	}
	return finish(dir, c)
}

// check fails if there is nothing to copy, or the copy would become a part of itself.
func (s *Source) check(dir string) error {
	if _, err := os.Stat(filepath.Join(s.DataDir, serverDatabase)); err != nil {
		return fmt.Errorf("there is nothing to back up: %w", err)
	}
	for _, from := range []string{s.DataDir, s.Values} {
		inside, err := isBelow(dir, from)
		if err != nil {
			return err
		}
		if inside {
			return fmt.Errorf("%s is in %s, which is to be copied: choose a folder elsewhere, best on another disk", dir, from)
		}
	}
	return nil
}

func isBelow(dir, above string) (bool, error) {
	if above == "" {
		return false, nil
	}
	a, err := filepath.Abs(above)
	if err != nil {
		return false, err
	}
	d, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(a, d)
	return err == nil && filepath.IsLocal(rel), nil
}

// open creates and locks the folder of the copies, and removes what an interrupted copy has left.
func open(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "backup.lock"), flock.SetPermissions(0o600))
	ours, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ours {
		return nil, fmt.Errorf("another backup to %s is running", dir)
	}
	for _, pattern := range []string{"*" + unfinished, filepath.Join(poolFolder, "draft-*")} {
		left, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range left {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			return nil, errors.Join(err, lock.Unlock())
		}
	}
	return lock.Unlock, nil
}

// fill copies databases, files and values, in this order.
func (s *Source) fill(ctx context.Context, c *Copy) (err error) {
	databases, err := s.databases()
	if err != nil {
		return err
	}
	if c.Databases, c.At, err = copyDatabases(ctx, s.DataDir, databases, c.Dir); err != nil {
		return err
	}
	for _, f := range c.Databases {
		s.count(f)
	}
	is := map[string]bool{}
	for _, name := range databases {
		is[name] = true
	}
	if c.Files, err = s.copyFiles(ctx, c.pool(), s.DataDir, func(name string) bool { return !is[name] && !isSkipped(name) }); err != nil {
		return err
	}
	if s.Values != "" {
		c.Values, err = s.copyFiles(ctx, c.pool(), s.Values, func(name string) bool { return !isDraft(name) })
	}
	return err
}

// databases returns the SQLite files of the data directory, that of the server first.
func (s *Source) databases() (names []string, err error) {
	names = []string{serverDatabase}
	err = s.walk(s.DataDir, func(path, name string) error {
		if name == serverDatabase || isSkipped(name) || filepath.Ext(name) == ".json" {
			return nil
		}
		is, err := isDatabase(path)
		if is {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// copyFiles copies the files below a folder to the pool. One that is removed meanwhile is left out.
func (s *Source) copyFiles(ctx context.Context, p pool, dir string, wanted func(name string) bool) (files []File, err error) {
	err = s.walk(dir, func(path, name string) error {
		if err := ctx.Err(); err != nil || !wanted(name) {
			return err
		}
		f, err := p.keep(path, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
		f.Path = filepath.ToSlash(name)
		files = append(files, f)
		s.count(f)
		return nil
	})
	return files, err
}

func (s *Source) count(f File) {
	s.files, s.bytes = s.files+1, s.bytes+f.Size
	if s.Progress != nil {
		s.Progress(s.files, s.bytes)
	}
}

// value matches the name of a value of the blob store, which is its sum.
var value = regexp.MustCompile(`^([0-9a-f]{2})/([0-9a-f]{62})$`)

// keep adds a file. The content of a value that is in the pool is not read again.
func (p pool) keep(path, name string) (File, error) {
	if m := value.FindStringSubmatch(filepath.ToSlash(name)); m != nil {
		info, err := os.Stat(path)
		if err != nil {
			return File{}, err
		}
		if p.has(m[1]+m[2], info.Size()) {
			return File{Size: info.Size(), SHA256: m[1] + m[2]}, nil
		}
	}
	return p.add(path)
}

// walk calls visit with each regular file below a folder and its name there. If the folder is the
// data directory, it leaves the folder of the blob store out.
func (s *Source) walk(dir string, visit func(path, name string) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		if err != nil {
			return err
		}
		if e.IsDir() && dir != s.Values && s.Values != "" && isSame(path, s.Values) {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return visit(path, name)
	})
}

func isSame(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

var (
	drafts  = regexp.MustCompile(`\.(new|tmp|restore)$|\.tmp\d*$`)
	skipped = regexp.MustCompile(`^(agent\.lock|tasks.*\.log|\.?credential\.key.*|(audit|witness)\.key|\.key-.*|temporal\.db\.room|temporal\.db\..*before-.*|restored\.json|.*-(wal|shm|journal))$`)
)

// isDraft reports whether a file is being written, under a name that is not its own.
func isDraft(name string) bool { return drafts.MatchString(name) }

// isSkipped reports whether a file of the data directory is not copied.
func isSkipped(name string) bool { return isDraft(name) || skipped.MatchString(name) }

// finish gives a copy its name.
func finish(dir string, c Copy) (Copy, error) {
	c.At = c.At.UTC()
	draft := c.Dir
	c.Dir = filepath.Join(dir, c.At.Format(nameLayout))
	if _, err := os.Stat(c.Dir); err == nil {
		return c, errors.Join(fmt.Errorf("%s was made in the same millisecond: try again", c.Dir), os.RemoveAll(draft))
	}
	if err := c.write(draft); err != nil {
		return c, errors.Join(err, os.RemoveAll(draft))
	}
	if err := os.Rename(draft, c.Dir); err != nil {
		return c, errors.Join(err, os.RemoveAll(draft))
	}
	return c, flush(dir)
}

// Size returns the number of files of a copy, and their bytes.
func (c Copy) Size() (files int, bytes int64) {
	for _, list := range [][]File{c.Databases, c.Files, c.Values} {
		files += len(list)
		for _, f := range list {
			bytes += f.Size
		}
	}
	return files, bytes
}
