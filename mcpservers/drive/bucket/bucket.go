package bucket

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/drive/store"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"
)

// Schemes are those of URLs.
var Schemes = []string{"s3", "gs", "azblob", "mem"}

// Config has limits.
type Config struct {
	// Permanent deletes for good.
	Permanent bool
	// MaxFile bounds the size of an object that is appended to, in bytes.
	MaxFile int64
}

// Bucket is a bucket. It is safe for concurrent use.
type Bucket struct {
	config Config
	name   string
	blobs  *blob.Bucket
	locks  store.Locks
	// inMemory: the bucket is one of mem://, which has no conditions.
	inMemory bool
}

// CheckURL reports what is wrong with a URL.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(Schemes, u.Scheme) {
		return fmt.Errorf("the url must begin with one of %s://; a folder is a path", strings.Join(Schemes, "://, "))
	}
	if prefix := u.Query().Get("prefix"); prefix != "" && !strings.HasSuffix(prefix, "/") {
		return fmt.Errorf("the prefix %q must end with a slash: without one it is also the beginning of other names", prefix)
	}
	if u.Host == "" && u.Scheme != "mem" {
		return errors.New("the url has no bucket")
	}
	return nil
}

// Open opens a bucket, with the credentials that the SDK of its cloud finds in the environment. Nothing is asked
// of the store yet.
func Open(ctx context.Context, address string, config Config) (*Bucket, error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	blobs, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("open the bucket: %w", err)
	}
	u, _ := url.Parse(address)
	return &Bucket{config: config, name: u.Scheme + "://" + u.Host + "/" + u.Query().Get("prefix"), blobs: blobs, inMemory: u.Scheme == "mem"}, nil
}

// Close implements [store.Store].
func (b *Bucket) Close() error { return b.blobs.Close() }

// Name implements [store.Store].
func (b *Bucket) Name() string { return "the bucket " + b.name }

// scanned is how many objects a search looks at in one call, and page how many it asks for at once.
const (
	scanned = 10_000
	page    = 500
)

// List implements [store.Store].
func (b *Bucket) List(ctx context.Context, folder string, p store.Page) (store.Listing, error) {
	prefix, err := prefixOf(folder)
	if err != nil {
		return store.Listing{}, err
	}
	out := store.Listing{Files: []store.File{}}
	objects, next, err := b.page(ctx, prefix, "/", p.Token, p.Limit)
	if err != nil {
		return out, err
	}
	for _, o := range objects {
		if visible(o, prefix) {
			out.Files = append(out.Files, describeObject(o))
		}
	}
	out.Next = next
	return out, nil
}

// Search implements [store.Store]. It finds files, and no folders.
func (b *Bucket) Search(ctx context.Context, folder, text string, p store.Page) (store.Listing, error) {
	prefix, err := prefixOf(folder)
	if err != nil {
		return store.Listing{}, err
	}
	out := store.Listing{Files: []store.File{}, Next: p.Token}
	for range scanned / page {
		var objects []*blob.ListObject
		if objects, out.Next, err = b.page(ctx, prefix, "", out.Next, page); err != nil {
			return out, err
		}
		for _, o := range objects {
			if visible(o, prefix) && store.Matches(path.Base(o.Key), text) {
				out.Files = append(out.Files, describeObject(o))
			}
		}
		if out.Next == "" || len(out.Files) >= p.Limit {
			return out, nil
		}
	}
	out.Cut = true
	return out, nil
}

func prefixOf(folder string) (string, error) {
	folder, err := store.CleanFolder(folder)
	if err != nil || folder == "" {
		return "", err
	}
	return folder + "/", nil
}

func (b *Bucket) page(ctx context.Context, prefix, delimiter, token string, limit int) ([]*blob.ListObject, string, error) {
	from := blob.FirstPageToken
	if token != "" {
		var err error
		if from, err = base64.RawURLEncoding.DecodeString(token); err != nil || len(from) == 0 {
			return nil, "", errors.New("the page is not one of this listing: begin again without page")
		}
	}
	objects, next, err := b.blobs.ListPage(ctx, from, limit, &blob.ListOptions{Prefix: prefix, Delimiter: delimiter})
	if err != nil {
		return nil, "", b.explain(err)
	}
	return objects, base64.RawURLEncoding.EncodeToString(next), nil
}

