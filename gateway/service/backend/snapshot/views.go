package snapshot

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/workflows/contract"
)

const (
	// maxViews is how many conversations have a view in memory. A view is at most as large as
	// the server lets the answer to a query be, two megabytes.
	maxViews = 64
	// maxKept is how many have one that was never read (Keep), maxKeptBytes how large it may be.
	maxKept      = 128
	maxKeptBytes = 16 << 10
	// freshTime is how long a view is returned without asking the server, if Changes has
	// counted nothing since.
	freshTime = time.Second
)

// Mark identifies a state of a workflow: as long as its mark is the same, nothing has
// happened to the workflow. The zero Mark means that something is happening.
type Mark struct {
	Run    string
	Events int64
	Status int32
}

// Source asks the server for the mark of a workflow, and a worker for its view.
type Source interface {
	Mark(ctx context.Context) (Mark, error)
	View(ctx context.Context) (contract.ConversationView, error)
}

// Views keeps the views read last. It is safe for concurrent use. The views must not be
// changed.
type Views struct {
	changes *Changes
	now     func() time.Time
	views   *lru.Cache[string, cachedView]
	kept    *lru.Cache[string, cachedView]
}

// cachedView is a view with the evidence that it is current.
type cachedView struct {
	view  contract.ConversationView
	mark  Mark
	count uint64    // of Changes, before the view was read
	at    time.Time // when it was last known to be current
}

// New returns empty Views. changes may be nil; then every Read asks the server.
func New(changes *Changes, now func() time.Time) *Views {
	return &Views{changes: changes, now: now, views: bounded(maxViews), kept: bounded(maxKept)}
}

func bounded(size int) *lru.Cache[string, cachedView] {
	c, err := lru.New[string, cachedView](size)
	if err != nil {
		panic(err) // the size is positive
	}
	return c
}

// Keep has a view of some bytes returned for freshTime, unless Changes count more than count.
func (v *Views) Keep(workflowID string, view contract.ConversationView, count uint64, bytes int) {
	if v != nil && v.changes != nil && bytes <= maxKeptBytes {
		v.kept.Add(workflowID, cachedView{view: view, count: count, at: v.now()})
	}
}

// keeps returns the view of Keep, if nothing has happened since.
func (v *Views) keeps(workflowID string, now cachedView) (contract.ConversationView, bool) {
	k, ok := v.kept.Get(workflowID)
	if ok && (k.count != now.count || now.at.Sub(k.at) >= freshTime) {
		v.kept.Remove(workflowID)
		ok = false
	}
	return k.view, ok
}

// Read returns the view of a workflow. Nil Views ask the source every time.
func (v *Views) Read(ctx context.Context, workflowID string, s Source) (contract.ConversationView, error) {
	if v == nil {
		return s.View(ctx)
	}
	now := cachedView{count: v.changes.Count(workflowID), at: v.now()}
	if view, ok := v.keeps(workflowID, now); ok {
		return view, nil
	}
	last, ok := v.views.Get(workflowID)
	switch {
	case !ok: // most conversations are read once
		view, err := s.View(ctx)
		if err == nil {
			v.views.Add(workflowID, cachedView{})
		}
		return view, err
	case v.changes != nil && last.mark != Mark{} && last.count == now.count && now.at.Sub(last.at) < freshTime:
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
