package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// content is the JSON of the file.
type content struct {
	Keys []Key `json:"keys"`
}

// Add makes a key and returns its text, which is stored nowhere. A zero expires means never. It
// refuses the name of a key that was revoked: with it come the conversations of whoever had it.
func Add(path, name string, scopes []string, expires time.Time) (text string, err error) {
	return create(path, name, scopes, expires, func(formerly time.Time) error {
		return fmt.Errorf("%w: %q was revoked on %s", ErrFormer, name, formerly.Format(time.DateOnly))
	})
}

// AddAgain is Add for a name that the same caller had before.
func AddAgain(path, name string, scopes []string, expires time.Time) (text string, err error) {
	return create(path, name, scopes, expires, func(time.Time) error { return nil })
}

// create makes a key, if former does not object to what was revoked under its name.
func create(path, name string, scopes []string, expires time.Time, former func(time.Time) error) (text string, err error) {
	text, id := generate()
	key := Key{Name: name, ID: id, Hash: hash(text), Scopes: scopes, Created: time.Now().UTC().Truncate(time.Second), Expires: expires}
	if err := key.validate(); err != nil {
		return "", err
	}
	if key.Expired(key.Created) {
		return "", errors.New("the key would have expired already")
	}
	return text, change(path, func(keys []Key) ([]Key, error) {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name }) {
			return nil, fmt.Errorf("there is a key %q: revoke it first, or take another name", name)
		}
		revoked, err := readTimes(formerFile(path))
		if err != nil {
			return nil, err
		}
		if at, ok := revoked[name]; ok {
			if err := former(at); err != nil {
				return nil, err
			}
		}
		return append(keys, key), nil
	})
}

// Revoke removes the key of a name, and notes the name in a file beside it. The key is removed even if
// that fails, with ErrNotNoted.
func Revoke(path, name string) error {
	var unnoted error
	err := change(path, func(keys []Key) ([]Key, error) {
		left := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Name == name })
		if len(left) == len(keys) {
			return nil, fmt.Errorf("there is no key %q in %s", name, path)
		}
		unnoted = noteFormer(path, name)
		return left, nil
	})
	if err == nil && unnoted != nil {
		return fmt.Errorf("%w: %w", ErrNotNoted, unnoted)
	}
	return err
}

// formerFile has the names of the keys that were revoked, and when. Only Add and Revoke use it.
func formerFile(path string) string { return path + ".former" }

func noteFormer(path, name string) error {
	revoked, err := readTimes(formerFile(path))
	if err != nil {
		return err
	}
	revoked[name] = time.Now().UTC().Truncate(time.Second)
	return replace(formerFile(path), revoked)
}

// readTimes reads a file of times by the names of keys. It may be missing.
func readTimes(path string) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if all == nil { // the file has null
		all = map[string]time.Time{}
	}
	return all, nil
}

// List returns the keys of the file, which may be missing.
func List(path string) ([]Key, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(path, data)
}

// decode fails if any key is not valid: a file that is half understood could have lost a
// revocation.
func decode(path string, data []byte) ([]Key, error) {
	var c content
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	names, ids := map[string]bool{}, map[string]bool{}
	for _, key := range c.Keys {
		if err := key.validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if names[key.Name] || ids[key.ID] {
			return nil, fmt.Errorf("%s: the key %s is there twice", path, key.Name)
		}
		names[key.Name], ids[key.ID] = true, true
	}
	return c.Keys, nil
}

// change replaces the file atomically, one process after the other.
func change(path string, f func([]Key) ([]Key, error)) error {
	return locked(path, func() error {
		keys, err := List(path)
		if err != nil {
			return err
		}
		if keys, err = f(keys); err != nil {
			return err
		}
		return replace(path, content{keys})
	})
}

// locked creates the folder of the file if it is missing.
func locked(path string, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return errors.Join(f(), lock.Close())
}

func replace(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(data, '\n'), 0o600)
}
