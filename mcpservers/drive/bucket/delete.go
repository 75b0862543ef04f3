package bucket

import (
	"context"
	"errors"
	"fmt"

	"agent-stop-and-go/mcpservers/drive/store"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Delete implements [store.Store].
func (b *Bucket) Delete(ctx context.Context, d store.Deletion) (store.Deleted, error) {
	key, err := store.CleanPath(d.ID)
	if err != nil {
		return store.Deleted{}, err
	}
	unlock, err := b.locks.Lock(ctx, key)
	if err != nil {
		return store.Deleted{}, err
	}
	defer unlock()
	a, err := b.attributes(ctx, key)
	if errors.Is(err, store.ErrFolder) {
		return store.Deleted{}, fmt.Errorf("%w: it ends with the last file in it", err)
	}
	if b.config.Permanent {
		if err != nil {
			return store.Deleted{}, err
		}
		return store.Deleted{File: describe(key, a)}, b.remove(ctx, key, a, d)
	}
	trash := store.TrashFolder + "/" + d.Mark.ID + "." + d.Mark.Args + "/" + key
	out := store.Deleted{Trash: trash}
	old, failed := b.blobs.Attributes(ctx, trash)
	switch {
	case failed != nil && gcerrors.Code(failed) != gcerrors.NotFound:
		return out, b.explain(failed)
	case failed == nil && (errors.Is(err, store.ErrNotFound) || err == nil && a.ModTime.After(old.ModTime)):
		out.File = describe(key, old) // an earlier call has moved it; what is there now is another one
		return out, nil
	case err != nil:
		return out, err
	}
	out.File = describe(key, a)
	if d.Version != "" && d.Version != a.ETag {
		return out, store.ErrChanged
	}
	err = b.blobs.Copy(ctx, trash, key, &blob.CopyOptions{BeforeCopy: func(as func(any) bool) error { return b.ifUnchanged(as, a) }})
	if err != nil {
		return out, b.changed(err) // nothing is deleted
	}
	return out, b.remove(ctx, key, a, d)
}

// remove deletes an object that has not changed.
func (b *Bucket) remove(ctx context.Context, key string, a *blob.Attributes, d store.Deletion) error {
	if d.Version != "" && d.Version != a.ETag {
		return store.ErrChanged
	}
	err := b.blobs.DeleteWithOptions(ctx, key, &blob.DeleteOptions{BeforeDelete: func(as func(any) bool) error { return b.ifUnchanged(as, a) }})
	switch code := code(err); {
	case err == nil, code == gcerrors.NotFound:
		return nil
	case b.isCondition(err), refused(code):
		return b.changed(err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, bare(err))
}

// changed is the error of a change that was not made.
func (b *Bucket) changed(err error) error {
	if b.isCondition(err) {
		return store.ErrChanged
	}
	return b.explain(err)
}
