package merkle_test

import (
	"context"
	"testing"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/workflows/contract/audit"
)

func TestTombstonesAreComparedWithTheirDeletions(t *testing.T) {
	for want, tombs := range map[merkle.Class]map[string]string{
		"":                {"c": "sum", "other": "x"},
		merkle.Incomplete: {},
		merkle.Altered:    {"c": "another"},
	} {
		w := newWorld(t, false)
		w.append(audit.Leaf{ID: audit.DeletionID("c"), Kind: audit.KindDeletion, At: noon, Conversation: "c", Tombstone: "sum"},
			audit.Leaf{ID: audit.DeletionID("d"), Kind: audit.KindDeletion, At: noon, Conversation: "d"}) // of an older version
		r := w.verify(merkle.Evidence{Tombstones: func(_ context.Context, id string) (string, error) {
			if sum, there := tombs[id]; there {
				return sum, nil
			}
			return "", merkle.ErrNotFound
		}})
		if r.Class() != want {
			t.Errorf("%+v, want %q", r.Findings, want)
		}
	}
}
