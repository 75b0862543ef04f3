package live

import "slices"

// SharedStream makes what several readers of a conversation get, once for all of them. One
// goroutine at a time uses it.
type SharedStream interface {
	// Adopt lets the reader of another stream go on with this one. It returns false where the
	// two would not go on in the same way.
	Adopt(other SharedStream) bool
	// Encode makes of an item what is written.
	Encode(Item) (Block, error)
}

// Block is what the readers of a shared stream get, as it is written. Nobody may change it.
type Block interface {
	// Empty reports whether there is nothing to write, and the readers need not wake.
	Empty() bool
	// Join makes one block of two; nil where they are not pieces of one text.
	Join(next Block) Block
}

// group is the readers of a shared stream. The follower's mu guards it.
type group struct {
	stream  SharedStream
	readers map[*Reader]struct{}
}

// maxGroups: there is more than one where readers have come back in different ways.
const maxGroups = 4

// Share leaves it to a shared stream what the reader gets from now on: to one that adopts s,
// or else to s itself. It returns false when there are too many, or when the reader was given
// something meanwhile.
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

// leaveGroup ends a shared stream after its last reader. The caller holds mu.
func (x *follower) leaveGroup(r *Reader) {
	if r.group == nil {
		return
	}
	delete(r.group.readers, r)
	x.groups = slices.DeleteFunc(x.groups, func(g *group) bool { return len(g.readers) == 0 })
	r.group = nil
}

// put wakes the readers only when there is something to write.
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
