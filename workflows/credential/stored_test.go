package credential_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

type shelf map[string][]byte

func (s shelf) Put(_ context.Context, data []byte) (contract.Blob, error) {
	b := contract.NewBlob(data)
	s[b.SHA256] = data
	return b, nil
}

func (s shelf) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	data, ok := s[b.SHA256]
	if !ok || int64(len(data)) != b.Size {
		return nil, errors.New("not there")
	}
	return data, nil
}

func TestALongTokenIsKeptOutsideOfHistory(t *testing.T) {
	store := shelf{}
	for sealed, inline := range map[string]bool{
		"":                                      true,
		"v1.k.short":                            true,
		strings.Repeat("x", 2048):               true,
		strings.Repeat("x", 2049):               false,
		strings.Repeat("x", contract.MaxSealed): false,
	} {
		kept, err := credential.Keep(t.Context(), store, sealed)
		if err != nil || (kept == sealed) != inline || len(kept) > contract.InlineLimit {
			t.Errorf("%d bytes are kept as %d, %v", len(sealed), len(kept), err)
		}
		if got, err := credential.Fetch(t.Context(), store, kept); err != nil || got != sealed {
			t.Errorf("%d bytes come back as %d, %v", len(sealed), len(got), err)
		}
	}
}

func TestATokenThatIsNotThereIsUnreadable(t *testing.T) {
	gone := "blob:" + strings.Repeat("a", 64) + ":3000"
	for _, kept := range []string{gone, "blob:", "blob:../../etc:3", "blob:" + strings.Repeat("a", 64) + ":99999999"} {
		if got, err := credential.Fetch(t.Context(), shelf{}, kept); !errors.Is(err, credential.ErrUnreadable) || got != "" {
			t.Errorf("%.20s: %q, %v", kept, got, err)
		}
	}
	if _, err := credential.Fetch(t.Context(), nil, gone); !errors.Is(err, credential.ErrUnreadable) {
		t.Error(err)
	}
}
