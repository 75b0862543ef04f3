package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"

	"agent-stop-and-go/mcpservers/drive/store"
)

// Create implements [store.Store]. Missing folders on the way are made.
func (f *Folder) Create(_ context.Context, c store.Creation) (store.File, error) {
	p, err := target(c)
	if err != nil {
		return store.File{}, err
	}
	if err := f.root.MkdirAll(path.Dir(p), 0o750); err != nil {
		return store.File{}, explain(err)
	}
	opened, err := f.root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return store.File{}, explain(err)
	}
	_, err = opened.Write(c.Content)
	info, failed := opened.Stat()
	if err = errors.Join(err, failed, opened.Close()); err != nil {
		return store.File{}, errors.Join(explain(err), f.root.Remove(p))
	}
	return file(p, info), nil
}

// CreateFolder implements [store.FolderMaker].
func (f *Folder) CreateFolder(_ context.Context, c store.Creation) (store.File, error) {
	p, err := target(c)
	if err != nil {
		return store.File{}, err
	}
	if err := f.root.MkdirAll(path.Dir(p), 0o750); err != nil {
		return store.File{}, explain(err)
	}
	if err := f.root.Mkdir(p, 0o750); err != nil {
		return store.File{}, explain(err)
	}
	info, err := f.root.Stat(p)
	if err != nil {
		return store.File{}, explain(err)
	}
	return file(p, info), nil
}

func target(c store.Creation) (string, error) {
	dir, err := store.CleanFolder(c.Folder)
	if err != nil {
		return "", err
	}
	return store.CleanPath(store.Join(dir, c.Name))
}

// Append implements [store.Store].
func (f *Folder) Append(ctx context.Context, a store.Addition) (store.Appended, error) {
	p, err := store.CleanPath(a.ID)
	if err != nil {
		return store.Appended{}, err
	}
	unlock, err := f.locks.Lock(ctx, p)
	if err != nil {
		return store.Appended{}, err
	}
	defer unlock()
	opened, before, err := f.open(p, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return store.Appended{}, err
	}
	defer opened.Close()
	switch size := before.Size() + int64(len(a.Content)); {
	case a.Version != "" && a.Version != file(p, before).Version:
		return store.Appended{}, store.ErrChanged
	case size > f.config.MaxFile:
		return store.Appended{}, store.TooLarge(size, f.config.MaxFile)
	}
	old, err := io.ReadAll(io.NewSectionReader(opened, 0, before.Size()))
	if err != nil {
		return store.Appended{}, explain(err)
	}
	if _, err := store.Extend(old, a.Content); err != nil {
		return store.Appended{}, err
	}
	if n, err := opened.Write(a.Content); err != nil {
		if n > 0 {
			err = errors.Join(err, opened.Truncate(before.Size()))
		}
		return store.Appended{}, explain(err)
	}
	after, err := opened.Stat()
	if err != nil {
		return store.Appended{}, fmt.Errorf("%w: %w", store.ErrUnknown, explain(err))
	}
	return store.Appended{File: file(p, after)}, nil
}

// Delete implements [store.Store]. Of a link it deletes the link.
func (f *Folder) Delete(ctx context.Context, d store.Deletion) (store.Deleted, error) {
	p, err := store.CleanPath(d.ID)
	if err != nil {
		return store.Deleted{}, err
	}
	unlock, err := f.locks.Lock(ctx, p)
	if err != nil {
		return store.Deleted{}, err
	}
	defer unlock()
	trash := store.TrashFolder + "/" + d.Mark.ID + "." + d.Mark.Args + "/" + p
	if old, err := f.root.Lstat(trash); err == nil { // the same call has moved it; what is there now is another one
		return store.Deleted{File: file(p, old), Trash: trash}, nil
	}
	info, err := f.root.Lstat(p)
	if err != nil {
		return store.Deleted{}, explain(err)
	}
	out, version := store.Deleted{File: file(p, info)}, ""
	if seen, ok := f.describe(p); ok { // that of a link is the version of its file
		version = seen.Version
	}
	switch {
	case d.Version != "" && d.Version != version:
		return out, store.ErrChanged
	case info.IsDir(): // an empty one needs no trash
		if err := f.root.Remove(p); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
			return out, fmt.Errorf("the folder %q is not empty", p)
		} else if err != nil {
			return out, explain(err)
		}
		return out, nil
	case f.config.Permanent:
		return out, explain(f.root.Remove(p))
	}
	out.Trash = trash
	if err := f.root.MkdirAll(path.Dir(out.Trash), 0o750); err != nil {
		return out, explain(err)
	}
	return out, explain(f.root.Rename(p, out.Trash))
}
