package auditing_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/verdict"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// server is the Audit as processes see it.
type server struct {
	mu       sync.Mutex
	awaited  []audit.Leaf
	recorded []audit.Leaf
	updates  int
	started  bool
	err      error
	blocked  chan struct{} // of the first update, if it is set
}

func (s *server) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	s.mu.Lock()
	s.updates++
	blocked := s.blocked
	s.blocked = nil
	s.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	if s.err != nil {
		return nil, s.err
	}
	e := o.Args[0].(audit.Entries)
	s.awaited, s.recorded = append(s.awaited, e.Await...), append(s.recorded, e.Then...)
	return handle{}, nil
}

func (s *server) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	s.recorded = append(s.recorded, arg.([]audit.Leaf)...)
	return nil, nil
}

func kinds(leaves []audit.Leaf) (out []audit.Kind) {
	for _, l := range leaves {
		out = append(out, l.Kind)
	}
	return out
}

type handle struct{ client.WorkflowUpdateHandle }

func (handle) Get(context.Context, any) error { return nil }

// files are the texts.
type files struct {
	mu    sync.Mutex
	all   map[string][]byte
	fails error
}

func (f *files) CreateSealed(_ context.Context, name string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, there := f.all[name]; there {
		return fs.ErrExist
	}
	if f.fails != nil {
		return f.fails
	}
	f.all[name] = data
	return nil
}

