package merkle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/workflows/contract/audit"
)

// Errors of a Store.
var (
	ErrExists   = fs.ErrExist
	ErrNotFound = fs.ErrNotExist
)

// Store keeps files that do not change.
type Store interface {
	// Create writes a file that does not exist yet, whole or not at all. It returns when the file is
	// durable, and ErrExists if another one has the name, whoever writes it at the same time.
	Create(ctx context.Context, name string, data []byte) error
	Read(ctx context.Context, name string) ([]byte, error)
	// List returns the names that begin with a prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Errors of Append for a log that nothing may be appended to.
var (
	ErrAltered     = errors.New("the audit log was altered")
	ErrTailMissing = errors.New("the tail of the audit log is missing")
	ErrForked      = errors.New("the audit log was forked")
)

// Options are what a Log needs.
type Options struct {
	Store  Store
	Origin string
	Key    Key
	// Trusted are public keys that have signed earlier checkpoints.
	Trusted []string
	// Witness countersigns; it may be nil.
	Witness *Witness
}

// Log appends. It is safe for concurrent use, also by several processes that share a store.
type Log struct {
	o    Options
	keys note.Verifiers

	mu      sync.Mutex
	tree    Tree
	batches int64
	ids     map[id]struct{}
	// checkpoint is that of the last batch.
	checkpoint []byte
}

// id is the beginning of the hash of a leaf's ID.
type id [16]byte

func idOf(s string) id {
	sum := sha256.Sum256([]byte(s))
	return id(sum[:16])
}

// NewLog returns a log. It reads nothing yet.
func NewLog(o Options) (*Log, error) {
	keys, err := Verifiers(o.Origin, append([]string{o.Key.Public}, o.Trusted...)...)
	if err != nil {
		return nil, err
	}
	return &Log{o: o, keys: keys, ids: map[id]struct{}{}}, nil
}

// Append appends those leaves that the log does not have. When it returns they are durable, with a
// signed checkpoint. after is a state that the log must contain; the zero value is the empty log.
func (l *Log) Append(ctx context.Context, after audit.Head, leaves []audit.Leaf) (audit.Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := l.catchUp(ctx); err != nil {
			return audit.Head{}, err
		}
		if err := l.contains(after); err != nil {
			return audit.Head{}, err
		}
		if err := l.o.Witness.check(&l.tree); err != nil {
			return audit.Head{}, err
		}
		fresh, lines, err := l.unknown(leaves)
		if err != nil {
			return audit.Head{}, err
		}
		if len(lines) == 0 {
			return l.head(ctx, nil)
		}
		note, err := l.create(ctx, fresh, lines)
		if errors.Is(err, ErrExists) { // another appender was faster
			continue
		}
		if err != nil {
			return audit.Head{}, err
		}
		return l.head(ctx, note)
	}
}

// unknown returns the leaves that the log does not have, each once, and their lines.
func (l *Log) unknown(leaves []audit.Leaf) (fresh []audit.Leaf, lines [][]byte, err error) {
	seen := map[id]bool{}
	for _, leaf := range leaves {
		key := idOf(leaf.ID)
		if _, there := l.ids[key]; there || seen[key] {
			continue
		}
		seen[key] = true
		line, err := leaf.Line()
		if err != nil {
			return nil, nil, err
		}
		fresh, lines = append(fresh, leaf), append(lines, line)
	}
	return fresh, lines, nil
}

// create writes the next batch. The tree has it afterwards, or is unchanged.
func (l *Log) create(ctx context.Context, leaves []audit.Leaf, lines [][]byte) (checkpoint []byte, err error) {
	before := l.tree.Size()
	defer func() {
		if err != nil {
			l.tree.cut(before)
		}
	}()
	for _, line := range lines {
		if err := l.tree.Add(line); err != nil {
			return nil, err
		}
	}
	c := Checkpoint{Origin: l.o.Origin, Size: l.tree.Size()}
	if c.Root, err = l.tree.Root(c.Size); err != nil {
		return nil, err
	}
	if checkpoint, err = c.sign(l.o.Key.Signer); err != nil {
		return nil, fmt.Errorf("sign a checkpoint: %w", err)
	}
	if err := l.o.Store.Create(ctx, batchName(l.batches), batch{lines, checkpoint}.text()); err != nil {
		return nil, fmt.Errorf("write batch %d of the audit log: %w", l.batches, err)
	}
	l.batches++
	l.checkpoint = checkpoint
	l.remember(leaves)
	return checkpoint, nil
}

