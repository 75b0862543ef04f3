package blobstore

import (
	"context"
	"fmt"

	"gocloud.dev/gcerrors"

	"agent-stop-and-go/workflows/contract"
)

// LoadRecord returns the record of a name, or nil. Records change, unlike values, and are not
// kept in memory: another process may have changed them.
func (s *Store) LoadRecord(ctx context.Context, name string) ([]byte, error) {
	data, err := s.bucket.ReadAll(ctx, recordKey(name))
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read record: %w", err)
	}
	return data, nil
}

// SaveRecord replaces the record of a name. When it returns, the record is on disk.
func (s *Store) SaveRecord(ctx context.Context, name string, data []byte) error {
	if err := s.write(ctx, recordKey(name), data, octets()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

func recordKey(name string) string {
	sum := contract.Hash([]byte(name))
	return "records/" + sum[:2] + "/" + sum[2:]
}
