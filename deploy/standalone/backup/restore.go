package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"agent-stop-and-go/deploy/standalone/embedded"
)

// restoredFile is in a data directory from its restore until the agent has paused its calls.
const restoredFile = "restored.json"

// Restored says which copy a data directory was restored from.
type Restored struct {
	// At is the moment of the copy.
	At time.Time `json:"at"`
}

// Target is where a copy is restored to.
type Target struct {
	DataDir string
	// Values is the folder of the blob store.
	Values string
	// Unpaused lets destructive calls go on as soon as the agent starts.
	Unpaused bool
}

// Restore writes a copy to a data directory without a database. An interrupted restore is
// completed by the next Restore of the same copy; until then no agent starts there. Files that a
// copy does not have stay.
func Restore(ctx context.Context, c Copy, t Target) (err error) {
	if len(c.Values) > 0 && t.Values == "" {
		return errors.New("the backup has the values of a folder, and blobs.url of the agent's file names another store: " +
			"restore with a folder, and copy that to the store")
	}
	unlock, err := embedded.Lock(t.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := t.claim(c); err != nil {
		return err
	}
	if err := t.write(ctx, c); err != nil {
		return err
	}
	if !t.Unpaused {
		if err := mark(filepath.Join(t.DataDir, restoredFile), c); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(filepath.Join(t.DataDir, embedded.RestoreFile)), flush(t.DataDir))
}

// claim marks the data directory as one that a copy is restored to.
func (t Target) claim(c Copy) error {
	marker := filepath.Join(t.DataDir, embedded.RestoreFile)
	begun, err := os.ReadFile(marker)
	if err == nil {
		var r Restored
		if json.Unmarshal(begun, &r) == nil && r.At.Equal(c.At) {
			return nil
		}
		return fmt.Errorf("the restore of another backup to %s was interrupted: move the directory away first", t.DataDir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(t.DataDir, serverDatabase)); err == nil {
		return fmt.Errorf("%s has a database: move the directory away first, or name another one as data_dir", t.DataDir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return mark(marker, c)
}

func mark(path string, c Copy) error {
	b, err := json.Marshal(Restored{At: c.At})
	if err != nil {
		return err
	}
	return writeFile(path, append(b, '\n'))
}

// write writes values, files and databases, in this order.
func (t Target) write(ctx context.Context, c Copy) error {
	from := func(f File) string { return c.pool().path(f.SHA256) }
	if err := writeAll(ctx, c.Values, from, t.Values); err != nil {
		return err
	}
	if err := writeAll(ctx, c.Files, from, t.DataDir); err != nil {
		return err
	}
	for _, f := range c.Databases { // a log would be applied to the database
		for _, suffix := range []string{"-wal", "-shm", "-journal"} {
			if err := os.Remove(filepath.Join(t.DataDir, filepath.FromSlash(f.Path)) + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return writeAll(ctx, c.Databases, func(f File) string { return filepath.Join(c.Dir, filepath.FromSlash(f.Path)) }, t.DataDir)
}

func writeAll(ctx context.Context, files []File, from func(File) string, dir string) error {
	folders := map[string]bool{dir: true}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := take(from(f), to, f); err != nil {
			return fmt.Errorf("restore %s: %w", to, err)
		}
		folders[filepath.Dir(to)] = true
	}
	for folder := range folders {
		if err := flush(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Pending returns what a data directory was restored from, if its agent has not paused its calls
// since.
func Pending(dataDir string) (r Restored, ok bool, err error) {
	b, err := os.ReadFile(filepath.Join(dataDir, restoredFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err == nil, err
}

// Settle notes that the calls of a restored agent are paused.
func Settle(dataDir string) error { return os.Remove(filepath.Join(dataDir, restoredFile)) }
