package task_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
)

const taskID = "0e37df36-f698-11e6-8dd4-cb9ced3df976"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world builds a conversation and keeps its state after every change.
type world struct {
	src     task.Source
	history []task.Source
}

func newWorld() *world {
	w := &world{src: task.Source{Agent: "helper", State: record.State{View: contract.ConversationView{
		ID: taskID, ContextID: "context-1", Status: contract.StatusActive, UpdatedAt: noon, Task: true,
	}}, Media: media}}
	w.save()
	return w
}

func media(m contract.Media) string { return "http://media/" + m.SHA256 }

func (w *world) save() {
	w.src.View.Version++
	s := w.src
	s.Messages = slices.Clone(s.Messages)
	s.Document.PendingApprovals = slices.Clone(s.Document.PendingApprovals)
	s.View.Pending, s.Running = s.Document.PendingApprovals, s.View.Running
	if s.View.Last != nil {
		last := *s.View.Last
		s.View.Last = &last
	}
	w.history = append(w.history, s)
}

func (w *world) write(m contract.Message) {
	m.ID = fmt.Sprintf("m-%d", len(w.src.Messages)+1)
	w.src.View.UpdatedAt = w.src.View.UpdatedAt.Add(time.Second)
	m.CreatedAt = w.src.View.UpdatedAt
	w.src.Messages = append(w.src.Messages, m)
}

func (w *world) says(text string) {
	w.write(contract.Message{Role: contract.RoleUser, Content: contract.Inline(text)})
	w.src.View.Running = true
	w.save()
}

func (w *world) calls(tool string) {
	w.write(contract.Message{Role: contract.RoleAssistant, ToolCall: &contract.ToolCall{Name: tool}})
	w.save()
	w.write(contract.Message{Role: contract.RoleTool, ToolCall: &contract.ToolCall{Name: tool, Result: contract.Inline("ok")}})
	w.save()
}

func (w *world) remarks(text string) {
	w.write(contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text)})
	w.save()
}

func (w *world) asks(uuid string) {
	w.src.Document.PendingApprovals = append(w.src.Document.PendingApprovals, contract.PendingApproval{
		UUID: uuid, ToolName: "drop", ToolArgs: contract.JSON{Raw: json.RawMessage(`{"name":"all"}`)}, Description: "**DROP**", Digest: "d",
	})
	w.write(contract.Message{Role: contract.RoleAssistant, Content: contract.Inline("Approval required " + uuid), Notice: true, ApprovalID: uuid})
	w.src.View.Running = false
	w.save()
}

func (w *world) decided(uuid string) {
	w.src.Document.PendingApprovals = slices.DeleteFunc(w.src.Document.PendingApprovals, func(p contract.PendingApproval) bool { return p.UUID == uuid })
	w.write(contract.Message{
		Role: contract.RoleUser, Content: contract.Inline("[APPROVAL]: Approved"), Notice: true, Approval: &contract.ApprovalResult{UUID: uuid},
	})
	w.src.View.Running = len(w.src.Document.PendingApprovals) == 0
	w.save()
}

func (w *world) ends(o contract.Outcome, text string) {
	w.write(contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text)})
	w.save() // the reply is recorded before the turn ends
	w.src.Response, w.src.View.Running = text, false
	w.src.View.Last = &contract.LastTurn{Turn: 1, Outcome: o}
	w.src.View.Status = contract.StatusCompleted
	w.save()
}

func line(e task.Event) string {
	raw, err := json.Marshal(a2a.StreamResponse{Event: e.Event})
	if err != nil {
		panic(err)
	}
	return e.ID + " " + string(raw)
}

func brief(e a2a.Event) string {
	switch e := e.(type) {
	case *a2a.Task:
		return "task " + string(e.Status.State)
	case *a2a.TaskArtifactUpdateEvent:
		return "artifact " + e.Artifact.Parts[0].Text()
	case *a2a.TaskStatusUpdateEvent:
		text := string(e.Status.State)
		if e.Status.Message != nil {
			text += " " + e.Status.Message.Parts[0].Text()
		}
		return text
	}
	return fmt.Sprintf("%T", e)
}

func TestAStreamCoversTheWholeTask(t *testing.T) {
	w := newWorld()
	w.says("drop all")
	w.remarks("I will look.")
	w.calls("list")
	w.asks("u-1")
	w.decided("u-1")
	w.ends(contract.OutcomeDone, "Dropped.")
	var got []string
	s := task.NewStream(task.Shape{})
	for _, src := range w.history {
		for _, e := range s.Update(src) {
			got = append(got, brief(e.Event))
		}
	}
	want := []string{
		"task TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_WORKING I will look.",
		"TASK_STATE_INPUT_REQUIRED Approval required (id: u-1): **DROP**\n\nAnswer \"approved\" or \"rejected\". " +
			`Programs answer with a data part {"type":"agent-stop-and-go/approval-answer","uuid":UUID,"approved":true or false}.`,
		"TASK_STATE_WORKING [APPROVAL]: Approved", "artifact Dropped.", "TASK_STATE_COMPLETED",
	}
	if diff := cmp.Diff(want, got); diff != "" || !s.Over() {
		t.Errorf("over %t, events (-want +got):\n%s", s.Over(), diff)
	}
}

