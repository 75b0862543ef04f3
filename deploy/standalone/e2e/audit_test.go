package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/deploy/standalone/auditor"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// auditing is an agent with an audit log, and what its operator types.
type auditing struct {
	*home
	bin, log, proof string
}

func newAuditing(t *testing.T) *auditing {
	h := newHome(t)
	a := &auditing{home: h, log: filepath.Join(h.dir, "data", "blobs", "audit", "log"), proof: filepath.Join(h.dir, "proof.json")}
	h.extra = "audit: {witness: " + filepath.Join(h.dir, "witness") + "}\n"
	var err error
	if a.bin, err = binaries(); err != nil {
		t.Fatal(err)
	}
	return a
}

// run runs agent audit and returns what it prints, and whether it succeeds.
func (a *auditing) run(args ...string) (string, bool) {
	a.t.Helper()
	cmd := exec.Command(filepath.Join(a.bin, "agent"), append(append([]string{"audit"}, args...), "--config", filepath.Join(a.dir, a.file))...)
	cmd.Env = append(os.Environ(), a.environ()...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (a *auditing) runs(want string, args ...string) string {
	a.t.Helper()
	out, ok := a.run(args...)
	if !ok || !strings.Contains(out, want) {
		a.t.Fatalf("agent audit %s: %v\n%s\nexpected %q", strings.Join(args, " "), ok, out, want)
	}
	return out
}

// verifyProof runs the program that knows nothing of the agent.
func (a *auditing) verifyProof(want string) {
	a.t.Helper()
	args := []string{"run", "./deploy/audit-verify"}
	for key := range strings.FieldsSeq(a.runs("", "key")) {
		args = append(args, "--key", key)
	}
	cmd := exec.Command("go", append(args, a.proof)...)
	cmd.Dir = "../../.."
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		a.t.Errorf("audit-verify: %v\n%s\nexpected %q", err, out, want)
	}
}

// The log has what happened, through a crash, through a time in which it could not be written, and
// after the conversation was deleted; what was done to it is found.
func TestTheAuditLogProvesWhatHappened(t *testing.T) {
	t.Parallel()
	h := newAuditing(t)
	api, agent := h.outside()
	asked := api.ask(`call note_add {"name":"first"}`)
	agent.kill()
	api, _ = h.outside()
	api.decide(asked.Result.Approval.UUID, `{"approved":true,"by":"alice","reason":"it is needed"}`)
	refused := api.ask(`call note_add {"name":"refused"}`)
	api.decide(refused.Result.Approval.UUID, `{"approved":false}`)

	// The call behind an approval waits, visibly, while the log cannot be written.
	h.runs("nothing is wrong with it", "verify")
	away := h.log + ".away"
	rename(t, h.log, away)
	if err := os.WriteFile(h.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held := api.ask(`call note_add {"name":"held"}`)
	waits := api.decide(held.Result.Approval.UUID, `{"approved":true,"by":"alice"}`)
	if !waits.Result.WaitingApproval || !strings.Contains(waits.Result.Approval.Description, "the audit log cannot be written: its store fails") {
		t.Fatalf("the call does not wait: %+v", waits.Result)
	}
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Fatalf("%d calls, expected the first", n)
	}
	if err := os.Remove(h.log); err != nil {
		t.Fatal(err)
	}
	rename(t, away, h.log)
	eventually(t, "the call that waited for the log", func() bool { return len(h.tools.called("note_add")) == 2 })
	api.want(200, "POST", "/control/pause", `{"what":"tool:nothing","by":"ops"}`)

	eventually(t, "the outcome in the log", func() bool {
		var r merkle.Report
		out, _ := h.run("verify", "--json")
		return json.Unmarshal([]byte(out), &r) == nil && len(r.Findings) == 0 && r.Open == 0
	})
	h.runs("2 destructive calls are in the log and in the histories\n1 ended before they were sent\n", "reconcile")
	var figures auditor.Oversight
	if err := json.Unmarshal([]byte(h.runs("", "figures", "--json")), &figures); err != nil || !decided(figures, 2, 1) {
		t.Errorf("%+v, %v", figures, err)
	}
	id := asked.Conversation.ID
	h.runs("", "export", id, "--output", h.proof)
	h.verifyProof("it is needed")

	// The texts of a deleted conversation are gone, and its events still proven.
	api.delete(200, id, "")
	h.runs("nothing is wrong with it", "verify")
	h.runs("", "export", id, "--output", h.proof)
	h.verifyProof("erased")
	if data, err := os.ReadFile(h.proof); err != nil || strings.Contains(string(data), "it is needed") {
		t.Errorf("the text is not erased: %v", err)
	}

	// An editor of the files is found, and nothing runs meanwhile.
	batches, err := filepath.Glob(filepath.Join(h.log, "*", "*"))
	if err != nil || len(batches) < 8 {
		t.Fatalf("%d batches, %v", len(batches), err)
	}
	last := batches[len(batches)-1]
	rename(t, last, h.proof)
	if out, ok := h.run("verify"); ok || !strings.Contains(out, "tail missing: there were") {
		t.Errorf("the last batch is missing: %v\n%s", ok, out)
	}
	rename(t, h.proof, last)
	h.runs("nothing is wrong with it", "verify")
}

// decided reports whether people have approved and rejected so often through the API.
func decided(o auditor.Oversight, approved, rejected int) bool {
	return len(o.Approvers) == 1 && o.Approvers[0].Channel == "rest" && o.Approvers[0].Approved == approved && o.Approvers[0].Rejected == rejected
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A call that waits for its log and then runs, and one that is rejected.
func TestRecordAuditedCalls(t *testing.T) {
	t.Parallel()
	h := newAuditing(t)
	api, p := h.whole()
	rejected := api.ask(`call note_add {"name":"y"}`)
	api.decide(rejected.Result.Approval.UUID, `{"approved":false,"reason":"not now"}`)
	away := h.log + ".away"
	rename(t, h.log, away)
	if err := os.WriteFile(h.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asked := api.ask(`call note_add {"name":"x"}`)
	waits := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	if !waits.Result.WaitingApproval {
		t.Fatalf("the call does not wait: %+v", waits.Result)
	}
	if err := os.Remove(h.log); err != nil {
		t.Fatal(err)
	}
	rename(t, away, h.log)
	eventually(t, "the call has run", func() bool {
		m := api.conversation(asked.Conversation.ID).Messages
		return contains(m[len(m)-1].Content, "added x")
	})
	keep(t, p.Client, "audit", audit.WorkflowID)
	keep(t, p.Client, "audited", contract.ConversationWorkflowID(asked.Conversation.ID))
	keep(t, p.Client, "audited-approval", contract.ApprovalWorkflowID(asked.Result.Approval.UUID))
	keep(t, p.Client, "audited-wait", contract.ApprovalWorkflowID(waits.Result.Approval.UUID))
	keep(t, p.Client, "audited-rejected", contract.ApprovalWorkflowID(rejected.Result.Approval.UUID))
}
