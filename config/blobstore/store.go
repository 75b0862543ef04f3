package blobstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/memblob"  // mem://
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/telemetry"
)

// CacheSize is the maximum size in bytes of the values that a Store keeps in memory.
const CacheSize = 64 << 20

// Errors of Get. The last two are wrapped in a *transcript.Loss, which names the value.
var (
	ErrInvalid  = errors.New("malformed address")
	ErrNotFound = errors.New("not in the store")
	ErrCorrupt  = errors.New("stored value is corrupt")
)

// Store keeps values in a bucket. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	dir    string // of a bucket that is a folder; see localDir
	cipher *encryption.Codec
	// objects: the bucket is an object store.
	objects bool
	cache   *cache
	// claiming serializes claims.
	claiming sync.Mutex
	// sync syncs a file or a folder to disk.
	sync func(*os.File) error
	// synced contains the folders whose own names are on disk.
	synced sync.Map
	now    func() time.Time
}

// Open opens the bucket at a URL. It creates a missing folder, readable by the owner only; options
// in the URL take precedence. An object store must exist and answer.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	if u.Scheme == "file" {
		u.RawQuery = withDefaults(u.Query()).Encode()
	}
	bucket, err := openBucket(ctx, u.Scheme, u.String())
	if err != nil {
		return nil, fmt.Errorf("open blob store %s: %w", u.Redacted(), err)
	}
	return &Store{bucket: bucket, dir: localDir(u), objects: IsObjectStore(u.Scheme), cache: newCache(CacheSize), sync: (*os.File).Sync, now: time.Now}, nil
}

func withDefaults(q url.Values) url.Values {
	for key, value := range map[string]string{
		"create_dir": "1", "dir_file_mode": "0700", "metadata": "skip", "no_tmp_dir": "1",
	} {
		if !q.Has(key) {
			q.Set(key, value)
		}
	}
	return q
}

// Encrypt has values encrypted that are stored from now on. Names stay the sums of clear values, so
// equal values are one file, and whoever has a text can see whether it is stored. Call it before
// any other method.
func (s *Store) Encrypt(c *encryption.Codec) { s.cipher = c }

// Close releases the bucket. The store must not be used afterwards.
func (s *Store) Close() error { return s.bucket.Close() }

// Put stores data and returns its address. It writes only if the value is missing or damaged, or
// so old that a collection could soon take it.
func (s *Store) Put(ctx context.Context, data []byte) (contract.Blob, error) {
	b := contract.NewBlob(data)
	began := time.Now()
	found, there := s.stampOf(ctx, b)
	if there && s.now().Sub(found.time) < refreshAge && (s.cache.has(b.SHA256, found) || s.holds(ctx, b, data)) {
		s.cache.add(b.SHA256, data, found)
		return b, nil
	}
	stored, err := s.cipher.Seal(data)
	if err == nil {
		err = s.write(ctx, key(b), stored, octets())
	}
	telemetry.Blob(ctx, "write", time.Since(began), err != nil)
	if err != nil {
		return contract.Blob{}, fmt.Errorf("write blob %s: %w", b.SHA256, err)
	}
	found, _ = s.stampOf(ctx, b)
	s.cache.add(b.SHA256, data, found)
	return b, nil
}

// stampOf returns the current stamp of a stored value. It returns false if the value is
// missing or too short. An encrypted one is longer.
func (s *Store) stampOf(ctx context.Context, b contract.Blob) (stamp, bool) {
	attrs, err := s.bucket.Attributes(ctx, key(b))
	if err != nil || attrs.Size < b.Size {
		return stamp{}, false
	}
	return stamp{attrs.ModTime, attrs.Size}, true
}

// holds reports whether the stored value equals data and is stored as it is to be. A full disk or
// a power cut may have left a file short or damaged.
func (s *Store) holds(ctx context.Context, b contract.Blob, data []byte) bool {
	stored, err := s.bucket.ReadAll(ctx, key(b))
	if err != nil {
		return false
	}
	if bytes.Equal(stored, data) { // in clear, whatever it begins with
		return s.cipher == nil
	}
	if !s.cipher.Current(stored) {
		return false
	}
	value, err := s.cipher.Open(stored)
	return err == nil && bytes.Equal(value, data)
}

// open decrypts what is stored as the value of a sum. What has that sum itself is in clear: a file of a
// caller, stored without a key, may begin like an encrypted value.
func (s *Store) open(sum string, stored []byte) ([]byte, error) {
	if _, sealed := encryption.KeyID(stored); !sealed || contract.Hash(stored) == sum {
		return stored, nil
	}
	return s.cipher.Open(stored)
}

