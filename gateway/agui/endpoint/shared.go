package endpoint

import (
	"bytes"
	"slices"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract"
)

// sharedStream encodes the events of a stream once for several readers.
type sharedStream struct{ *agui.Stream }

// Adopt implements live.SharedStream.
func (s sharedStream) Adopt(other live.SharedStream) bool {
	o, ok := other.(sharedStream)
	return ok && s.Stream.Adopt(o.Stream)
}

// Encode implements live.SharedStream.
func (s sharedStream) Encode(i live.Item) (live.Block, error) {
	var events []agui.Event
	b := &block{}
	switch {
	case i.State != nil:
		events = s.Update(*i.State)
		b.last = i.State.Document.Status == contract.StatusCompleted
	case i.Draft != nil:
		events = s.Draft(*i.Draft)
	case i.Delta != nil:
		events = s.Delta(*i.Delta)
	}
	var err error
	b.open = s.Open()
	b.data, err = encode(events)
	b.head = headOf(events, b.data)
	return b, err
}

// block is encoded output for the readers of a shared stream.
type block struct {
	data []byte
	head int  // length of the bytes before the text, if the block is one piece of a text
	open bool // a run is open after it
	last bool // the stream ends after it
}

const (
	deltaKey = `"delta":"`
	deltaEnd = "\"}\n\n" // delta is the last member
)

func headOf(events []agui.Event, data []byte) int {
	if len(events) != 1 || events[0].ID != "" {
		return 0
	}
	switch events[0].Data.(type) {
	case agui.Piece, agui.CallArgs: // within a string the quotes of the key would be escaped
		return bytes.Index(data, []byte(deltaKey)) + len(deltaKey)
	}
	return 0
}

// Empty implements live.Block.
func (b *block) Empty() bool { return !b.last && len(b.data) == 0 }

// Join implements live.Block.
func (b *block) Join(other live.Block) live.Block {
	next, ok := other.(*block)
	if !ok || b.head == 0 || b.head != next.head || len(b.data)+len(next.data) > live.MaxPiece ||
		!bytes.Equal(b.data[:b.head], next.data[:b.head]) {
		return nil
	}
	joined := *next
	joined.data = slices.Concat(b.data[:len(b.data)-len(deltaEnd)], next.data[next.head:])
	return &joined
}
