package keys

import (
	"crypto/subtle"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Reader finds keys. It notices within checkEvery that the file has changed. While the file is
// damaged or cannot be read, nobody is found.
type Reader struct {
	path   string
	logger *slog.Logger
	now    func() time.Time
	used   *usage

	mu      sync.Mutex
	checked time.Time
	version os.FileInfo // nil: the file is missing
	keys    map[string]Key
	err     error
}

const checkEvery = time.Second

// NewReader returns a reader of a file, which may be missing.
func NewReader(path string, logger *slog.Logger) *Reader {
	return &Reader{path: path, logger: logger, now: time.Now, used: newUsage(path, logger)}
}

// Close waits until the last uses are written. Later ones are not.
func (r *Reader) Close() { r.used.close() }

// Find returns the key whose text this is, or an error: ErrUnknown, ErrExpired or that of the
// file.
func (r *Reader) Find(text string) (Key, error) { return r.FindStub(StubOf(text)) }

// FindStub returns the key of a stub, or an error as Find does.
func (r *Reader) FindStub(stub Stub) (Key, error) {
	keys, err := r.current()
	if err != nil {
		return Key{}, err
	}
	key, ok := keys[stub.ID]
	if !ok || subtle.ConstantTimeCompare([]byte(stub.Hash), []byte(key.Hash)) != 1 {
		return Key{}, ErrUnknown
	}
	if key.Expired(r.now()) {
		return Key{}, ErrExpired
	}
	r.used.note(key.Name, r.now())
	return key, nil
}

func (r *Reader) current() (map[string]Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.Sub(r.checked) >= checkEvery {
		r.checked = now
		r.reload()
	}
	return r.keys, r.err
}

// reload reads the file again if it is another one, or the last attempt failed.
func (r *Reader) reload() {
	info, statErr := os.Stat(r.path)
	if statErr == nil && r.err == nil && r.version != nil && sameFile(info, r.version) {
		return
	}
	list, err := List(r.path)
	if err != nil {
		if r.err == nil || r.err.Error() != err.Error() {
			r.logger.Error("keys cannot be read: nobody with a key gets in", "error", err.Error())
		}
		r.keys, r.err, r.version = nil, err, nil
		return
	}
	r.keys, r.err, r.version = map[string]Key{}, nil, nil
	if statErr == nil {
		r.version = info
	}
	for _, key := range list {
		r.keys[key.ID] = key
	}
}

func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
