package blobstore

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/workflows/contract"
)

// Claim takes a name for an owner, unless somebody has it already, and returns who has it.
// A claim outlives every process and has no end but Release. Within a process it is exact.
// Two processes that share a folder may both get a name that they claim in the same
// instant, because folders have no conditional write; object stores have.
func (s *Store) Claim(ctx context.Context, name, owner string) (holder string, err error) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	err = s.bucket.WriteAll(ctx, claimKey(name), []byte(owner), &blob.WriterOptions{ContentType: "text/plain", IfNotExist: true})
	switch {
	case err == nil:
		return owner, nil
	case gcerrors.Code(err) != gcerrors.FailedPrecondition:
		return "", fmt.Errorf("write claim: %w", err)
	}
	data, err := s.bucket.ReadAll(ctx, claimKey(name))
	if err != nil {
		return "", fmt.Errorf("read claim: %w", err)
	}
	return string(data), nil
}

// Release gives a name up. One that nobody has is no error.
func (s *Store) Release(ctx context.Context, name string) error {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if err := s.bucket.Delete(ctx, claimKey(name)); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("release claim: %w", err)
	}
	return nil
}

func claimKey(name string) string {
	sum := contract.Sum([]byte(name))
	return "claims/" + sum[:2] + "/" + sum[2:]
}
