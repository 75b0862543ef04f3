package blobstore

import (
	"context"
	"fmt"
	"io"

	"gocloud.dev/gcerrors"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/contract"
)

// maxHead is enough of an encrypted value to know its key.
const maxHead = 64

// EncryptedWith returns how many values need the key of an ID, with those that are put aside and
// the texts of the audit log.
func (s *Store) EncryptedWith(ctx context.Context, keyID string) (n int, err error) {
	values, aside, err := s.listAll(ctx)
	if err != nil {
		return 0, err
	}
	for folder, sums := range map[string]map[string]stored{"": values, asideFolder: aside} {
		for sum := range sums {
			needs, err := s.needs(ctx, folder+keyOf(sum), sum, keyID)
			if err != nil {
				return n, fmt.Errorf("read blob %s: %w", sum, err)
			}
			if needs {
				n++
			}
		}
	}
	texts, err := s.sealedIn(ctx, TextsFolder, keyID)
	return n + texts, err
}

// TextsFolder has the texts of the audit log, which are encrypted like values.
const TextsFolder = "audit/texts/"

// needs reports whether a stored value needs a key. One that is gone meanwhile needs none.
func (s *Store) needs(ctx context.Context, key, sum, keyID string) (bool, error) {
	r, err := s.bucket.NewRangeReader(ctx, key, 0, maxHead, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	head, err := io.ReadAll(r)
	r.Close()
	if id, _ := encryption.KeyID(head); err != nil || id != keyID {
		return false, err
	}
	whole, err := s.bucket.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	return err == nil && contract.Hash(whole) != sum, err // otherwise it is in clear
}
