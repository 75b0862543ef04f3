package embedded

import (
	"errors"
	"os"
	"path/filepath"
)

// replace replaces the content of a file atomically: a crash at any moment, also of the
// machine, leaves the old content or the new one.
func replace(path, text string) error {
	draft := path + ".new"
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return publish(draft, path)
}

// publish syncs a draft to disk and renames it to path.
func publish(draft, path string) error {
	if err := flush(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return flush(filepath.Dir(path))
}

// flush syncs a file or a folder to disk.
func flush(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
