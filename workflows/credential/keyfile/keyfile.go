// Package keyfile has files with a key, which only their owner may read.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Open returns the text of a key file, which it makes with the text of fresh if there is none. The file is
// complete from the start, and of processes that start at the same time the first one's counts.
func Open(path string, fresh func() (string, error)) (string, error) {
	text, err := Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := create(path, fresh); err != nil {
		return "", err
	}
	return Read(path)
}

// Read returns the text of a key file. It refuses one that others may read.
func Read(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("others may read %s; make it private with chmod 600", path)
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

func create(path string, fresh func() (string, error)) error {
	text, err := fresh()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a new name in a folder durable: nothing that was made with a key must outlive it.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
