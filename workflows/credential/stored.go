package credential

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Store is the used part of a blob store.
type Store interface {
	Put(ctx context.Context, data []byte) (contract.Blob, error)
	Get(ctx context.Context, b contract.Blob) ([]byte, error)
}

const storedPrefix = "blob:"

// Keep returns the form of a sealed token for history. Every call repeats it, so a long token
// is stored and replaced by its address.
func Keep(ctx context.Context, store Store, sealed string) (string, error) {
	if len(sealed) <= contract.InlineLimit || store == nil {
		return sealed, nil
	}
	b, err := store.Put(ctx, []byte(sealed))
	if err != nil {
		return "", fmt.Errorf("keep a sealed token: %w", err)
	}
	return storedPrefix + b.SHA256 + ":" + strconv.FormatInt(b.Size, 10), nil
}

// Fetch is the inverse of Keep. It fails with ErrUnreadable if the token is not in the store.
func Fetch(ctx context.Context, store Store, kept string) (string, error) {
	address, stored := strings.CutPrefix(kept, storedPrefix)
	if !stored {
		return kept, nil
	}
	sum, length, _ := strings.Cut(address, ":")
	size, err := strconv.ParseInt(length, 10, 64)
	b := contract.Blob{SHA256: sum, Size: size}
	if err != nil || !b.Valid() || size > contract.MaxSealed || store == nil {
		return "", ErrUnreadable
	}
	sealed, err := store.Get(ctx, b)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return string(sealed), nil
}
