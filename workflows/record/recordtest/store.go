package recordtest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Store is a transcript.Store in memory.
type Store map[string][]byte

// Put implements transcript.Store.
func (s Store) Put(_ context.Context, data []byte) (contract.Blob, error) {
	b := contract.NewBlob(data)
	s[b.SHA256] = data
	return b, nil
}

// Get implements transcript.Store.
func (s Store) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	data, ok := s[b.SHA256]
	if !ok {
		return nil, fmt.Errorf("no blob %s", b.SHA256)
	}
	return data, nil
}

// Spread makes a transcript of messages that is spread over the store: in chunks, segments, and
// offloaded values.
func Spread(r *rand.Rand, s Store, messages []contract.Message) (contract.Transcript, error) {
	var t contract.Transcript
	for len(messages) > 0 {
		n := 1 + r.IntN(min(len(messages), 6))
		if n > 1 && r.IntN(3) == 0 {
			part, err := Spread(r, s, messages[:n])
			if err != nil {
				return t, err
			}
			t.Tail = append(t.Tail, contract.Message{Segment: &contract.Segment{Run: fmt.Sprint("run-", len(messages)), Transcript: &part}})
		} else {
			for _, m := range messages[:n] {
				t.Tail = append(t.Tail, offload(r, s, m))
			}
		}
		messages = messages[n:]
		if r.IntN(3) > 0 {
			continue
		}
		folded, err := transcript.OffloadAll(context.Background(), s, t)
		if err != nil {
			return t, err
		}
		t = contract.Transcript{Head: &folded.Head}
	}
	return t, nil
}

// offload moves some values of a message into the store.
func offload(r *rand.Rand, s Store, m contract.Message) contract.Message {
	m.Content = offloadText(r, s, m.Content)
	if m.ToolCall == nil {
		return m
	}
	call := *m.ToolCall
	call.Result = offloadText(r, s, call.Result)
	if call.Arguments.Raw != nil && r.IntN(4) == 0 {
		b, _ := s.Put(context.Background(), call.Arguments.Raw)
		call.Arguments = contract.JSON{Blob: &b}
	}
	m.ToolCall = &call
	return m
}

func offloadText(r *rand.Rand, s Store, t contract.Text) contract.Text {
	if t.Inline == "" || r.IntN(4) > 0 {
		return t
	}
	b, _ := s.Put(context.Background(), []byte(t.Inline))
	return contract.Text{Blob: &b}
}
