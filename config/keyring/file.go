package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"agent-stop-and-go/workflows/credential"
)

// keyFile returns the path and the text of the key file in dir, which it creates if
// necessary. Processes that start at the same time get the same text.
func keyFile(dir string) (path, text string, err error) {
	path = filepath.Join(dir, "credential.key")
	text, err = readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, text, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return path, "", err
	}
	if err := makeKeyFile(dir, path); err != nil {
		return path, "", err
	}
	text, err = readKeyFile(path)
	return path, text, err
}

func readKeyFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if loose := info.Mode().Perm() & 0o077; loose != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("others may read %s; make it private with chmod 600", path)
	}
	data, err := os.ReadFile(path)
	return strings.TrimSpace(string(data)), err
}

// makeKeyFile writes a new key to a temporary file and links it to path, so that the file is
// complete from the start and the first process wins.
func makeKeyFile(dir, path string) error {
	key, err := credential.NewKey()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".credential.key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(Format(key) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a new name in dir durable.
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
