package hosting_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

// eachStore runs a test on both stores.
func eachStore(t *testing.T, test func(*testing.T, hosting.SessionStore)) {
	eachKindOfStore(t, func(t *testing.T, newStore func() hosting.SessionStore) { test(t, newStore()) })
}

func eachKindOfStore(t *testing.T, test func(*testing.T, func() hosting.SessionStore)) {
	t.Run("memory", func(t *testing.T) { test(t, hosting.NewMemoryStore) })
	t.Run("file", func(t *testing.T) {
		test(t, func() hosting.SessionStore { return sessionFile(t, newPath(t)) })
	})
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestAStoreKnowsWhatItCreatedUntilItIsIdleOrDeleted(t *testing.T) {
	eachStore(t, func(t *testing.T, store hosting.SessionStore) {
		ctx := t.Context()
		use := func(id string, after time.Duration) error {
			now := noon.Add(after)
			return store.Use(ctx, id, now, now.Add(-time.Hour))
		}
		create(t, store, "a", "b")
		steps := []struct {
			what string
			err  error
			want error
		}{
			{"known at once", use("a", 0), nil},
			{"never created", use("x", 0), hosting.ErrNoSession},
			{"used within the hour", use("a", 50*time.Minute), nil},
			{"used again", use("a", 100*time.Minute), nil},
			{"silent for too long", use("b", 100*time.Minute), hosting.ErrNoSession},
			{"delete", store.Delete(ctx, "a"), nil},
			{"delete again", store.Delete(ctx, "a"), nil},
			{"deleted", use("a", 100*time.Minute), hosting.ErrNoSession},
		}
		for _, step := range steps {
			if !errors.Is(step.err, step.want) {
				t.Errorf("%s: %v", step.what, step.err)
			}
		}
	})
}

func create(t *testing.T, store hosting.SessionStore, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := store.Create(t.Context(), id, noon); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExpireDeletesAndNamesTheIdle(t *testing.T) {
	eachStore(t, func(t *testing.T, store hosting.SessionStore) {
		ctx := t.Context()
		create(t, store, "a", "b", "c")
		if err := store.SetValue(ctx, "a", "k", []byte("1")); err != nil {
			t.Fatal(err)
		}
		if err := store.Use(ctx, "c", noon.Add(time.Hour), noon); err != nil {
			t.Fatal(err)
		}
		got, err := store.Expire(ctx, noon.Add(30*time.Minute))
		if slices.Sort(got); err != nil || !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("got %v, %v", got, err)
		}
		create(t, store, "a")
		if value, err := store.Value(ctx, "a", "k"); value != nil || err != nil {
			t.Errorf("a new session has the value %s of an old one, %v", value, err)
		}
	})
}

func TestValuesBelongToOneSession(t *testing.T) {
	eachStore(t, func(t *testing.T, store hosting.SessionStore) {
		create(t, store, "a", "b")
		var group sync.WaitGroup
		for _, id := range []string{"a", "b"} {
			for i := range 20 {
				group.Go(func() {
					if err := store.SetValue(t.Context(), id, fmt.Sprint(i), []byte(id)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		if err := store.SetValue(t.Context(), "a", "0", nil); err != nil {
			t.Error(err)
		}
		for key, want := range map[string]string{"0": "", "1": "a", "no": ""} {
			if got, err := store.Value(t.Context(), "a", key); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", key, got, err)
			}
		}
		if got, _ := store.Value(t.Context(), "b", "0"); string(got) != "b" {
			t.Errorf("b lost its value: %q", got)
		}
		_, err := store.Value(t.Context(), "x", "0")
		if setErr := store.SetValue(t.Context(), "x", "0", []byte("1")); !errors.Is(err, hosting.ErrNoSession) || !errors.Is(setErr, hosting.ErrNoSession) {
			t.Errorf("unknown session: %v, %v", err, setErr)
		}
	})
}

func TestAFileKeepsSessionsForTheNextProcess(t *testing.T) {
	path := newPath(t)
	first, err := hosting.OpenSessions(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	create(t, first, "a")
	if err := errors.Join(first.SetValue(t.Context(), "a", "k", []byte("1")), first.Close()); err != nil {
		t.Fatal(err)
	}
	second := sessionFile(t, path)
	if err := second.Use(t.Context(), "a", noon, noon); err != nil {
		t.Error(err)
	}
	if got, err := second.Value(t.Context(), "a", "k"); string(got) != "1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFileThatCannotBeOpenedIsNamed(t *testing.T) {
	if _, err := hosting.OpenSessions(context.Background(), "/dev/null/s.db"); err == nil {
		t.Error("no error")
	}
}
