package await

import "slices"

// max is fewer than the updates that the server allows in one workflow, which are ten.
const max = 6

// Waiters are the running updates. The zero value has none.
type Waiters struct {
	// Seen is the number of updates in this run.
	Seen int
	// ReleaseAll has all of them return.
	ReleaseAll bool
	list       []*Waiter
}

// Waiter is a running update. It returns when it is released.
type Waiter struct{ Released bool }

// Add adds an update, and releases the oldest if there are too many.
func (w *Waiters) Add() *Waiter {
	w.Seen++
	next := &Waiter{}
	w.list = append(w.list, next)
	if len(w.list) > max {
		w.list[0].Released = true
		w.list = w.list[1:]
	}
	return next
}

// Remove removes an update that returns.
func (w *Waiters) Remove(gone *Waiter) {
	w.list = slices.DeleteFunc(slices.Clone(w.list), func(x *Waiter) bool { return x == gone })
}
