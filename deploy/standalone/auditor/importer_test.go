package auditor_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/deploy/standalone/auditor"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/deletion"
)

// ledger is a server that knows only the audit log.
type ledger struct {
	client.Client
	leaves []audit.Leaf
	fails  error
}

func (l *ledger) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	if l.fails != nil {
		return nil, l.fails
	}
	l.leaves = append(l.leaves, arg.([]audit.Leaf)...)
	return nil, nil
}

func TestDeletionsThatTheLogLacksAreImported(t *testing.T) {
	text, err := merkle.NewKey(auditlog.DefaultOrigin)
	if err != nil {
		t.Fatal(err)
	}
	key, err := merkle.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.DataDir, c.Audit = t.TempDir(), &auditlog.Audit{Origin: auditlog.DefaultOrigin}
	store, err := blobstore.Open(t.Context(), c.BlobURL())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"known", "older"} {
		if _, err := store.Bury(t.Context(), deletion.Tombstone{ConversationID: id, DeletedAt: noon, Cause: deletion.CauseAge}); err != nil {
			t.Fatal(err)
		}
	}
	log, err := merkle.NewLog(merkle.Options{Store: store.Folder("audit"), Origin: auditlog.DefaultOrigin, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	written := func(leaves ...audit.Leaf) *auditor.Reader {
		t.Helper()
		if _, err := log.Append(t.Context(), audit.Head{}, leaves); err != nil {
			t.Fatal(err)
		}
		r, err := auditor.Open(t.Context(), c, []string{key.Public}, nil, func(string) string { return "" })
		if err != nil || r.Report.Class() != "" {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	server := &ledger{fails: errors.New("no server")}
	r := written(audit.Leaf{ID: audit.DeletionID("known"), Kind: audit.KindDeletion, At: noon, Conversation: "known"})
	if n, err := r.ImportDeletions(t.Context(), server); n != 0 || err == nil {
		t.Errorf("without a server: %d, %v", n, err)
	}
	server.fails = nil
	if n, err := r.ImportDeletions(t.Context(), server); n != 1 || err != nil || server.leaves[0].ID != audit.DeletionID("older") {
		t.Fatalf("%d, %v, %+v", n, err, server.leaves)
	}
	r = written(server.leaves...)
	if n, err := r.ImportDeletions(t.Context(), server); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	if got, err := r.Reconcile(t.Context(), histories{}, "default"); err != nil || len(got.Faults) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
