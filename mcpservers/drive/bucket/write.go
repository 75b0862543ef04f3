package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"agent-stop-and-go/mcpservers/drive/store"

	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// metadataKey is the key of the marks of calls in the metadata of an object.
const metadataKey = "mcpdrivecalls"

// Create implements [store.Store].
func (b *Bucket) Create(ctx context.Context, c store.Creation) (store.File, error) {
	folder, err := store.CleanFolder(c.Folder)
	if err != nil {
		return store.File{}, err
	}
	key, err := store.CleanPath(store.Join(folder, c.Name))
	if err != nil {
		return store.File{}, err
	}
	options := &blob.WriterOptions{ContentType: c.Type, IfNotExist: true, Metadata: map[string]string{metadataKey: string(store.Marks("").With(c.Mark))}}
	a, err := b.write(ctx, key, c.Content, options, c.Mark)
	if errors.Is(err, errCondition) {
		return store.File{}, store.ErrExists
	}
	if err != nil {
		return store.File{}, err
	}
	return describe(key, a), nil
}

// Append implements [store.Store].
func (b *Bucket) Append(ctx context.Context, a store.Addition) (store.Appended, error) {
	key, err := store.CleanPath(a.ID)
	if err != nil {
		return store.Appended{}, err
	}
	unlock, err := b.locks.Lock(ctx, key)
	if err != nil {
		return store.Appended{}, err
	}
	defer unlock()
	for range 3 {
		made, err := b.appendOnce(ctx, key, a)
		if errors.Is(err, errCondition) && a.Version == "" {
			continue
		}
		if errors.Is(err, errCondition) {
			err = store.ErrChanged
		}
		if err != nil {
			return store.Appended{}, err
		}
		return store.Appended{File: describe(key, made)}, nil
	}
	return store.Appended{}, store.ErrBusy
}

func (b *Bucket) appendOnce(ctx context.Context, key string, a store.Addition) (*blob.Attributes, error) {
	before, err := b.attributes(ctx, key)
	if err != nil {
		return nil, err
	}
	if made, err := marked(before, a.Mark); made || err != nil {
		return before, err
	}
	switch size := before.Size + int64(len(a.Content)); {
	case a.Version != "" && a.Version != before.ETag:
		return nil, store.ErrChanged
	case size > b.config.MaxFile:
		return nil, store.TooLarge(size, b.config.MaxFile)
	}
	var old []byte
	if before.Size > 0 {
		if old, err = b.content(ctx, key, 0, b.config.MaxFile); err != nil {
			return nil, err
		}
	}
	content, err := store.Extend(old, a.Content)
	if err != nil {
		return nil, err
	}
	metadata := maps.Clone(before.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[metadataKey] = string(store.Marks(metadata[metadataKey]).With(a.Mark))
	return b.write(ctx, key, content, &blob.WriterOptions{
		ContentType: before.ContentType, CacheControl: before.CacheControl, ContentDisposition: before.ContentDisposition,
		ContentEncoding: before.ContentEncoding, ContentLanguage: before.ContentLanguage, Metadata: metadata,
		BeforeWrite: func(as func(any) bool) error { return b.ifUnchanged(as, before) },
	}, a.Mark)
}

// errCondition is the error of a write whose condition does not hold.
var errCondition = errors.New("the condition does not hold")

// write writes an object on a condition, and returns its attributes. If it is not known what came of it, the
// mark is looked for.
func (b *Bucket) write(ctx context.Context, key string, content []byte, options *blob.WriterOptions, mark store.Mark) (*blob.Attributes, error) {
	err := b.blobs.WriteAll(ctx, key, content, options)
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	a, failed := b.blobs.Attributes(asked, key)
	if failed == nil {
		// Also if the condition does not hold: an attempt without an answer, or an earlier call, has made it.
		if made, err := marked(a, mark); made || err != nil {
			return a, err
		}
	}
	switch {
	case err == nil && failed != nil:
		return nil, fmt.Errorf("%w: it was written, and cannot be read: %w", store.ErrUnknown, b.explain(failed))
	case err == nil: // somebody else has replaced it since
		return a, nil
	case b.isCondition(err):
		return nil, errCondition
	case refused(code(err)):
		return nil, b.explain(err)
	}
	return nil, fmt.Errorf("%w: %w", store.ErrUnknown, bare(err))
}

// isCondition reports whether a store has refused a write for its condition.
func (b *Bucket) isCondition(err error) bool {
	var answer smithy.APIError
	return gcerrors.Code(err) == gcerrors.FailedPrecondition || errors.As(err, &answer) && answer.ErrorCode() == "ConditionalRequestConflict"
}

// refused reports whether nothing was written, by the kind of the error.
func refused(code gcerrors.ErrorCode) bool {
	switch code {
	case gcerrors.NotFound, gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.Unimplemented, gcerrors.ResourceExhausted:
		return true
	}
	return false
}

// marked reports whether an object has the mark of a call.
func marked(a *blob.Attributes, mark store.Mark) (bool, error) {
	args, found := store.Marks(a.Metadata[metadataKey]).Find(mark.ID)
	if !found {
		return false, nil
	}
	return true, mark.Check(args)
}
