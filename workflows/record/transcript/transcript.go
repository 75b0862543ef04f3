package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// Store stores values by the SHA-256 of their content.
type Store interface {
	// Put stores data and returns its address. Storing it again is harmless.
	Put(ctx context.Context, data []byte) (contract.Blob, error)
	// Get returns the data at an address, checked against it.
	Get(ctx context.Context, b contract.Blob) ([]byte, error)
}

// OffloadAbove is the size of a tail's JSON in bytes above which Offload moves it.
const OffloadAbove = 2 << 10

const maxChunk = 1 << 20

// Text returns s as a contract.Text, stored if it is too large for history.
func Text(ctx context.Context, store Store, s string) (contract.Text, error) {
	if len(s) <= contract.InlineLimit {
		return contract.Inline(s), nil
	}
	b, err := store.Put(ctx, []byte(s))
	if err != nil {
		return contract.Text{}, fmt.Errorf("store a text of %d bytes: %w", len(s), err)
	}
	return contract.Text{Blob: &b}, nil
}

// JSON returns raw as a contract.JSON, stored if it is too large for history or could be taken
// for an address.
func JSON(ctx context.Context, store Store, raw json.RawMessage) (contract.JSON, error) {
	if len(raw) <= contract.InlineLimit && !contract.LooksLikeBlob(raw) {
		return contract.JSON{Raw: raw}, nil
	}
	b, err := store.Put(ctx, raw)
	if err != nil {
		return contract.JSON{}, fmt.Errorf("store a value of %d bytes: %w", len(raw), err)
	}
	return contract.JSON{Blob: &b}, nil
}

// ReadText returns the text itself.
func ReadText(ctx context.Context, store Store, t contract.Text) (string, error) {
	if t.Blob == nil {
		return t.Inline, nil
	}
	data, err := store.Get(ctx, *t.Blob)
	if err != nil {
		return "", fmt.Errorf("read a text of %d bytes: %w", t.Blob.Size, err)
	}
	return string(data), nil
}

// ReadJSON returns the value itself; nil for an absent one.
func ReadJSON(ctx context.Context, store Store, j contract.JSON) (json.RawMessage, error) {
	if j.Blob == nil {
		return j.Raw, nil
	}
	data, err := store.Get(ctx, *j.Blob)
	if err != nil {
		return nil, fmt.Errorf("read a value of %d bytes: %w", j.Blob.Size, err)
	}
	return data, nil
}

// Offload moves the tail into the store if it is larger than OffloadAbove, and returns nil
// otherwise.
//
// Offloaded messages are final: a segment without a transcript stays without one. Offload a
// segment only when its node has ended.
func Offload(ctx context.Context, store Store, t contract.Transcript) (*contract.Offloaded, error) {
	tail, err := json.Marshal(t.Tail)
	if err != nil {
		return nil, fmt.Errorf("encode the tail: %w", err)
	}
	if len(tail) <= OffloadAbove {
		return nil, nil
	}
	return OffloadAll(ctx, store, t)
}

// OffloadAll moves the tail into the store, however short it is.
func OffloadAll(ctx context.Context, store Store, t contract.Transcript) (*contract.Offloaded, error) {
	if len(t.Tail) == 0 {
		return nil, nil
	}
	head, err := offload(ctx, store, t)
	if err != nil {
		return nil, fmt.Errorf("fold %d messages: %w", len(t.Tail), err)
	}
	return &contract.Offloaded{Head: head, Count: len(t.Tail)}, nil
}

func offload(ctx context.Context, store Store, t contract.Transcript) (contract.Head, error) {
	next := chunk{Prev: t.Head, Messages: t.Tail}
	for {
		data, err := json.Marshal(next)
		if err != nil {
			return contract.Head{}, err
		}
		size := int64(len(data))
		if next.Prev == nil || next.Prev.Size >= 2*size || next.Prev.Size+size > maxChunk {
			b, err := store.Put(ctx, data)
			b.Preview = ""
			return contract.Head{Blob: b, Count: t.Len()}, err
		}
		prev, err := readChunk(ctx, store, *next.Prev)
		if err != nil {
			return contract.Head{}, err
		}
		next = chunk{Prev: prev.Prev, Messages: append(prev.Messages, next.Messages...)}
	}
}

// MaxDepth limits how deep segments, and the nodes of a tree, may be nested.
const MaxDepth = 64

// ErrTooDeep is wrapped when MaxDepth is exceeded.
var ErrTooDeep = fmt.Errorf("nested more than %d levels deep", MaxDepth)

// Load returns all messages, oldest first, with segments expanded. Large texts in them are
// still addresses.
func Load(ctx context.Context, store Store, t contract.Transcript) ([]contract.Message, error) {
	messages, err := load(ctx, store, nil, t, 0)
	if err != nil {
		return nil, fmt.Errorf("load a transcript of %d messages: %w", t.Len(), err)
	}
	return messages, nil
}

// load appends the messages of a transcript to before.
func load(ctx context.Context, store Store, before []contract.Message, t contract.Transcript, depth int) ([]contract.Message, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("parts are %w", ErrTooDeep)
	}
	all, err := entries(ctx, store, t)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		switch {
		case m.Segment == nil:
			before = append(before, m)
		case m.Segment.Transcript != nil:
			if before, err = load(ctx, store, before, *m.Segment.Transcript, depth+1); err != nil {
				return nil, err
			}
		}
	}
	return before, nil
}

// entries returns the messages and the parts of a transcript itself.
func entries(ctx context.Context, store Store, t contract.Transcript) ([]contract.Message, error) {
	segments := [][]contract.Message{t.Tail}
	for head := t.Head; head != nil; {
		s, err := readChunk(ctx, store, *head)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s.Messages)
		head = s.Prev
	}
	slices.Reverse(segments)
	return slices.Concat(segments...), nil
}

// Resolve returns the message with all addresses replaced by their values.
func Resolve(ctx context.Context, store Store, m contract.Message) (contract.Message, error) {
	var err error
	if m.Content.Inline, err = ReadText(ctx, store, m.Content); err != nil {
		return m, err
	}
	m.Content.Blob = nil
	if m.Native != nil {
		native := *m.Native
		if native.Content.Raw, err = ReadJSON(ctx, store, native.Content); err != nil {
			return m, err
		}
		native.Content.Blob = nil
		m.Native = &native
	}
	if m.ToolCall == nil {
		return m, nil
	}
	call := *m.ToolCall
	if call.Result.Inline, err = ReadText(ctx, store, call.Result); err != nil {
		return m, err
	}
	call.Result.Blob = nil
	if call.Arguments.Raw, err = ReadJSON(ctx, store, call.Arguments); err != nil {
		return m, err
	}
	call.Arguments.Blob = nil
	m.ToolCall = &call
	return m, nil
}