func TestEveryOutcomeIsSent(t *testing.T) {
	for outcome, want := range map[contract.Outcome]string{
		contract.OutcomeFailed:    "TASK_STATE_FAILED Because.",
		contract.OutcomeRejected:  "TASK_STATE_REJECTED Because.",
		contract.OutcomeCancelled: "TASK_STATE_CANCELED Because.",
	} {
		w := newWorld()
		w.says("go")
		w.ends(outcome, "Because.")
		s := task.NewStream(task.Shape{})
		s.Update(w.history[1])
		s.Update(w.history[2])
		if got := s.Update(w.history[3]); len(got) != 1 || brief(got[0].Event) != want {
			t.Errorf("%s: %v", outcome, got)
		}
	}
}

// sideBySide is a conversation of parallel nodes: a later message of the first node is
// ordered before an earlier message of the second.
func sideBySide() *world {
	w := newWorld()
	w.src.Tree = &document.Tree{}
	w.says("go")
	w.asks("u-1")
	w.asks("u-2")
	w.decided("u-1")
	w.moveUp(1)
	w.remarks("One is done.")
	w.moveUp(1)
	w.decided("u-2")
	w.ends(contract.OutcomeDone, "Both are done.")
	return w
}

// moveUp moves the newest message of the last state up by some places.
func (w *world) moveUp(places int) {
	last := &w.history[len(w.history)-1]
	n := len(last.Messages)
	m := last.Messages[n-1]
	last.Messages = slices.Insert(last.Messages[:n-1], n-1-places, m)
	w.src.Messages = slices.Clone(last.Messages)
}

func TestParallelNodesAreSentInTheOrderOfTime(t *testing.T) {
	w := sideBySide()
	always := task.NewStream(task.Shape{})
	var want, states []string
	var ids []string
	at := map[string]int{} // the state in which an event was sent
	for i, src := range w.history {
		for _, e := range always.Update(src) {
			if _, again := at[e.ID]; again {
				t.Errorf("two events have the ID %s", e.ID)
			}
			at[e.ID] = i
			ids, want, states = append(ids, e.ID), append(want, line(e)), append(states, strings.SplitN(brief(e.Event), "\n", 2)[0])
		}
	}
	if diff := cmp.Diff([]string{
		"task TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED Approval required (id: u-1): **DROP**",
		"TASK_STATE_INPUT_REQUIRED Approval required (id: u-1): **DROP**", "TASK_STATE_INPUT_REQUIRED Approval required (id: u-2): **DROP**",
		"TASK_STATE_INPUT_REQUIRED One is done.", "TASK_STATE_WORKING [APPROVAL]: Approved", "artifact Both are done.", "TASK_STATE_COMPLETED",
	}, states); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n, id := range ids {
		s, err := task.ResumeStream(task.Shape{}, id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, src := range w.history[at[id]:] {
			for _, e := range s.Update(src) {
				got = append(got, line(e))
			}
		}
		if diff := cmp.Diff(want[n+1:], got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("behind %s (-there all the time +came back):\n%s", id, diff)
		}
	}
}

// The approvals are withdrawn without a message.
func TestAStateWithoutAMessageIsSentOnce(t *testing.T) {
	w := newWorld()
	w.says("go")
	w.asks("u-1")
	s := task.NewStream(task.Shape{})
	for _, src := range w.history {
		s.Update(src)
	}
	w.src.Document.PendingApprovals, w.src.View.Running = nil, true
	w.save()
	now := w.history[len(w.history)-1]
	events := s.Update(now)
	if len(events) != 1 || brief(events[0].Event) != "TASK_STATE_WORKING" {
		t.Fatalf("got %v", events)
	}
	again, err := task.ResumeStream(task.Shape{}, events[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if more := again.Update(now); len(more) > 0 {
		t.Errorf("sent again: %s", line(more[0]))
	}
	w.ends(contract.OutcomeDone, "Done.")
	var rest []string
	for _, src := range w.history[len(w.history)-2:] {
		for _, e := range again.Update(src) {
			rest = append(rest, brief(e.Event))
		}
	}
	if diff := cmp.Diff([]string{"artifact Done.", "TASK_STATE_COMPLETED"}, rest); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPositionOfAnotherTaskStartsWithTheTask(t *testing.T) {
	w := newWorld()
	w.says("go")
	s, err := task.ResumeStream(task.Shape{}, "0/1.abc")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Update(w.src); len(got) != 1 || brief(got[0].Event) != "task TASK_STATE_WORKING" {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"x", "1.1.0", "-1/1.1", "9/1.1", "0/1.zz", "0/-1.1"} {
		if _, err := task.ResumeStream(task.Shape{}, bad); err == nil {
			t.Errorf("%q was taken for the ID of an event", bad)
		}
	}
}
