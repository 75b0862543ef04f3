// Package control is the workflow that holds the switches of a namespace; package switches has
// its types. A switch pauses destructive calls: the activity that is about to make one reads the
// memo of the Control first (activities.Switches). The call then waits as an Approval, which
// registers here and is released when no switch holds its call any more.
//
// The check of the activity is what pauses. A release only wakes: the call is checked again. So
// an approval that registers after the resume is released at once, one that is released by
// mistake waits again, and a release that is lost is made up for when the approval registers
// once more.
//
// The Control stays open after the last switch is removed. It takes changes as updates from
// gateways and as signals that people type. Of changes that arrive together as signals, resumes
// count before pauses: in doubt calls stay paused. A cancellation changes nothing.
//
// It never ends, so it would need the key of its encryption for ever. The signal renew begins a new
// run, which needs only that of the worker.
package control
