package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"agent-stop-and-go/mcpservers/drive/store"
)

// Config has limits.
type Config struct {
	// Permanent deletes for good.
	Permanent bool
	// MaxFile bounds the size of a file that is appended to, in bytes.
	MaxFile int64
}

// Folder is a folder. It is safe for concurrent use.
type Folder struct {
	config Config
	name   string
	root   *os.Root
	locks  store.Locks
}

// Open opens a folder, and makes it if it is missing.
func Open(dir string, config Config) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	return &Folder{config: config, name: filepath.Base(dir), root: root}, nil
}

// Close implements [store.Store].
func (f *Folder) Close() error { return f.root.Close() }

// Name implements [store.Store].
func (f *Folder) Name() string { return fmt.Sprintf("the folder %q", f.name) }

// List implements [store.Store]. A page begins after the name that its token is.
func (f *Folder) List(ctx context.Context, id string, page store.Page) (store.Listing, error) {
	dir, err := store.CleanFolder(id)
	if err != nil {
		return store.Listing{}, err
	}
	entries, err := f.entries(dir)
	if err != nil {
		return store.Listing{}, err
	}
	out := store.Listing{Files: []store.File{}}
	for _, e := range entries {
		if e.Name() <= page.Token && page.Token != "" || dir == "" && strings.EqualFold(e.Name(), store.TrashFolder) {
			continue
		}
		if len(out.Files) == page.Limit {
			out.Next = out.Files[len(out.Files)-1].Name
			break
		}
		if file, ok := f.describe(store.Join(dir, e.Name())); ok {
			out.Files = append(out.Files, file)
		}
	}
	return out, ctx.Err()
}

// entries returns what is in a folder, by name.
func (f *Folder) entries(dir string) ([]fs.DirEntry, error) {
	opened, err := f.root.OpenFile(below(dir), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%q is not a folder", dir)
	}
	if err != nil {
		return nil, explain(err)
	}
	defer opened.Close()
	entries, err := opened.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, explain(err)
}

func below(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// scanned is how many entries a search looks at in one call.
const scanned = 50_000

// Search implements [store.Store]. It has one page; links to folders are not followed.
func (f *Folder) Search(ctx context.Context, id, text string, page store.Page) (store.Listing, error) {
	dir, err := store.CleanFolder(id)
	if err != nil {
		return store.Listing{}, err
	}
	if _, err := f.entries(dir); err != nil {
		return store.Listing{}, err
	}
	out, seen := store.Listing{Files: []store.File{}}, 0
	err = fs.WalkDir(f.root.FS(), below(dir), func(p string, e fs.DirEntry, err error) error {
		if seen++; seen > scanned || len(out.Files) == page.Limit {
			out.Cut = true
			return fs.SkipAll
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // of a folder that cannot be read, or is gone
			return nil
		case strings.EqualFold(p, store.TrashFolder):
			return fs.SkipDir
		}
		if file, ok := f.describe(p); ok && p != below(dir) && store.Matches(e.Name(), text) {
			out.Files = append(out.Files, file)
		}
		return nil
	})
	return out, err
}

// describe returns false for what is gone, and for what is neither a file, nor a folder, nor a link to one of
// them within the root.
func (f *Folder) describe(p string) (store.File, bool) {
	info, err := f.root.Stat(p)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return store.File{}, false
	}
	return file(p, info), true
}

func file(p string, info fs.FileInfo) store.File {
	out := store.File{ID: p, Name: path.Base(p), Kind: store.KindFile, Type: mime.TypeByExtension(path.Ext(p)), Size: info.Size(), Folder: store.FolderOf(p),
		Modified: info.ModTime().UTC().Format(time.RFC3339), Version: fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size())}
	if info.IsDir() {
		out.Kind, out.Type, out.Size, out.Version = store.KindFolder, "", 0, ""
	}
	return out
}

// Stat implements [store.Store].
func (f *Folder) Stat(_ context.Context, id string) (store.File, error) {
	p, err := store.CleanFolder(id)
	if err != nil {
		return store.File{}, err
	}
	if p == "" {
		return store.File{Name: f.name, Kind: store.KindFolder}, nil
	}
	out, ok := f.describe(p)
	if !ok {
		return out, store.ErrNotFound
	}
	return out, nil
}

// open opens a regular file. It does not block.
func (f *Folder) open(p string, flags int) (*os.File, fs.FileInfo, error) {
	opened, err := f.root.OpenFile(p, flags|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.EISDIR) {
		return nil, nil, store.ErrFolder
	}
	if err != nil {
		return nil, nil, explain(err)
	}
	info, err := opened.Stat()
	switch {
	case err == nil && info.IsDir():
		err = store.ErrFolder
	case err == nil && !info.Mode().IsRegular():
		err = store.ErrNotFound
	}
	if err != nil {
		opened.Close()
		return nil, nil, err
	}
	return opened, info, nil
}

// Read implements [store.Store].
func (f *Folder) Read(_ context.Context, id string, offset int64, limit int) (store.Part, error) {
	p, err := store.CleanPath(id)
	if err != nil {
		return store.Part{}, err
	}
	opened, info, err := f.open(p, os.O_RDONLY)
	if err != nil {
		return store.Part{}, err
	}
	defer opened.Close()
	part := store.Part{File: file(p, info)}
	part.Data, err = io.ReadAll(io.NewSectionReader(opened, offset, int64(limit)))
	part.More = offset+int64(len(part.Data)) < info.Size()
	return part, err
}

// explain drops the path of an error, which callers know or must not know.
func explain(err error) error {
	var inner *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ELOOP):
		return store.ErrNotFound
	case errors.Is(err, fs.ErrExist):
		return store.ErrExists
	case errors.As(err, &inner):
		if strings.Contains(inner.Err.Error(), "escapes") { // os has no name for this error
			return store.ErrOutside
		}
		return inner.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
