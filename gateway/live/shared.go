package live

import "slices"

// SharedStream encodes the items of several readers of a conversation once for all of them.
// It is used by one goroutine at a time.
type SharedStream interface {
	// Adopt lets the reader of another stream continue with this one. It returns false if the
	// two streams would differ from here on.
	Adopt(other SharedStream) bool
	// Encode returns the bytes that the readers write for an item.
	Encode(Item) (Block, error)
}

// Block is encoded output for the readers of a shared stream. It is immutable.
type Block interface {
	// Empty reports whether there is nothing to write, so that readers need not wake.
	Empty() bool
	// Join returns both blocks as one, or nil if they are not pieces of one text.
	Join(next Block) Block
}

// group is a shared stream with its readers. The follower's mu guards it.
type group struct {
	stream  SharedStream
	readers map[*Reader]struct{}
}

// maxGroups limits the shared streams of a conversation. There is more than one when readers
// resumed at positions that continue differently.
const maxGroups = 4

// Share lets a shared stream produce the reader's items from now on: one that adopts s, or
// else s itself. It returns false if there are too many streams, or if the reader has items
// that it has not taken.
func (r *Reader) Share(s SharedStream) bool {
	x := r.follower
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, here := x.readers[r]; !here || !r.current() {
		return false
	}
	at := slices.IndexFunc(x.groups, func(g *group) bool { return g.stream.Adopt(s) })
	if at < 0 {
		if len(x.groups) == maxGroups {
			return false
		}
		at = len(x.groups)
		x.groups = append(x.groups, &group{stream: s, readers: map[*Reader]struct{}{}})
	}
	r.group = x.groups[at]
	r.group.readers[r] = struct{}{}
	return true
}

// leaveGroup removes a reader from its shared stream, and the stream with its last reader.
// The caller holds mu.
func (x *follower) leaveGroup(r *Reader) {
	if r.group == nil {
		return
	}
	delete(r.group.readers, r)
	x.groups = slices.DeleteFunc(x.groups, func(g *group) bool { return len(g.readers) == 0 })
	r.group = nil
}

// put encodes an item and gives the block to the readers. An empty block wakes nobody.
func (g *group) put(i Item) {
	b, err := g.stream.Encode(i)
	for r := range g.readers {
		switch {
		case err != nil:
			r.end(err)
		case !b.Empty():
			r.put(Item{Block: b})
		}
	}
}
