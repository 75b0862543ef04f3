package agui

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/record"
)

const anApproval = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"

func TestNoticesNameTheirApproval(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	request := contract.Message{ID: "n", Role: contract.RoleAssistant, Content: contract.Inline("May I?"), Notice: true, ApprovalID: anApproval, CreatedAt: at}
	decided := contract.Message{ID: "d", Role: contract.RoleUser, Content: contract.Inline("Approved"), Notice: true, CreatedAt: at, Approval: &contract.ApprovalResult{
		UUID: anApproval, Tool: "add", Decision: contract.Approved, By: "alice", Via: "rest", RequestID: "r", DecidedAt: at,
		Outcome: contract.OutcomeRan, OnBehalfOf: "carol", Identity: contract.Identity{Subject: "alice", Issuer: "keys"},
		For:        &deputy.Deputy{ID: "dep", From: deputy.Person{Subject: "boss", Issuer: "keys"}, To: deputy.Person{Subject: "alice", Issuer: "keys"}, Since: at, Until: at},
		Revision:   &contract.Revision{Call: "c", Arguments: contract.JSON{Raw: []byte(`{"amount":400}`)}, Changes: []edit.Change{{Name: "amount", Before: "700", After: "400"}}},
		Credential: "secret", Content: contract.JSON{Raw: []byte(`{"secret":true}`)},
	}}
	plain := contract.Message{ID: "p", Role: contract.RoleAssistant, Content: contract.Inline("Asked again"), Notice: true, CreatedAt: at}
	var got []string
	for _, e := range record.Read(record.Source{Messages: []contract.Message{request, decided, plain}}) {
		data, err := json.Marshal(notice(e))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(data))
	}
	want := []string{
		`{"type":"CUSTOM","name":"agent-stop-and-go.notice","value":{"id":"n","text":"May I?","at":"2026-03-01T10:00:00Z","uuid":"` + anApproval + `"}}`,
		`{"type":"CUSTOM","name":"agent-stop-and-go.decision","value":{"id":"d","text":"Approved","at":"2026-03-01T10:00:00Z","uuid":"` + anApproval +
			`","tool":"add","decision":"approved","by":"alice","on_behalf_of":"carol","identity":{"subject":"alice","issuer":"keys"},"via":"rest",` +
			`"request_id":"r","outcome":"ran","decided_at":"2026-03-01T10:00:00Z",` +
			`"for":{"id":"dep","from":{"subject":"boss","issuer":"keys"},"to":{"subject":"alice","issuer":"keys"},"since":"2026-03-01T10:00:00Z","until":"2026-03-01T10:00:00Z"},` +
			`"revision":{"changes":[{"name":"amount","before":"700","after":"400"}]}}}`,
		`{"type":"CUSTOM","name":"agent-stop-and-go.notice","value":{"id":"p","text":"Asked again","at":"2026-03-01T10:00:00Z"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMissingResultSaysSo(t *testing.T) {
	entries := record.Read(record.Source{Messages: []contract.Message{
		say(contract.RoleUser, "u", "hi"), call("c", "r", "d", "add", `{}`), result("x", "r", "list", "[]"),
	}, Over: true})
	missing, known := resultMetadata(entries[len(entries)-1]), resultMetadata(entries[2])
	if got := string(encoded(missing)); got != `{"agent-stop-and-go":{"isError":true,"missing":true}}` || known != nil {
		t.Errorf("%s, %v", got, known)
	}
}
