package resources_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"

	"github.com/mark3labs/mcp-go/client"
)

func TestTheSameKeyGivesTheFirstResultAgain(t *testing.T) {
	c := inProcess(t)
	key := func(k string) args { return args{hosting.IdempotencyKey: k} }
	first, _ := call(t.Context(), t, c, "resources_add", args{"name": "a", "value": 1}, key("k1"))
	again, isError := call(t.Context(), t, c, "resources_add", args{"value": 1, "name": "a"}, key("k1"))
	if isError || again != first {
		t.Errorf("got %s, first was %s", again, first)
	}
	removed, _ := call(t.Context(), t, c, "resources_remove", args{"pattern": "a"}, key("k2"))
	add(t, c, "a", 2)
	again, isError = call(t.Context(), t, c, "resources_remove", args{"pattern": "a"}, key("k2"))
	if isError || again != removed {
		t.Errorf("got %s, first was %s", again, removed)
	}
	if got := list(t, c).Count; got != 1 {
		t.Errorf("%d resources, the second one must stay", got)
	}
}

func TestAKeyIsRefusedForADifferentCall(t *testing.T) {
	c := inProcess(t)
	key := args{hosting.IdempotencyKey: "k"}
	call(t.Context(), t, c, "resources_add", args{"name": "a", "value": 1}, key)
	for tool, arguments := range map[string]args{"resources_add": {"name": "a", "value": 2}, "resources_remove": {"pattern": "a"}} {
		got, isError := call(t.Context(), t, c, tool, arguments, key)
		if !isError || got != "idempotency key was already used for a different call" {
			t.Errorf("%s: %q", tool, got)
		}
	}
	if got := list(t, c).Count; got != 1 {
		t.Errorf("%d resources", got)
	}
}

func TestAKeyMustBeText(t *testing.T) {
	c := inProcess(t)
	for _, key := range []any{5, "", nil, true} {
		got, isError := call(t.Context(), t, c, "resources_add", args{"name": "a", "value": 1}, args{hosting.IdempotencyKey: key})
		if !isError || !strings.HasSuffix(got, "must be a non-empty string") {
			t.Errorf("%v: %q", key, got)
		}
	}
}

func TestARefusedCallStoresNoKey(t *testing.T) {
	c := inProcess(t)
	key := args{hosting.IdempotencyKey: "k"}
	call(t.Context(), t, c, "resources_add", args{"name": "a"}, key)
	if text, isError := call(t.Context(), t, c, "resources_add", args{"name": "a", "value": 1}, key); isError {
		t.Error(text)
	}
}

func TestOneKeySentByManyAtOnceWritesOnce(t *testing.T) {
	_, path := openStore(t)
	var clients []*client.Client
	for range 2 {
		c, err := client.NewInProcessClient(resources.NewServer(openAt(t, path), quiet()))
		if err != nil {
			t.Fatal(err)
		}
		handshake(t, c)
		clients = append(clients, c)
	}
	texts := make([]string, 20)
	var group sync.WaitGroup
	for i := range texts {
		group.Go(func() {
			texts[i], _ = call(t.Context(), t, clients[i%2], "resources_add", args{"name": "a", "value": 1}, args{hosting.IdempotencyKey: "k"})
		})
	}
	group.Wait()
	for _, text := range texts {
		if text != texts[0] {
			t.Errorf("got %s and %s", text, texts[0])
		}
	}
	if got := list(t, clients[0]).Count; got != 1 {
		t.Errorf("%d resources", got)
	}
}

func TestKeysExpireAfterAWeek(t *testing.T) {
	store, path := openStore(t)
	write := func(s *resources.Store, key string) {
		t.Helper()
		if _, err := s.Add(t.Context(), hosting.CallKey{Key: key}, "a", 1); err != nil {
			t.Fatal(err)
		}
	}
	write(store, "old")
	write(store, "recent")
	for key, age := range map[string]time.Duration{"old": 7*24*time.Hour + time.Minute, "recent": 7*24*time.Hour - time.Hour} {
		exec(t, path, `UPDATE idempotency SET created_at = ? WHERE key = ?`,
			time.Now().Add(-age).UTC().Format("2006-01-02T15:04:05.000000000Z"), key)
	}
	restarted := openAt(t, path)
	write(restarted, "new") // a process deletes old keys with its first keyed write
	write(restarted, "recent")
	write(restarted, "old")
	if got, err := restarted.List(t.Context(), nil); err != nil || got.Count != 4 {
		t.Errorf("%d resources, %v; want old, recent, new and old again", got.Count, err)
	}
}
