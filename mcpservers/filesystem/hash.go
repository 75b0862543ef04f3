package filesystem

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

var hashNames = []string{"md5", "sha1", "sha256"}

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New}

type hashResult struct {
	Algorithm string `json:"algorithm"`
	Hash      string `json:"hash"`
	Path      string `json:"path"`
	Size      int64  `json:"size"` // number of bytes hashed
}

func hashFile(ctx context.Context, c call) (any, error) {
	at, err := c.resolvedLocation("root", "path", "")
	if err != nil {
		return nil, err
	}
	algorithm, err := c.args.Required("algorithm")
	if err != nil {
		return nil, err
	}
	create, ok := hashes[algorithm]
	if !ok {
		return nil, fmt.Errorf("unsupported hash algorithm: %s; supported: %s", algorithm, strings.Join(hashNames, ", "))
	}
	file, _, err := at.root.openFile(at.rel, os.O_RDONLY)
	if errors.Is(err, errFolder) {
		return nil, fmt.Errorf("cannot hash a directory: %s", at.given)
	}
	if err != nil {
		return nil, describe(err, "file not found", at.given)
	}
	defer file.Close()
	sum := create()
	size, err := io.Copy(sum, cancellable{ctx, file})
	if err != nil {
		return nil, describe(err, "file not found", at.given)
	}
	return hashResult{Algorithm: algorithm, Hash: hex.EncodeToString(sum.Sum(nil)), Path: at.given, Size: size}, nil
}

// cancellable is a reader that fails when its context ends.
type cancellable struct {
	ctx context.Context
	io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}
