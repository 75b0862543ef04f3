package transcript_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// decoder is a Store that never forgets what values decode to.
type decoder struct {
	*memory
	values *sync.Map
}

func (d decoder) Decoded(ctx context.Context, b contract.Blob, decode func([]byte) (any, error)) (any, error) {
	if v, ok := d.values.Load(b.SHA256); ok {
		return v, nil
	}
	data, err := d.Get(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := decode(data)
	d.values.Store(b.SHA256, v)
	return v, err
}

// Segments that are shared stay as they are, whatever comes behind them.
func TestWhatIsDecodedOnceIsNotChanged(t *testing.T) {
	store := decoder{newMemory(), new(sync.Map)}
	var all []contract.Message
	var heads []contract.Transcript
	var now contract.Transcript
	for n := range 100 {
		m := contract.Message{ID: fmt.Sprint("m", n), Content: contract.Inline(fmt.Sprint("text ", n))}
		all, now.Tail = append(all, m), append(now.Tail, m)
		var group sync.WaitGroup
		group.Go(func() { _, _ = transcript.OffloadAll(t.Context(), store, now) })
		folded, err := transcript.OffloadAll(t.Context(), store, now)
		if err != nil {
			t.Fatal(err)
		}
		group.Wait()
		now = contract.Transcript{Head: &folded.Head}
		heads = append(heads, now)
	}
	for n, head := range heads {
		got, err := transcript.Load(t.Context(), store, head)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[:n+1], got); diff != "" {
			t.Fatalf("after %d messages (-written +read):\n%s", n+1, diff)
		}
	}
}