func octets() *blob.WriterOptions {
	return &blob.WriterOptions{ContentType: "application/octet-stream"}
}

// write returns when the value and its folders are on disk.
func (s *Store) write(ctx context.Context, key string, data []byte, o *blob.WriterOptions) error {
	if s.objects {
		return upload(ctx, s.bucket, key, data, o)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var file *os.File // nil if the bucket is not a folder
	o.BeforeWrite = func(as func(any) bool) error {
		if as(&file) {
			return file.Chmod(0o600)
		}
		return nil
	}
	w, err := s.bucket.NewWriter(ctx, key, o)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	if err == nil && file != nil {
		err = s.sync(file)
	}
	if err != nil {
		cancel() // so that Close discards the written part
		return errors.Join(err, ignoreCanceled(w.Close()))
	}
	if err := w.Close(); err != nil || file == nil {
		return err
	}
	return s.syncFolders(filepath.Dir(file.Name()), key)
}

func ignoreCanceled(err error) error {
	if gcerrors.Code(err) == gcerrors.Canceled || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// syncFolders makes the name of a key durable. dir contains it. The folders above may be new
// too; each is synced once.
func (s *Store) syncFolders(dir, key string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	if err := s.syncFolder(dir); err != nil {
		return err
	}
	for range strings.Count(key, "/") {
		if _, known := s.synced.Load(dir); known {
			return nil
		}
		above := filepath.Dir(dir)
		if err := s.syncFolder(above); err != nil {
			return err
		}
		s.synced.Store(dir, nil)
		dir = above
	}
	return nil
}

func (s *Store) syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(s.sync(d), d.Close())
}

// Get returns the value at an address. It fails with ErrInvalid, ErrNotFound, ErrCorrupt or
// an error of the bucket.
func (s *Store) Get(ctx context.Context, b contract.Blob) ([]byte, error) {
	if !b.Valid() {
		return nil, fmt.Errorf("read blob: %w", ErrInvalid)
	}
	if data, cached := s.cache.get(b.SHA256); cached {
		if err := verifySize(b, int64(len(data))); err != nil {
			return nil, err
		}
		return data, nil
	}
	began := time.Now()
	found, _ := s.stampOf(ctx, b) // before the value, which may change in between
	data, err := s.read(ctx, b)
	telemetry.Blob(ctx, "read", time.Since(began), err != nil)
	if err != nil {
		return nil, err
	}
	s.cache.add(b.SHA256, data, found)
	return data, nil
}

// Computed implements transcript.Cache.
func (s *Store) Computed(b contract.Blob, kind string, compute func() (v any, size int, err error)) (any, error) {
	if v := s.cache.computed(b, kind); v != nil {
		return v, nil
	}
	v, size, err := compute()
	if err != nil {
		return nil, err
	}
	s.cache.addComputed(b, kind, v, size)
	return v, nil
}

func (s *Store) read(ctx context.Context, b contract.Blob) ([]byte, error) {
	r, err := s.bucket.NewReader(ctx, key(b), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		data, err := s.restore(ctx, b.SHA256)
		switch {
		case errors.Is(err, encryption.ErrUnreadable):
			err = corrupt(b, encryption.ErrUnreadable.Error())
		case err == nil && data == nil:
			err = missing(b)
		}
		return data, err
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", b.SHA256, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err == nil {
		data, err = s.open(b.SHA256, data)
	}
	if errors.Is(err, encryption.ErrUnreadable) {
		return nil, corrupt(b, err.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", b.SHA256, err)
	}
	if err := verify(b, data); err != nil {
		return nil, err
	}
	return data, nil
}

func missing(b contract.Blob) error {
	return &transcript.Loss{Blob: b, Why: "it is not in the blob store", Err: ErrNotFound}
}

func corrupt(b contract.Blob, why string) error {
	return &transcript.Loss{Blob: b, Why: why, Err: ErrCorrupt}
}

func verifySize(b contract.Blob, size int64) error {
	if size != b.Size {
		return corrupt(b, fmt.Sprintf("%d bytes are stored", size))
	}
	return nil
}

func verify(b contract.Blob, data []byte) error {
	if err := verifySize(b, int64(len(data))); err != nil {
		return err
	}
	if contract.Hash(data) != b.SHA256 {
		return corrupt(b, "its content does not match its address")
	}
	return nil
}

func key(b contract.Blob) string { return keyOf(b.SHA256) }
