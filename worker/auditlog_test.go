package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/audit"
)

func TestTheAuditLogNeedsAKeyThatAllShareAndAStoreThatKeeps(t *testing.T) {
	key, err := merkle.NewKey(auditlog.DefaultOrigin)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		url  string
		want string
	}{
		"a server of others and no key": {map[string]string{"TEMPORAL_ADDRESS": "temporal:7233"}, "", worker.ErrAuditKey.Error()},
		"half of a key":                 {map[string]string{auditlog.KeyVariable: strings.Fields(key)[0]}, "", "AGENT_AUDIT_KEY: it must have a private and a public key"},
		"a store in memory":             {map[string]string{auditlog.KeyVariable: key}, "mem://", "would lose the log"},
	} {
		conf := config.Default()
		conf.DataDir, conf.Blobs.URL, conf.Audit = t.TempDir(), c.url, &auditlog.Audit{Origin: auditlog.DefaultOrigin}
		_, err := worker.OpenAudit(conf, nil, nil, func(n string) string { return c.env[n] }, slog.Default())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: %v", name, err)
		}
	}
	conf := config.Default()
	if a, err := worker.OpenAudit(conf, nil, nil, nil, nil); a != nil || err != nil {
		t.Errorf("without an audit log: %v, %v", a, err)
	}
	if _, err := worker.AuditKey(&config.Config{Audit: &auditlog.Audit{}}, func(n string) string { return map[string]string{"TEMPORAL_ADDRESS": "x"}[n] }); !errors.Is(err, worker.ErrAuditKey) {
		t.Error(err)
	}
}

// Who looks at a log makes no key, by which an honest log would look forged.
func TestReadingTheKeyOfALogMakesNone(t *testing.T) {
	conf := config.Default()
	conf.DataDir, conf.Audit = t.TempDir(), &auditlog.Audit{Origin: auditlog.DefaultOrigin}
	none := func(string) string { return "" }
	if _, err := worker.ReadAuditKey(conf, none); err == nil || !strings.Contains(err.Error(), "there is no key "+auditlog.KeyFile(conf.DataDir)) {
		t.Errorf("%v", err)
	}
	made, err := worker.AuditKey(conf, none)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := worker.ReadAuditKey(conf, none); err != nil || read.Public != made.Public {
		t.Errorf("%v", err)
	}
}

// recorded is a Temporal server that knows only the audit log.
type recorded struct {
	mu     sync.Mutex
	leaves []audit.Leaf
}

func (r *recorded) UpdateWorkflow(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return nil, errors.New("no updates")
}

func (r *recorded) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaves = append(r.leaves, arg.([]audit.Leaf)...)
	return nil, nil
}

func (r *recorded) states() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]string{}
	for _, l := range r.leaves {
		name, value, _ := l.State()
		out[name] = value
	}
	return out
}

// A file that cannot be read keeps nothing else out of the log. The leaves name the agent as those of its
// calls do.
func TestADamagedKeyFileKeepsNoOtherStateOutOfTheAuditLog(t *testing.T) {
	conf := config.Default()
	conf.DataDir, conf.Audit = t.TempDir(), &auditlog.Audit{Origin: auditlog.DefaultOrigin}
	conf.Name, conf.Root = "file", &config.Node{Type: config.LLMNode, Name: "clerk"}
	if err := os.WriteFile(conf.KeysFile(), []byte(`{"keys":`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{keyring.Variable: "k1:not a key"}
	got := runAudit(t, conf, env, 3).states()
	for _, name := range []string{"key audit log", "key encryption of clerk", "policy clerk"} {
		if got[name] == "" {
			t.Errorf("%s is missing in %v", name, got)
		}
	}
}

// The log has the IDs of all keys, and no more of them.
func TestTheAuditLogHasTheKeysInUse(t *testing.T) {
	conf := config.Default()
	conf.DataDir, conf.Audit = t.TempDir(), &auditlog.Audit{Origin: auditlog.DefaultOrigin}
	secret := strings.Repeat("A", 43) + "="
	conf.Name, conf.Encryption.Keys = "tester", []string{"${KEYS}"}
	env := map[string]string{"KEYS": "new:" + secret + ",old:" + secret, keyring.Variable: "k1:" + secret}
	if err := os.WriteFile(conf.KeysFile(), []byte(`{"keys":[{"name":"accounts","id":"b2","sha256":"xx"},{"name":"ops","id":"a1","sha256":"yy"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	public := "example.com/w+f0cad725+BJ+tHaBT0OmfW+x0uBLCL8rjYtyzMfOFGWb/tUHAHtfr"
	conf.Audit.Witnesses = []auditlog.Cosigner{{URL: "http://127.0.0.1:1", Key: public}}
	server := runAudit(t, conf, env, 6)
	got := server.states()
	for name, want := range map[string]string{"key encryption of tester": "new,old", "key callers' tokens of tester": "k1", "key callers' keys of tester": "a1,b2", "key witnesses": "f0cad725", "policy tester": "none"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q of %v", name, got[name], want, got)
		}
	}
	if len(got["key audit log"]) != 8 || strings.Contains(fmt.Sprint(server.leaves), secret) || strings.Contains(fmt.Sprint(server.leaves), "accounts") {
		t.Errorf("%+v", server.leaves)
	}
}

// runAudit runs an audit log until the server has so many states.
func runAudit(t *testing.T, conf *config.Config, env map[string]string, enough int) *recorded {
	t.Helper()
	store, err := blobstore.Open(t.Context(), conf.BlobURL())
	if err != nil {
		t.Fatal(err)
	}
	server := &recorded{}
	a, err := worker.OpenAudit(conf, store, server, func(n string) string { return env[n] }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stop := a.Start()
	for deadline := time.Now().Add(10 * time.Second); len(server.states()) < enough && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return server
}
