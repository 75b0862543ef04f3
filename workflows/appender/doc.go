// Package appender is the workflow Audit, the one appender of the audit log; package
// contract/audit has its types. It is a singleton: one workflow ID, on a task queue of its own.
//
// Leaves arrive as updates, which end when the log has them, and as signals. One local activity
// writes all that have arrived (ActivityAppend): while it runs more arrive, so a flood makes large
// batches and no queue. If it fails the leaves stay, are tried again at increasing intervals, and
// updates fail at once with the reason, so that the calls behind them wait where people see it. A
// leaf that was written although the answer was lost is recognised by its ID, here if it is recent,
// and in the log always.
//
// Where the log has witnesses that are reached by HTTP, a coroutine has them sign (cosign.go, ActivityCosign):
// a second after the first event, so that one signature is for those that come together, and again at
// increasing intervals until all have signed the newest checkpoint. Nothing waits for it.
//
// The workflow tells the activity which state of the log it has seen last, and carries that from run
// to run: a log that does not contain it is refused, whoever has replaced it.
package appender
