package merkle

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree has the hashes of a log in memory. It is a tlog.HashReader. The zero value is an empty log.
type Tree struct {
	size   int64
	hashes []tlog.Hash
}

// Size returns the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index < 0 || index >= int64(len(t.hashes)) {
			return nil, fmt.Errorf("hash %d is not in a tree of %d leaves", index, t.size)
		}
		out[i] = t.hashes[index]
	}
	return out, nil
}

// Add appends a leaf.
func (t *Tree) Add(line []byte) error {
	more, err := tlog.StoredHashes(t.size, line, t)
	if err != nil {
		return err
	}
	t.hashes = append(t.hashes, more...)
	t.size++
	return nil
}

// cut removes all leaves from size on.
func (t *Tree) cut(size int64) {
	t.hashes, t.size = t.hashes[:tlog.StoredHashCount(size)], size
}

// Root returns the root of the first size leaves.
func (t *Tree) Root(size int64) (tlog.Hash, error) {
	if size < 0 || size > t.size {
		return tlog.Hash{}, fmt.Errorf("the log has %d leaves, not %d", t.size, size)
	}
	return tlog.TreeHash(size, t)
}

// Prove returns the proof that the first size leaves continue the first old of them. From 0 it is empty.
func (t *Tree) Prove(old, size int64) (tlog.TreeProof, error) {
	if old < 0 || old > size || size > t.size {
		return nil, fmt.Errorf("the log has %d leaves, and no proof from %d to %d", t.size, old, size)
	}
	if old == 0 {
		return nil, nil
	}
	return tlog.ProveTree(size, old, t)
}
