package worker

import "go.temporal.io/sdk/worker"

// KeepInMemory bounds how many workflows the workers of this process keep in memory, those
// of an embedded server included. Call it before any of them starts: the first one makes
// the cache for all. Workflows beyond it are replayed from their history when a signal, a
// query or a result comes.
func KeepInMemory(workflows int) { worker.SetStickyWorkflowCacheSize(workflows) }
