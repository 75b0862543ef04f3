package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/config/encryption"
)

// Folder has files of a name that are created once and do not change. Names have letters, digits,
// hyphens, underscores and slashes.
type Folder struct {
	store *Store
	name  string
}

// Folder returns the folder of a name, such as "audit".
func (s *Store) Folder(name string) Folder { return Folder{s, name + "/"} }

// Create writes a file in clear. It returns when the file is on disk, and an error that is
// fs.ErrExist if there is one of this name. This is exact among all processes: a folder of the
// machine links the whole file to its name, and object stores have conditional writes.
func (f Folder) Create(ctx context.Context, name string, data []byte) error {
	err := f.store.createNew(ctx, f.name+name, data)
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		err = fs.ErrExist
	}
	if err != nil {
		return fmt.Errorf("create %s%s: %w", f.name, name, err)
	}
	return nil
}

// Read returns a file; the error is fs.ErrNotExist if there is none.
func (f Folder) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := f.store.bucket.ReadAll(ctx, f.name+name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read %s%s: %w", f.name, name, err)
	}
	return data, nil
}

// CreateSealed and ReadSealed are Create and Read for files that are encrypted where values are.
func (f Folder) CreateSealed(ctx context.Context, name string, data []byte) error {
	sealed, err := f.store.cipher.Seal(data)
	if err != nil {
		return fmt.Errorf("encrypt %s%s: %w", f.name, name, err)
	}
	return f.Create(ctx, name, sealed)
}

// ReadSealed is described at CreateSealed.
func (f Folder) ReadSealed(ctx context.Context, name string) ([]byte, error) {
	sealed, err := f.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := f.store.cipher.Open(sealed)
	if err != nil {
		return nil, fmt.Errorf("decrypt %s%s: %w", f.name, name, err)
	}
	return data, nil
}

// List returns the names that begin with a prefix, sorted.
func (f Folder) List(ctx context.Context, prefix string) (names []string, err error) {
	objects := f.store.bucket.List(&blob.ListOptions{Prefix: f.name + prefix})
	for {
		o, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s%s: %w", f.name, prefix, err)
		}
		if name := strings.TrimPrefix(o.Key, f.name); !isTemporary(name) {
			names = append(names, name)
		}
	}
}

// Remove removes the files whose names begin with a prefix.
func (f Folder) Remove(ctx context.Context, prefix string) error {
	names, err := f.List(ctx, prefix)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.store.bucket.Delete(ctx, f.name+name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("remove %s%s: %w", f.name, name, err)
		}
	}
	return nil
}

// temporary begins the names of files that are being written.
const temporary = ".new-"

func isTemporary(name string) bool {
	return strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], temporary)
}

// createNew writes a key that does not exist. Its error has the code FailedPrecondition, or is
// fs.ErrExist, if it does.
func (s *Store) createNew(ctx context.Context, key string, data []byte) error {
	if s.dir == "" {
		o := octets()
		o.IfNotExist = true
		return s.write(ctx, key, data, o)
	}
	path := filepath.Join(s.dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), temporary+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err == nil {
		err = s.sync(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil { // fails if there is a file
		return err
	}
	return s.syncFolders(filepath.Dir(path), key)
}

// localDir returns the folder that a URL names, or "" if files there cannot be linked by their keys.
func localDir(u *url.URL) string {
	if u.Scheme != "file" || u.Query().Has("prefix") || runtime.GOOS == "windows" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}

// sealedIn returns how many files of a folder need the key of an ID.
func (s *Store) sealedIn(ctx context.Context, prefix, keyID string) (n int, err error) {
	f := Folder{s, ""}
	names, err := f.List(ctx, prefix)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		data, err := f.Read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return n, err
		}
		if id, sealed := encryption.KeyID(data); sealed && id == keyID {
			n++
		}
	}
	return n, nil
}
