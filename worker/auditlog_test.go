package worker_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/worker"
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
