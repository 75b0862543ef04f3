package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/workflows/contract"
)

// Claim claims a name for an owner, unless it is claimed, and returns the holder. When Claim
// returns, the claim is on disk and survives every crash and power cut; only Release ends it.
// Within a process it is exact. Two processes that share a folder may both get a name that
// they claim in the same instant, because folders have no conditional write; object stores
// have.
func (s *Store) Claim(ctx context.Context, name, owner string) (holder string, err error) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	err = s.write(ctx, claimKey(name), []byte(owner), &blob.WriterOptions{ContentType: "text/plain", IfNotExist: true})
	switch {
	case err == nil:
		return owner, nil
	case gcerrors.Code(err) != gcerrors.FailedPrecondition:
		return "", fmt.Errorf("write claim: %w", err)
	}
	data, err := s.readClaim(ctx, claimKey(name))
	if err != nil {
		return "", fmt.Errorf("read claim: %w", err)
	}
	return string(data), nil
}

// readClaim reads a claim and syncs it to disk, because a process that was killed may have
// created the file without syncing it.
func (s *Store) readClaim(ctx context.Context, key string) (data []byte, err error) {
	r, err := s.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if data, err = io.ReadAll(r); err != nil {
		return nil, err
	}
	var stored io.Reader
	if r.As(&stored) {
		if file, ok := stored.(*os.File); ok {
			return data, errors.Join(s.sync(file), s.syncFolders(filepath.Dir(file.Name()), key))
		}
	}
	return data, nil
}

// Release ends a claim. Releasing an unclaimed name is not an error.
func (s *Store) Release(ctx context.Context, name string) error {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if err := s.bucket.Delete(ctx, claimKey(name)); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("release claim: %w", err)
	}
	return nil
}

func claimKey(name string) string {
	sum := contract.Hash([]byte(name))
	return "claims/" + sum[:2] + "/" + sum[2:]
}