func (f *files) ReadSealed(_ context.Context, name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if data, there := f.all[name]; there {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (f *files) Remove(_ context.Context, prefix string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.all, func(name string, _ []byte) bool { return strings.HasPrefix(name, prefix) })
	return nil
}

func newRecorder(t *testing.T, s *server) (*auditing.Recorder, *files) {
	f := &files{all: map[string][]byte{}}
	r := auditing.NewRecorder(f, blobstore.Memory(), s, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	return r, f
}

func approval() contract.ApprovalInput {
	return contract.ApprovalInput{
		UUID: contract.NameUUID("approval", "1"), ConversationID: "c", AgentName: "tester", Tool: "remove", Server: "resources", Call: "m1",
		Arguments: contract.JSON{Raw: json.RawMessage(`{"name":"apple"}`)}, ArgumentsSHA256: "abc", Description: "**REMOVE apple**",
		Reason: contract.ReasonDestructive, Rule: "big", Policy: "0123456789ab", CreatedAt: noon, Audited: true,
		Owner: contract.Identity{Subject: "olga", Issuer: "keys"},
	}
}

func call() auditing.Call {
	return auditing.Call{Conversation: "c", Agent: "tester", Server: "resources", Tool: "remove", Key: "m1", SHA256: "abc", Arguments: contract.JSON{Raw: json.RawMessage(`{"name":"apple"}`)}}
}

func TestAnApprovedCallIsRecordedFromItsProposalToItsOutcome(t *testing.T) {
	s := &server{}
	r, f := newRecorder(t, s)
	in := approval()
	if _, err := r.Record(t.Context(), audit.Record{Approval: in}); err != nil {
		t.Fatal(err)
	}
	result := contract.ApprovalResult{
		UUID: in.UUID, Decision: contract.Approved, By: "Alice", Reason: "it is needed", Via: "rest", DecidedAt: noon.Add(time.Minute),
		Identity: contract.Identity{Subject: "alice", Issuer: "keys", Channel: "rest", Groups: []string{"ops"}},
		For:      &deputy.Deputy{ID: "d1", From: deputy.Person{Subject: "bob", Issuer: "sso"}, To: deputy.Person{Subject: "alice", Issuer: "keys"}, Reason: "needed"},
	}
	if _, err := r.Record(t.Context(), audit.Record{Approval: in, Result: &result, Recorded: true}); err != nil {
		t.Fatal(err)
	}
	end, err := r.Begin(t.Context(), call())
	if err != nil {
		t.Fatal(err)
	}
	end(nil, false)
	if want := []audit.Kind{audit.KindProposal, audit.KindShown, audit.KindProposal}; !slices.Equal(kinds(s.awaited), want) {
		t.Fatalf("awaited %v, expected %v", kinds(s.awaited), want)
	}
	if want := []audit.Kind{audit.KindDecision, audit.KindCall, audit.KindOutcome}; !slices.Equal(kinds(s.recorded), want) {
		t.Fatalf("recorded %v, expected %v", kinds(s.recorded), want)
	}
	if s.awaited[0].ID != s.awaited[2].ID || s.awaited[0].Text != s.awaited[2].Text || s.recorded[1].Proposal != s.awaited[0].ID || s.awaited[1].Proposal != s.awaited[0].ID {
		t.Errorf("the call does not find its proposal: %+v, %+v", s.awaited, s.recorded)
	}
	if d := s.recorded[0]; d.Actor == nil || !d.Actor.Proven || d.Actor.Subject != "alice" || d.Actor.Channel != "rest" || d.Policy != in.Policy || d.Rule != in.Rule {
		t.Errorf("%+v", d)
	}
	if d := s.recorded[0]; d.For == nil || *d.For != (audit.Deputized{Subject: "bob", Issuer: "sso", Deputy: "d1"}) {
		t.Errorf("the decision was made for %+v", d.For)
	}
	if s.recorded[2].Outcome != audit.OutcomeDone {
		t.Errorf("%+v", s.recorded[2])
	}
	// What people wrote is in the texts only.
	for _, l := range slices.Concat(s.awaited, s.recorded) {
		line, err := l.Line()
		if err != nil {
			t.Fatal(err)
		}
		for _, personal := range []string{"apple", "REMOVE", "needed", "Alice", "olga", "abc"} {
			if strings.Contains(string(line), personal) {
				t.Errorf("%q is in the log: %s", personal, line)
			}
		}
		if l.Text == "" {
			continue
		}
		if text, err := auditing.ReadText(t.Context(), f, l); err != nil || text.Sum() != l.Text {
			t.Errorf("%s: %+v, %v", l.Kind, text, err)
		}
	}
	if err := r.Deleted(t.Context(), deletion.Tombstone{ConversationID: "c", DeletedAt: noon, Cause: deletion.CauseRequest}); err != nil || len(f.all) != 0 {
		t.Errorf("%d texts are left, %v", len(f.all), err)
	}
}

// A decision brings what was shown if that is not recorded yet.
func TestADecisionComesBehindWhatWasShown(t *testing.T) {
	s := &server{}
	r, _ := newRecorder(t, s)
	for range 2 { // an attempt that was repeated
		if _, err := r.Record(t.Context(), audit.Record{Approval: approval(), Result: &contract.ApprovalResult{Decision: contract.Expired}}); err != nil {
			t.Fatal(err)
		}
	}
	want := []audit.Kind{audit.KindProposal, audit.KindShown, audit.KindDecision}
	if got := kinds(s.recorded); !slices.Equal(got[:3], want) || !slices.Equal(got[3:], want) {
		t.Errorf("recorded %v", got)
	}
	for i := range 3 {
		if s.recorded[i].ID != s.recorded[i+3].ID || s.recorded[i].Text != s.recorded[i+3].Text {
			t.Errorf("%+v is another than %+v", s.recorded[i], s.recorded[i+3])
		}
	}
}

// A no does not wait for ever for a store that is stuck.
func TestADecisionIsRecordedInTheEndWithoutItsText(t *testing.T) {
	s := &server{}
	r, f := newRecorder(t, s)
	f.fails = errors.New("no answer")
	no := audit.Record{Approval: approval(), Result: &contract.ApprovalResult{Decision: contract.Rejected, By: "ops", Reason: "no"}}
	if _, err := r.Record(t.Context(), no); err == nil || len(s.recorded) != 0 {
		t.Errorf("%v; recorded %v", err, s.recorded)
	}
	if err := auditing.Late(r, t.Context(), no, true); err != nil {
		t.Fatal(err)
	}
	if want := []audit.Kind{audit.KindShown, audit.KindDecision}; !slices.Equal(kinds(s.recorded), want) || s.recorded[1].Decision != contract.Rejected || s.recorded[0].Text+s.recorded[1].Text != "" {
		t.Errorf("recorded %+v", s.recorded)
	}
}

func TestACallIsNotMadeWhileItCannotBeRecorded(t *testing.T) {
	s := &server{started: true, err: errors.New("no space left on device")}
	r, _ := newRecorder(t, s)
	if _, err := r.Begin(t.Context(), call()); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("%v", err)
	}
	if len(s.recorded) != 1 || s.recorded[0].Outcome != audit.OutcomeNotSent {
		t.Errorf("recorded %+v", s.recorded)
	}
}

// A call that the Audit has refused has no leaf, so none says what came of it: while the log cannot be
// written, nothing is added to what waits.
func TestACallThatIsRefusedLeavesNothing(t *testing.T) {
	s := &server{started: true, err: temporal.NewApplicationError("the audit log cannot be written: disk full", string(audit.KindUnwritten))}
	r, _ := newRecorder(t, s)
	if _, err := r.Begin(t.Context(), call()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Fatalf("%v", err)
	}
	if len(s.recorded) != 0 {
		t.Errorf("recorded %+v", s.recorded)
	}
}

// Calls that come while an update runs need one update together.
func TestCallsThatComeTogetherNeedFewUpdates(t *testing.T) {
	s := &server{started: true, blocked: make(chan struct{})}
	r, _ := newRecorder(t, s)
	blocked := s.blocked
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := r.Begin(t.Context(), call()); err != nil {
				t.Error(err)
			}
		})
	}
	time.AfterFunc(50*time.Millisecond, func() { close(blocked) })
	wg.Wait()
	if len(s.awaited) != 50 || s.updates > 5 {
		t.Errorf("%d calls in %d updates", len(s.awaited), s.updates)
	}
}

