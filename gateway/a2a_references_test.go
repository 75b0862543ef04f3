package gateway_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// shelf is a backend with a script for each conversation.
type shelf struct {
	mu      sync.Mutex
	scripts map[string]*script
}

func newShelf(t *testing.T) (*shelf, *api) {
	s := &shelf{scripts: map[string]*script{}}
	return s, newAPI(t, &fakeBackend{
		StartFn: func(in service.StartInput) (service.StartResult, error) { return s.open(in.Conversation.ID).start(in) },
		AwaitFn: func(ctx context.Context, id string, requests []string) (contract.AwaitResult, error) {
			return s.of(id).await(ctx, id, requests)
		},
		ConversationFn: func(id, request string) (contract.ConversationView, error) { return s.of(id).read(id, request) },
		TreeFn:         func(id string) (contract.TreeView, error) { return s.of(id).readTree(id) },
	})
}

// of returns the script of a conversation, an empty one if it does not exist.
func (s *shelf) of(id string) *script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scripts[id] == nil {
		return taskScript()
	}
	return s.scripts[id]
}

func (s *shelf) open(id string) *script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scripts[id] == nil {
		s.scripts[id] = taskScript()
	}
	return s.scripts[id]
}

// ids lists the conversations.
func (s *shelf) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.scripts))
}

// first returns the message that has started a task.
func (s *shelf) first(id string) (m contract.MessageSignal, contextID string) {
	of := s.of(id)
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.sent[0], of.view.ContextID
}

// model returns what the model reads of the message that has started a task.
func (s *shelf) model(id string) string {
	m, _ := s.first(id)
	return m.Text.Inline
}

func references(ids ...string) object { return object{"referenceTaskIds": ids} }

func TestATaskContinuesTheTasksThatItsMessageReferences(t *testing.T) {
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		s, a := newShelf(t)
		first := a.rpc("SendMessage", said("m-1", "write", nil))
		one, context := first.text("result", "task", "id"), first.text("result", "task", "contextId")
		r := a.rpc(method, said("m-2", "shorter", references(one)))
		if !strings.Contains(r.raw, "TASK_STATE_COMPLETED") {
			t.Fatal(r.raw)
		}
		if a.rpc("SendMessage", said("m-2", "shorter", references(one))); len(s.ids()) != 2 {
			t.Fatalf("the same message again: %d tasks", len(s.ids()))
		}
		var two string
		for _, id := range s.ids() {
			if id != one {
				two = id
			}
		}
		if _, got := s.first(two); got != context {
			t.Errorf("%s: the context is %s, not %s", method, got, context)
		}
		if got, want := s.model(two), "[context] This was said in earlier tasks:\nuser: \"write\"\nassistant: \"answer to write\"\n\nshorter"; got != want {
			t.Errorf("%s: the model reads %q", method, got)
		}
		third := a.rpc("SendMessage", said("m-3", "longer", object{"contextId": context, "referenceTaskIds": []string{two}}))
		if got := s.model(third.text("result", "task", "id")); strings.Count(got, "user: \"write\"\n") != 1 || strings.Count(got, "user: \"shorter\"\n") != 1 || strings.Count(got, "[context] This") != 2 {
			t.Errorf("%s: the model reads %q", method, got) // the script quotes the message in its answer
		}
	}
}

func TestAWaitingTaskIsAnsweredBeforeItIsContinued(t *testing.T) {
	s, a := newShelf(t)
	one := a.rpc("SendMessage", said("m-1", "drop all", object{"contextId": "ctx"})).text("result", "task", "id")
	done := a.rpc("SendMessage", said("m-2", "write", object{"contextId": "ctx-2"})).text("result", "task", "id")
	r := a.rpc("SendMessage", said("m-3", "approved", references(one)))
	if len(s.ids()) != 2 || r.text("result", "task", "id") != one || !strings.Contains(r.raw, "waits for an answer") {
		t.Errorf("%d tasks: %s", len(s.ids()), r.raw)
	}
	r = a.rpc("SendMessage", said("m-4", "shorter", object{"contextId": "ctx", "referenceTaskIds": []string{done}}))
	if len(s.ids()) != 3 || state(r) != "TASK_STATE_COMPLETED" {
		t.Errorf("%d tasks: %s", len(s.ids()), r.raw)
	}
}

func TestOnlyTasksOfTheCallerAreReferenced(t *testing.T) {
	a := newTenancyAPI(t)
	ask := func(id string) string {
		i := ofBob.owner
		i.Scopes = []string{contract.ScopeConverse}
		r := a.rpc("SendMessage", said("m-1", "shorter", references(id)), badge(i), "A2A-Version: 1.0")
		return strings.ReplaceAll(fmt.Sprint(r.status, r.raw), id, "ID")
	}
	unknown := ask(ofNone.id)
	if !strings.Contains(unknown, "-32001") {
		t.Errorf("an unknown task: %s", unknown)
	}
	for _, id := range []string{ofAlice.id, runningOfAlice.id, deleted.id} {
		if got := ask(id); got != unknown {
			t.Errorf("a task of alice: %s\nan unknown one: %s", got, unknown)
		}
	}
	if got := ask(ofBob.id); strings.Contains(got, "-32001") {
		t.Errorf("his own task: %s", got)
	}
	many := make([]string, 11)
	for i := range many {
		many[i] = ofBob.id
	}
	_, plain := newShelf(t)
	if r := plain.rpc("SendMessage", said("m-2", "shorter", references(many...))); !strings.Contains(r.raw, "the limit is 10") {
		t.Errorf("11 references: %s", r.raw)
	}
}

func TestWhatWasSaidBeforeIsBounded(t *testing.T) {
	s, a := newShelf(t)
	id := ""
	for i := range 8 {
		more := references(id)
		if i == 0 {
			more = nil
		}
		id = a.rpc("SendMessage", said(fmt.Sprint("m-", i), fmt.Sprint("number ", i, " ", strings.Repeat("x", 6_000)), more)).text("result", "task", "id")
		s.of(id).write(func(v *contract.ConversationView) { // not the whole message again
			v.Transcript.Tail[len(v.Transcript.Tail)-1].Content = contract.Inline(strings.Repeat("y", 6_000))
		})
		first, _ := s.first(id)
		read, err := transcript.ReadText(t.Context(), a.blobs, first.Text)
		if err != nil {
			t.Fatal(err)
		}
		cut := strings.HasPrefix(read, "[context] This was said in earlier tasks, of which the beginning is left out:\n")
		before := fmt.Sprint("number ", i-1)
		if first.Preface > 65<<10 || cut != (i > 5) || cut == strings.Contains(read, "number 0") || i > 0 && !strings.Contains(read[:first.Preface], before) {
			t.Errorf("task %d: %d bytes in front: %.100s", i, first.Preface, read)
		}
	}
}
