package merkle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/note"
)

// Witness countersigns checkpoints and keeps them in a folder: on another volume, which an editor of
// the log does not reach. The file checkpoints has them all, oldest first, each as a note with both
// signatures; witness.key has the key. It refuses to sign what does not continue what it has signed.
type Witness struct {
	dir  string
	key  Key
	log  string
	keys note.Verifiers

	mu   sync.Mutex
	last Checkpoint
	size int64 // of the file, as it was read or left
}

// witnessName is the name of a witness's key: that of its log with a suffix.
func witnessName(origin string) string { return origin + "/witness" }

// OpenWitness opens the witness in a folder. Its key is made if there is none; keys are the log's
// public keys.
func OpenWitness(dir, origin string, keys ...string) (*Witness, error) {
	verifiers, err := Verifiers(origin, keys...)
	if err != nil {
		return nil, err
	}
	key, err := KeyFile(filepath.Join(dir, "witness.key"), witnessName(origin))
	if err != nil {
		return nil, fmt.Errorf("open the witness: %w", err)
	}
	return &Witness{dir: dir, key: key, log: origin, keys: verifiers}, nil
}

// Public returns the witness's public key.
func (w *Witness) Public() string { return w.key.Public }

// check fails if a tree does not continue what was signed. A witness that cannot be read is
// reported by countersign.
func (w *Witness) check(t *Tree) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.load() != nil {
		return nil
	}
	return w.follows(t)
}

func (w *Witness) follows(t *Tree) error {
	if w.last.Size > t.Size() {
		return fmt.Errorf("%w: the witness has seen %d leaves, and there are %d", ErrTailMissing, w.last.Size, t.Size())
	}
	root, err := t.Root(w.last.Size)
	if err != nil {
		return err
	}
	if w.last.Size > 0 && root != w.last.Root {
		return fmt.Errorf("%w: its first %d leaves are not those that the witness has seen", ErrForked, w.last.Size)
	}
	return nil
}

// countersign signs a checkpoint of a tree and keeps it.
func (w *Witness) countersign(_ context.Context, checkpoint []byte, t *Tree) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.load(); err != nil {
		return err
	}
	c, err := ParseCheckpoint(checkpoint, w.log, w.keys)
	if err != nil {
		return fmt.Errorf("the witness: %w", err)
	}
	if err := w.follows(t); err != nil || c.Size <= w.last.Size {
		return err
	}
	n, err := note.Open(checkpoint, w.keys)
	if err != nil {
		return fmt.Errorf("the witness: %w", err)
	}
	signed, err := note.Sign(n, w.key.Signer)
	if err != nil {
		return fmt.Errorf("the witness: %w", err)
	}
	if err := w.keep(signed); err != nil {
		return fmt.Errorf("the witness: %w", err)
	}
	w.last = c
	return nil
}

// keep appends a note to the file.
func (w *Witness) keep(signed []byte) error {
	f, err := os.OpenFile(w.file(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	n, err := f.Write(append(signed, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		w.size += int64(n)
	}
	return err
}

func (w *Witness) file() string { return filepath.Join(w.dir, "checkpoints") }

// load reads the newest checkpoint, unless the file is as this process has left it. What a crash
// has left of a checkpoint is cut off.
func (w *Witness) load() error {
	info, err := os.Stat(w.file())
	if err == nil && info.Size() == w.size {
		return nil
	}
	notes, err := ReadWitness(w.dir)
	if err != nil {
		return err
	}
	last, size := Checkpoint{}, int64(0)
	for _, n := range notes {
		c, err := ParseCheckpoint(n, w.log, w.keys)
		if err != nil {
			return fmt.Errorf("the witness has what the log has not signed: %w", err)
		}
		if c.Size > last.Size {
			last = c
		}
		size += int64(len(n)) + 1
	}
	if info != nil && info.Size() > size {
		if err := os.Truncate(w.file(), size); err != nil {
			return fmt.Errorf("the witness: %w", err)
		}
	}
	w.last, w.size = last, size
	return nil
}

// ReadWitness returns the checkpoints that the witness in a folder has signed, oldest first.
func ReadWitness(dir string) (notes [][]byte, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "checkpoints"))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the witness: %w", err)
	}
	// A note is a text, an empty line and its signatures, and ends with another empty line.
	for {
		text, rest, ok := bytes.Cut(data, []byte("\n\n"))
		signatures, next, whole := bytes.Cut(rest, []byte("\n\n"))
		if !ok || !whole {
			return notes, nil
		}
		notes = append(notes, slices.Concat(text, []byte("\n\n"), signatures, []byte("\n")))
		data = next
	}
}

// WitnessKey returns the public key of the witness in a folder.
func WitnessKey(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "witness.key"))
	if err != nil {
		return "", fmt.Errorf("the witness: %w", err)
	}
	k, err := ParseKey(string(data))
	return k.Public, err
}
