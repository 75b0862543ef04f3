package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

const poolFolder = "files"

var sum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// pool is a folder with the content of files by its SHA-256.
type pool string

func (p pool) path(sha256 string) string { return filepath.Join(string(p), sha256[:2], sha256[2:]) }

// has reports whether a content is there. It looks at the size only; Restore checks the sum.
func (p pool) has(sha256 string, size int64) bool {
	info, err := os.Stat(p.path(sha256))
	return err == nil && info.Size() == size
}

// add copies a file into the pool, unless its content is there.
func (p pool) add(path string) (f File, err error) {
	draft, err := os.CreateTemp(string(p), "draft-*")
	if err != nil {
		return f, err
	}
	defer func() {
		if removed := os.Remove(draft.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	f, err = copyTo(draft, path)
	if err != nil {
		return f, err
	}
	if p.has(f.SHA256, f.Size) {
		return f, nil
	}
	to := p.path(f.SHA256)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return f, err
	}
	return f, errors.Join(os.Rename(draft.Name(), to), flush(filepath.Dir(to)))
}

// copyTo copies the content of the file at path, syncs and closes the file to.
func copyTo(to *os.File, path string) (f File, err error) {
	from, err := os.Open(path)
	if err != nil {
		return f, errors.Join(err, to.Close())
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	digest := sha256.New()
	f.Size, err = io.Copy(io.MultiWriter(to, digest), from)
	f.SHA256 = hex.EncodeToString(digest.Sum(nil))
	if err == nil {
		err = to.Sync()
	}
	return f, errors.Join(err, to.Close())
}

// take copies a content to a new file, and fails if it is not what the file should have.
func take(from, to string, want File) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	draft := to + ".restore"
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	got, err := copyTo(file, from)
	if err != nil {
		return err
	}
	if got.SHA256 != want.SHA256 {
		return fmt.Errorf("the backup is damaged: %s has other content than when it was made", from)
	}
	return os.Rename(draft, to)
}

// writeFile replaces a file atomically.
func writeFile(path string, content []byte) error {
	draft := path + ".new"
	if err := os.WriteFile(draft, content, 0o600); err != nil {
		return err
	}
	if err := flush(draft); err != nil {
		return err
	}
	return errors.Join(os.Rename(draft, path), flush(filepath.Dir(path)))
}

// flush syncs a file or a folder to disk.
func flush(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
