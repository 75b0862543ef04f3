package transcript_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/record/transcript"
)

func TestAProbeIsOneValueADay(t *testing.T) {
	store, day := newMemory(), time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	p := transcript.NewProbe(store, func() time.Time { return day })
	put := func(p *transcript.Probe) string {
		t.Helper()
		b, err := p.Put(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Get(t.Context(), b); err != nil {
			t.Error(err)
		}
		return b.SHA256
	}
	first := put(p)
	if again := put(p); again != first || len(store.values) != 1 {
		t.Errorf("the store has %d values after two probes of a day", len(store.values))
	}
	if other := put(transcript.NewProbe(store, func() time.Time { return day })); other == first {
		t.Error("two processes have the same probe")
	}
	if day = day.Add(2 * time.Hour); put(p) == first {
		t.Error("the probe of the next day is that of the day before")
	}
}