func TestWithoutAnAuditNothingIsRecorded(t *testing.T) {
	var r *auditing.Recorder
	if _, err := r.Record(t.Context(), audit.Record{Approval: approval()}); err != nil {
		t.Error(err)
	}
	end, err := r.Begin(t.Context(), call())
	if err != nil {
		t.Fatal(err)
	}
	end(nil, false)
	if err := r.Deleted(t.Context(), deletion.Tombstone{}); err != nil {
		t.Error(err)
	}
}

func TestChangesAreRecordedBeforeTheirDecision(t *testing.T) {
	s := &server{}
	r, f := newRecorder(t, s)
	in := approval()
	d := contract.ApprovalResult{UUID: in.UUID, Decision: contract.Approved, DecidedAt: noon, Revision: &contract.Revision{
		Arguments: contract.JSON{Raw: json.RawMessage(`{"name":"pear"}`)}, SHA256: "def", Changes: []edit.Change{{Name: "name", Before: `"apple"`, After: `"pear"`}}, Verdict: &verdict.Verdict{Outcome: verdict.Allow, Rule: "small"}, Policy: "ba9876543210",
	}}
	if _, err := r.Record(t.Context(), audit.Record{Approval: in, Result: &d, Recorded: true}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := kinds(s.recorded); !slices.Equal(got, []audit.Kind{audit.KindEdit, audit.KindDecision}) {
		t.Fatalf("%v", got)
	}
	l := s.recorded[0]
	if l.Proposal != audit.ProposalID("c", "m1", "resources", "remove", "def") || l.Approval != in.UUID || l.Rule != "small" {
		t.Errorf("%+v", l)
	}
	text, err := auditing.ReadText(t.Context(), f, l)
	if err != nil || string(text.Content) != `{"shown_arguments":{"name":"apple"},"shown_arguments_sha256":"abc","arguments":{"name":"pear"},"arguments_sha256":"def"}` {
		t.Errorf("%s %v", text.Content, err)
	}
}

// A release is in the log before the decision, which is nobody's yes.
func TestAReleaseIsRecordedWithWhoAndByWhichRules(t *testing.T) {
	s := &server{}
	r, _ := newRecorder(t, s)
	in := approval()
	in.Policy = "old"
	operator := contract.Identity{Subject: "olga", Issuer: "keys", Channel: "rest"}
	d := contract.ApprovalResult{
		Decision: contract.Approved, By: "olga", Via: verdict.Via, Identity: operator, Policy: "new",
		Revision: &contract.Revision{SHA256: in.ArgumentsSHA256, Verdict: &verdict.Verdict{Outcome: verdict.Allow, Rule: "small"}, Policy: "new", Released: true},
	}
	if _, err := r.Record(t.Context(), audit.Record{Approval: in, Result: &d, Recorded: true}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := kinds(s.recorded); !slices.Equal(got, []audit.Kind{audit.KindRelease, audit.KindDecision}) {
		t.Fatalf("%v", got)
	}
	l := s.recorded[0]
	if l.Policy != "new" || l.Rule != "small" || l.What != "allow" || l.Actor.Subject != "olga" || !l.Actor.Proven || l.Approval != in.UUID {
		t.Errorf("%+v", l)
	}
	if l = s.recorded[1]; l.Policy != "new" || l.Actor.Channel != verdict.Via || l.Decision != contract.Approved {
		t.Errorf("%+v", l)
	}
}
