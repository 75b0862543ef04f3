package run

import "slices"

// Waiters are the running await_settled updates. The server allows ten per workflow, and a
// caller that disconnects leaves its update behind, so the oldest is released if there are too
// many. A released caller that is still there sends another. The zero value has none.
type Waiters struct {
	// Seen is the number of updates handled in this run. ReleaseAll releases all of them.
	Seen       int
	ReleaseAll bool

	list []*Waiter
}

// Waiter is one update.
type Waiter struct{ Released bool }

const maxWaiters = 6

// Add adds a waiter.
func (w *Waiters) Add() *Waiter {
	w.Seen++
	next := &Waiter{}
	w.list = append(w.list, next)
	if len(w.list) > maxWaiters {
		w.list[0].Released = true
		w.list = w.list[1:]
	}
	return next
}

// Remove removes a waiter. It may have been removed before.
func (w *Waiters) Remove(gone *Waiter) {
	w.list = slices.DeleteFunc(slices.Clone(w.list), func(x *Waiter) bool { return x == gone })
}
