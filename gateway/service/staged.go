package service

import (
	"context"
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// staged are the values that a request refers to by address. They are stored once the
// request is admitted, so that a refused one leaves nothing in the blob store. It is a
// transcript.Store whose Put only returns the address. A nil one holds nothing.
type staged struct {
	transcript.Store
	values [][]byte
}

// Put implements transcript.Store.
func (s *staged) Put(_ context.Context, data []byte) (contract.Blob, error) {
	s.values = append(s.values, data)
	return contract.NewBlob(data), nil
}

// keep stores the values. Storing them again is harmless.
func (s *staged) keep(ctx context.Context) error {
	if s == nil {
		return nil
	}
	for _, data := range s.values {
		if _, err := s.Store.Put(ctx, data); err != nil {
			return fmt.Errorf("store a value of %d bytes: %w", len(data), err)
		}
	}
	return nil
}

// keeper is keep, and nil when there is nothing to store.
func (s *staged) keeper() func(context.Context) error {
	if s == nil || len(s.values) == 0 {
		return nil
	}
	return s.keep
}
