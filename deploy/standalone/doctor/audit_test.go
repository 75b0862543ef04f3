package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/doctor"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/credential/cosigner"
)

func TestTheAuditLogAndItsWitnesses(t *testing.T) {
	since := time.Now().Add(-time.Hour)
	away := audit.Witnessed{Name: "example.com/w", Size: 4, Problem: "connection refused", Since: since}
	for name, tc := range map[string]struct {
		required int
		view     audit.View
		err      error
		want     []string
	}{
		"all is well":          {0, audit.View{Head: audit.Head{Size: 7}, Witnesses: []audit.Witnessed{{Name: "example.com/w", Size: 7}}}, nil, []string{"ok audit log: it has 7 events", "ok witness example.com/w: it has signed all 7 events"}},
		"it has just grown":    {0, audit.View{Head: audit.Head{Size: 7, Unsigned: 1}}, nil, []string{"ok witness example.com/w: it has signed 0 events, and is to sign 7 more"}},
		"it is away":           {0, audit.View{Head: audit.Head{Size: 7, Unsigned: 1}, Witnesses: []audit.Witnessed{away}}, nil, []string{"problem witness example.com/w: it has signed 4 events and not 3 more, since " + since.UTC().Format("2006-01-02 15:04 UTC") + " (for 1h0m0s): connection refused → start it, or correct its url or key in audit.witnesses; it is asked again within five minutes\n"}},
		"calls wait for it":    {1, audit.View{Head: audit.Head{Size: 4}, Queued: 2, Problem: "0 of 1 witnesses have signed it, and 1 must", Since: since, Witnesses: []audit.Witnessed{away}}, nil, []string{"problem audit log: it cannot be written since ", "1 must → destructive calls wait until it can be, and so do 2 events", "problem witness example.com/w: it has signed 4 events and not 2 more", "Destructive calls need the signatures of 1 of the witnesses"}},
		"the folder is away":   {0, audit.View{Head: audit.Head{Size: 7, Witness: "no space left"}}, nil, []string{"problem witness /mnt/w: it has not signed the last of them: no space left → mend the folder"}},
		"it cannot be reached": {0, audit.View{}, errors.New("refused"), []string{"note audit log: it cannot be asked: refused → run this command where the agent runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("llm: {model: 'demo:rules'}\naudit: {witness: /mnt/w, required: %d, witnesses: [{url: 'https://w.example.com/witness', key: %q}]}\n", tc.required, publicKey(t))
			asked := func(context.Context, *config.Config) (audit.View, error) { return tc.view, tc.err }
			got := examineWith(t, text, map[string]string{"/health/ready": ready, "/tools": offer}, doctor.Patient{Audit: asked})
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
		})
	}
}

func publicKey(t *testing.T) string {
	t.Helper()
	text, err := cosigner.NewKey("example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	k, err := cosigner.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k.Public
}