func (l *Log) remember(leaves []audit.Leaf) {
	for _, leaf := range leaves {
		l.ids[idOf(leaf.ID)] = struct{}{}
	}
}

// catchUp reads the batches that are not in memory.
func (l *Log) catchUp(ctx context.Context) error {
	for {
		text, err := l.o.Store.Read(ctx, batchName(l.batches))
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read batch %d of the audit log: %w", l.batches, err)
		}
		if err := l.take(text); err != nil {
			return fmt.Errorf("%w at batch %d: %w; agent audit verify says more", ErrAltered, l.batches, err)
		}
	}
}

// take checks a batch and adds it.
func (l *Log) take(text []byte) (err error) {
	before := l.tree.Size()
	defer func() {
		if err != nil {
			l.tree.cut(before)
		}
	}()
	b, err := parseBatch(text)
	if err != nil {
		return err
	}
	c, err := ParseCheckpoint(b.checkpoint, l.o.Origin, l.keys)
	if err != nil {
		return err
	}
	leaves, err := addBatch(&l.tree, b, c)
	if err != nil {
		return err
	}
	l.batches++
	l.checkpoint = b.checkpoint
	l.remember(leaves)
	return nil
}

// addBatch adds the lines of a batch to a tree, compares its checkpoint, and returns the leaves.
func addBatch(t *Tree, b batch, c Checkpoint) (leaves []audit.Leaf, err error) {
	for _, line := range b.lines {
		leaf, err := audit.ParseLine(line)
		if err != nil {
			return nil, fmt.Errorf("leaf %d: %w", t.Size(), err)
		}
		if err := t.Add(line); err != nil {
			return nil, err
		}
		leaves = append(leaves, leaf)
	}
	root, err := t.Root(t.Size())
	switch {
	case err != nil:
		return nil, err
	case c.Size != t.Size():
		return nil, fmt.Errorf("its checkpoint is for %d leaves, and there are %d", c.Size, t.Size())
	case c.Root != root:
		return nil, errors.New("its leaves are not those of its checkpoint")
	}
	return leaves, nil
}

// contains fails if a head is not a state of this log.
func (l *Log) contains(h audit.Head) error {
	if h.Size == 0 {
		return nil
	}
	if h.Origin != l.o.Origin {
		return fmt.Errorf("the audit log of this namespace is %s, not %s", h.Origin, l.o.Origin)
	}
	if h.Size > l.tree.Size() {
		return fmt.Errorf("%w: it had %d leaves and has %d", ErrTailMissing, h.Size, l.tree.Size())
	}
	root, err := l.tree.Root(h.Size)
	if err != nil {
		return err
	}
	if root.String() != h.Root {
		return fmt.Errorf("%w: its first %d leaves are not those that were written", ErrForked, h.Size)
	}
	return nil
}

// head returns the state of the log, with a countersignature if there is a new checkpoint.
func (l *Log) head(ctx context.Context, checkpoint []byte) (audit.Head, error) {
	h := audit.Head{Origin: l.o.Origin, Size: l.tree.Size()}
	root, err := l.tree.Root(h.Size)
	if err != nil {
		return h, err
	}
	h.Root = root.String()
	if checkpoint == nil {
		return h, nil
	}
	err = l.o.Witness.countersign(ctx, checkpoint, &l.tree)
	switch {
	case errors.Is(err, ErrForked), errors.Is(err, ErrTailMissing):
		return h, err
	case err != nil: // the log is whole without it
		h.Witness = err.Error()
	}
	return h, nil
}

// Newest returns the newest checkpoint, as a note and read. Its size is 0 if there is none.
func (l *Log) Newest(ctx context.Context) (text []byte, c Checkpoint, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.catchUp(ctx); err != nil || l.checkpoint == nil {
		return nil, c, err
	}
	c, err = ParseCheckpoint(l.checkpoint, l.o.Origin, l.keys)
	return l.checkpoint, c, err
}

// Prove returns the proof that the first size leaves continue the first old of them (RFC 6962, section
// 2.1.2). From 0 it is empty.
func (l *Log) Prove(old, size int64) (tlog.TreeProof, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tree.Prove(old, size)
}
