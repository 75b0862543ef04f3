package service_test

import (
	"context"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// owned is a backend that has conversations, or errors for them.
type owned struct {
	service.Backend
	conversations map[string]error
}

func (b owned) Owner(_ context.Context, id string) (service.Owner, error) {
	if err, ok := b.conversations[id]; ok {
		return service.Owner{}, err
	}
	return service.Owner{}, service.NoConversation(id)
}

func onQueue(t *testing.T, queue string, b owned) *service.Service {
	t.Helper()
	s := service.New(service.Options{Backend: b, TaskQueue: queue})
	t.Cleanup(s.Close)
	return s
}

func newID(t *testing.T, c service.Caller, key string) string {
	t.Helper()
	return mustID(t)(onQueue(t, "", owned{}).NewID(t.Context(), c, key))
}

func mustID(t *testing.T) func(string, error) string {
	return func(id string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
}

func TestAgentsOfANamespaceHaveTheirOwnIDs(t *testing.T) {
	alice := service.Caller{Identity: contract.Identity{Subject: "alice", Issuer: "keys"}}
	seen := map[string]string{}
	for _, queue := range []string{contract.DefaultTaskQueue, "shop", "buyer"} {
		s := onQueue(t, queue, owned{})
		for what, id := range map[string]string{
			"a key":    mustID(t)(s.NewID(t.Context(), alice, "k")),
			"a thread": mustID(t)(s.OwnID(t.Context(), "ag-ui", alice.Own("k"))),
		} {
			if other := seen[id]; other != "" {
				t.Errorf("%s of %s and %s have the same conversation", what, queue, other)
			}
			seen[id] = queue
		}
	}
}

// Before an ID depended on the task queue, it was that of the default one.
func TestConversationsFromBeforeKeepTheirIDs(t *testing.T) {
	former := contract.NameUUID("ag-ui", "thread-1")
	for name, tc := range map[string]struct {
		queue string
		err   error
		known bool
		keeps bool
	}{
		"the default queue":           {queue: contract.DefaultTaskQueue, keeps: true},
		"nothing from before":         {queue: "shop"},
		"a conversation from before":  {queue: "shop", known: true, keeps: true},
		"one that was deleted":        {queue: "shop", known: true, err: service.Errorf(deletion.KindDeleted, "deleted"), keeps: true},
		"one of another agent":        {queue: "shop", known: true, err: service.NoConversation(former)},
		"one that nobody can look up": {queue: "shop", known: true, err: service.Errorf(service.KindUnavailable, "away")},
	} {
		b := owned{conversations: map[string]error{}}
		if tc.known {
			b.conversations[former] = tc.err
		}
		id, err := onQueue(t, tc.queue, b).OwnID(t.Context(), "ag-ui", "thread-1")
		if away := service.IsKind(tc.err, service.KindUnavailable); away != (err != nil) || err == nil && (id == former) != tc.keeps {
			t.Errorf("%s: got %s, %v", name, id, err)
		}
	}
}
