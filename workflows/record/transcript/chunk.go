package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// Cache is a Store that also keeps results computed from its values. Every message to a
// conversation has all of it read several times, and most of the work is the same each time.
type Cache interface {
	Store
	// Computed returns the result of compute, of this call or of an earlier one with the same
	// address and kind. All callers share it, and must not change it. size is about its size in
	// bytes.
	Computed(b contract.Blob, kind string, compute func() (v any, size int, err error)) (any, error)
}

// computed is Computed of a Cache; with any other Store it computes the value every time.
func computed[T any](store Store, b contract.Blob, kind string, compute func() (T, int, error)) (T, error) {
	c, ok := store.(Cache)
	if !ok {
		v, _, err := compute()
		return v, err
	}
	v, err := c.Computed(b, kind, func() (any, int, error) { return compute() })
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}

// chunk is a stored part of a transcript.
type chunk struct {
	Prev     *contract.Head     `json:"prev,omitempty"`
	Messages []contract.Message `json:"messages"`
}

// decodedSize is the approximate ratio of a chunk's size in memory to its encoded size.
const decodedSize = 2

// readChunk reads a chunk, which is shared and must not be changed.
func readChunk(ctx context.Context, store Store, head contract.Head) (chunk, error) {
	c, err := computed(store, head.Blob, "chunk", func() (chunk, int, error) {
		data, err := store.Get(ctx, head.Blob)
		if err != nil {
			return chunk{}, 0, err
		}
		var c chunk
		err = json.Unmarshal(data, &c)
		c.Messages = slices.Clip(c.Messages) // concurrent readers may append to it
		return c, decodedSize * len(data), err
	})
	if err != nil {
		return chunk{}, fmt.Errorf("read chunk %s: %w", head.SHA256, err)
	}
	return c, nil
}

// Projection computes a value from messages, as Load returns them.
type Projection[T any] struct {
	// Kind identifies the projection, with everything that its values depend on besides the messages.
	Kind string
	// Of returns the value and its approximate size in bytes. The value is shared if Of's
	// messages come from a chunk, and must not be changed.
	Of func(messages []contract.Message) (v T, size int, err error)
}

// Part is the value of a chunk or of the tail.
type Part[T any] struct {
	// Before is the number of messages before the part.
	Before int
	Value  T
	prev   *contract.Head
}

// Backward yields the values of the tail and of the chunks, newest first. It reads no more
// chunks than the caller asks for, and a Cache keeps the values of chunks. It ends with the
// first error.
func (p Projection[T]) Backward(ctx context.Context, store Store, t contract.Transcript) iter.Seq2[Part[T], error] {
	return func(yield func(Part[T], error) bool) {
		part, _, err := p.part(ctx, store, chunk{Prev: t.Head, Messages: t.Tail})
		for yield(part, err) && err == nil && part.prev != nil {
			head := *part.prev
			part, err = computed(store, head.Blob, p.Kind, func() (Part[T], int, error) {
				c, err := readChunk(ctx, store, head)
				if err != nil {
					return Part[T]{}, 0, err
				}
				return p.part(ctx, store, c)
			})
		}
	}
}

func (p Projection[T]) part(ctx context.Context, store Store, c chunk) (part Part[T], size int, err error) {
	if part.prev = c.Prev; c.Prev != nil {
		part.Before = c.Prev.Count
	}
	messages, err := load(ctx, store, nil, contract.Transcript{Tail: c.Messages}, 0)
	if err == nil {
		part.Value, size, err = p.Of(messages)
	}
	if err != nil {
		return part, 0, fmt.Errorf("load the messages behind the first %d: %w", part.Before, err)
	}
	return part, size, nil
}

// Values returns the values of the chunks and of the tail, oldest first.
func (p Projection[T]) Values(ctx context.Context, store Store, t contract.Transcript) ([]T, error) {
	var out []T
	for part, err := range p.Backward(ctx, store, t) {
		if err != nil {
			return nil, err
		}
		out = append(out, part.Value)
	}
	slices.Reverse(out)
	return out, nil
}
