package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/credential/cosigner"
)

// An agent is the witness of another one's log: calls wait until it signs, exports have its signature, and a log
// that was written anew with the stolen key, with all that was kept beside it removed, is found.
func TestAnAgentIsTheWitnessOfAnother(t *testing.T) {
	t.Parallel()
	l, w := newAuditing(t), newHome(t)
	key, err := merkle.KeyFile(auditlog.KeyFile(filepath.Join(l.dir, "data")), auditlog.DefaultOrigin)
	if err != nil {
		t.Fatal(err)
	}
	witness, err := cosigner.KeyFile(auditlog.WitnessKeyFile(filepath.Join(w.dir, "data")), "example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	w.extra = fmt.Sprintf("witness: {name: example.com/w, logs: [%q]}\n", key.Public)
	l.extra = fmt.Sprintf("audit: {required: 1, witnesses: [{url: \"http://127.0.0.1:%d/witness\", key: %q}]}\n", w.ports.api, witness.Public)
	api, agent := l.outside()
	asked := api.ask(`call note_add {"name":"first"}`)
	waits := api.decide(asked.Result.Approval.UUID, `{"approved":true,"by":"alice"}`)
	if !waits.Result.WaitingApproval || !strings.Contains(waits.Result.Approval.Description, "0 of 1 witnesses have signed it, and 1 must") {
		t.Fatalf("the call does not wait for the witness: %+v", waits.Result)
	}
	w.whole()
	eventually(t, "the call that waited for the witness", func() bool { return len(l.tools.called("note_add")) == 1 })
	eventually(t, "the outcome in the log", func() bool {
		out, ok := l.run("verify")
		return ok && strings.Contains(out, "compared with the witness example.com/w") && !strings.Contains(out, "no outcome yet")
	})
	l.runs("", "export", asked.Conversation.ID, "--output", l.proof)
	l.verifyProof("signed by 2 keys")

	agent.kill()
	store, err := blobstore.Open(t.Context(), "file://"+filepath.Join(l.dir, "data", "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	forge(t, store.Folder("audit"), key)
	l.outside()
	if out, ok := l.run("verify"); ok || !strings.Contains(out, "forked: the key has signed two logs") {
		t.Errorf("the log was written anew: %v\n%s", ok, out)
	}
}

// forge writes a log anew, with its key: somebody else has decided.
func forge(t *testing.T, f blobstore.Folder, key merkle.Key) {
	t.Helper()
	names, err := f.List(t.Context(), "log/")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d batches, %v", len(names), err)
	}
	var batches [][]audit.Leaf
	for _, name := range names {
		text, err := f.Read(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		lines, _, _ := strings.Cut(string(text), "\n\n")
		var leaves []audit.Leaf
		for line := range strings.SplitSeq(lines, "\n") {
			leaf, err := audit.ParseLine([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if leaf.Actor != nil {
				leaf.Actor.Subject = "mallory"
			}
			leaves = append(leaves, leaf)
		}
		batches = append(batches, leaves)
	}
	for _, folder := range []string{"log/", "cosigned/"} {
		if err := f.Remove(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
	}
	log, err := merkle.NewLog(merkle.Options{Store: f, Origin: auditlog.DefaultOrigin, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaves := range batches {
		if _, err := log.Append(t.Context(), audit.Head{}, leaves); err != nil {
			t.Fatal(err)
		}
	}
}
