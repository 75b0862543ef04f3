package snapshot

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/workflows/contract"
)

const (
	// kept is how many conversations have a view in memory.
	kept = 256
	// trusted is how long a view is returned without a question to the server, if Changes
	// has counted nothing since.
	trusted = time.Second
)

// Mark identifies a state of a workflow: nothing has happened to it while its mark is the same.
// The zero Mark is that of a workflow to which something is happening.
type Mark struct {
	Run    string
	Events int64
	Status int32
}

// Source asks the server for a workflow's mark, and a worker for its view.
type Source interface {
	Mark(ctx context.Context) (Mark, error)
	View(ctx context.Context) (contract.ConversationView, error)
}

// Views are the views that were read last. They are safe for concurrent use, and so are the
// views, which must not be changed.
type Views struct {
	changes *Changes
	now     func() time.Time
	views   *lru.Cache[string, known]
}

// known is a view and what proves that it is the present one.
type known struct {
	view  contract.ConversationView
	mark  Mark
	count uint64    // of Changes before the view was read
	at    time.Time // of its last proof
}

// New makes Views without any. Nil changes count nothing: then each reading asks the server.
func New(changes *Changes, now func() time.Time) *Views {
	views, err := lru.New[string, known](kept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Views{changes: changes, now: now, views: views}
}

// Read returns the view of a workflow. Nil Views ask the source each time.
func (v *Views) Read(ctx context.Context, workflowID string, s Source) (contract.ConversationView, error) {
	if v == nil {
		return s.View(ctx)
	}
	now := known{count: v.changes.count(workflowID), at: v.now()}
	last, ok := v.views.Get(workflowID)
	switch {
	case !ok: // most conversations are read once
		v.views.Add(workflowID, known{})
		return s.View(ctx)
	case v.changes != nil && last.mark != Mark{} && last.count == now.count && now.at.Sub(last.at) < trusted:
		return last.view, nil
	}
	var err error
	if now.mark, err = s.Mark(ctx); err != nil || now.mark == (Mark{}) {
		return s.View(ctx)
	}
	if now.view = last.view; now.mark != last.mark {
		if now.view, err = s.View(ctx); err != nil {
			return now.view, err
		}
	}
	v.views.Add(workflowID, now)
	return now.view, nil
}
