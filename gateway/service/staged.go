package service

import (
	"context"
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// stagedValues are values that a request refers to by address. They are stored when the
// request is admitted, so that a refused one leaves nothing in the blob store. It is a
// transcript.Store whose Put only returns the address. A nil *stagedValues is empty.
type stagedValues struct {
	transcript.Store
	values [][]byte
}

// Put implements transcript.Store.
func (s *stagedValues) Put(_ context.Context, data []byte) (contract.Blob, error) {
	s.values = append(s.values, data)
	return contract.NewBlob(data), nil
}

// keep stores the values. It may be called again.
func (s *stagedValues) keep(ctx context.Context) error {
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

// keeper returns keep, or nil if there is nothing to store.
func (s *stagedValues) keeper() func(context.Context) error {
	if s == nil || len(s.values) == 0 {
		return nil
	}
	return s.keep
}
