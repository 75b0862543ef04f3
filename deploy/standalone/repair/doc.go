// Package repair finds workflows that cannot go on: their task fails again and again, or their run
// has failed. It resets them to before the task that fails, if no destructive call is lost by that.
//
//	find.go      Find: the cases, and why each is one
//	history.go   the point of the reset, and what happened after it
//	reset.go     Reset
//
// A reset makes the workflow forget what happened after its point, and do it again. Destructive
// calls that were sent are noted outside of histories too, so a call that comes up again is asked
// about (activities.Claims). Repair does not rely on that: it offers no reset over such a call,
// whether the call has run, may have run, was running at the point, or is in the history of a child.
package repair
