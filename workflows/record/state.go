package record

import (
	"context"
	"fmt"
	"sync"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// State is a conversation at one moment, with all values loaded.
type State struct {
	// View is the result of the workflow's query.
	View contract.ConversationView
	// Document is the conversation as a document, without messages: Messages have more fields.
	Document document.Conversation
	// Messages are all of the conversation, oldest first.
	Messages []contract.Message
	// Tree is nil for an agent that is one node.
	Tree *document.Tree
	// Running is set while a turn is running.
	Running bool
	// Response is the text of View.Last.
	Response string

	memo *memo
}

// Load loads the state of a conversation. tree is nil for an agent that is a single node.
func Load(ctx context.Context, store transcript.Store, view contract.ConversationView, tree *contract.TreeView) (*State, error) {
	s := &State{View: view, Running: view.Running}
	var err error
	if s.Messages, err = Messages(ctx, store, view.Transcript); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", view.ID, err)
	}
	if view.Last != nil {
		if s.Response, err = transcript.ReadText(ctx, store, view.Last.Response); err != nil {
			return nil, fmt.Errorf("read the reply of conversation %s: %w", view.ID, err)
		}
	}
	view.Transcript = contract.Transcript{}
	if s.Document, err = document.Render(ctx, store, view); err != nil {
		return nil, err
	}
	if tree != nil {
		t, err := document.RenderTree(ctx, store, *tree)
		if err != nil {
			return nil, err
		}
		s.Tree = &t
	}
	kept := s.WithMemo()
	return &kept, nil
}

// WithMemo returns the state with a memo for values derived by readers (Once).
func (s State) WithMemo() State {
	m := &memo{}
	s.memo = m
	m.of = s // with the memo, so that make functions can use Once for other keys
	return s
}

// Messages returns the messages of a transcript with all values loaded, without the native
// forms of replies.
func Messages(ctx context.Context, store transcript.Store, t contract.Transcript) ([]contract.Message, error) {
	messages, err := transcript.Load(ctx, store, t)
	if err != nil {
		return nil, err
	}
	for n, m := range messages {
		m.Native = nil
		if messages[n], err = transcript.Resolve(ctx, store, m); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// Over reports whether the last turn has ended.
func (s State) Over() bool { return !s.Running && len(s.Document.PendingApprovals) == 0 }

// Parallel reports whether nodes of a tree are running in the last turn.
func (s State) Parallel() bool { return s.Tree != nil && !s.Over() }

// Entries returns the record. Callers must not modify it.
func (s State) Entries() []Entry {
	if !s.Unchanged() {
		return s.read()
	}
	return s.Once(entriesKey{}, func(s State) any { return s.read() }).([]Entry)
}

type entriesKey struct{}

func (s State) read() []Entry {
	return Read(Source{Messages: s.Messages, Tree: s.Tree != nil, Over: s.Over()})
}

// Unchanged reports whether the record still equals that of the loaded state.
func (s State) Unchanged() bool {
	if s.memo == nil {
		return false
	}
	of := s.memo.of
	return (s.Tree == nil) == (of.Tree == nil) && s.Over() == of.Over() && len(s.Messages) == len(of.Messages) &&
		(len(s.Messages) == 0 || &s.Messages[0] == &of.Messages[0])
}

// memo keeps the values that readers derive from a loaded state, once for all of them.
type memo struct {
	of State

	mu     sync.Mutex
	values map[any]func() any
}

// Once returns the result of the first call of make for the key, with the state as loaded. For
// a state without a memo make is called every time. It is safe for concurrent use, and make may
// call it with another key.
func (s State) Once(key any, make func(State) any) any {
	m := s.memo
	if m == nil {
		return make(s)
	}
	return m.value(key, make)()
}

func (m *memo) value(key any, make func(State) any) func() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[any]func() any{}
	}
	if m.values[key] == nil {
		m.values[key] = sync.OnceValue(func() any { return make(m.of) })
	}
	return m.values[key]
}

// Same reports whether two states were loaded together, whatever was changed since.
func (s State) Same(other State) bool { return s.memo != nil && s.memo == other.memo }