// visible reports whether an object is below a prefix, is not its marker and not in the trash.
func visible(o *blob.ListObject, prefix string) bool {
	rest, ok := strings.CutPrefix(o.Key, prefix)
	return ok && rest != "" && (o.IsDir || !strings.HasSuffix(rest, "/")) && !inTrash(o.Key)
}

func inTrash(key string) bool {
	first, _, _ := strings.Cut(key, "/")
	return strings.EqualFold(first, store.TrashFolder)
}

func describeObject(o *blob.ListObject) store.File {
	key := strings.TrimSuffix(o.Key, "/")
	if o.IsDir {
		return folderFile(key)
	}
	return store.File{ID: key, Name: path.Base(key), Kind: store.KindFile, Type: mime.TypeByExtension(path.Ext(key)), Size: o.Size, Modified: when(o.ModTime), Folder: store.FolderOf(key)}
}

func folderFile(key string) store.File {
	return store.File{ID: key, Name: path.Base(key), Kind: store.KindFolder, Folder: store.FolderOf(key)}
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func describe(key string, a *blob.Attributes) store.File {
	return store.File{ID: key, Name: path.Base(key), Kind: store.KindFile, Type: a.ContentType, Size: a.Size, Modified: when(a.ModTime), Version: a.ETag, Folder: store.FolderOf(key)}
}

// attributes returns those of an object; of a folder it is [store.ErrFolder].
func (b *Bucket) attributes(ctx context.Context, key string) (*blob.Attributes, error) {
	a, err := b.blobs.Attributes(ctx, key)
	if gcerrors.Code(err) != gcerrors.NotFound {
		return a, b.explain(err)
	}
	below, _, failed := b.blobs.ListPage(ctx, blob.FirstPageToken, 1, &blob.ListOptions{Prefix: key + "/"})
	if failed != nil {
		return nil, b.explain(failed)
	}
	if len(below) > 0 {
		return nil, store.ErrFolder
	}
	return nil, store.ErrNotFound
}

// Stat implements [store.Store].
func (b *Bucket) Stat(ctx context.Context, id string) (store.File, error) {
	key, err := store.CleanFolder(id)
	if err != nil {
		return store.File{}, err
	}
	if key == "" {
		return store.File{Name: b.name, Kind: store.KindFolder}, nil
	}
	a, err := b.attributes(ctx, key)
	if errors.Is(err, store.ErrFolder) {
		return folderFile(key), nil
	}
	if err != nil {
		return store.File{}, err
	}
	return describe(key, a), nil
}

// Read implements [store.Store].
func (b *Bucket) Read(ctx context.Context, id string, offset int64, limit int) (store.Part, error) {
	key, err := store.CleanPath(id)
	if err != nil {
		return store.Part{}, err
	}
	a, err := b.attributes(ctx, key)
	if err != nil {
		return store.Part{}, err
	}
	part := store.Part{File: describe(key, a)}
	if offset >= a.Size || limit == 0 {
		return part, nil
	}
	part.Data, err = b.content(ctx, key, offset, int64(limit))
	part.More = offset+int64(len(part.Data)) < a.Size
	return part, err
}

func (b *Bucket) content(ctx context.Context, key string, offset, limit int64) ([]byte, error) {
	reader, err := b.blobs.NewRangeReader(ctx, key, offset, limit, nil)
	if err != nil {
		return nil, b.explain(err)
	}
	defer reader.Close()
	data, err := io.ReadAll(io.LimitReader(reader, limit))
	return data, b.explain(err)
}

// explain says what an error of the store means. Its own text may have addresses and IDs of requests, and is
// kept for what is not known.
func (b *Bucket) explain(err error) error {
	switch code(err) {
	case gcerrors.OK:
		return nil
	case gcerrors.NotFound:
		return store.ErrNotFound
	case gcerrors.PermissionDenied:
		return fmt.Errorf("the account may not do that in %s: %w", b.Name(), bare(err))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return bare(err)
	}
	return fmt.Errorf("%s: %w", b.Name(), bare(err))
}

// bare returns an error without the address of its request: that of Azure has the signature of a SAS token.
func bare(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

// code returns the code of an error. A request without an answer has none: Azure's driver takes a host
// without an address for an object that does not exist.
func code(err error) gcerrors.ErrorCode {
	if bare(err) != err {
		return gcerrors.Unknown
	}
	return gcerrors.Code(err)
}
