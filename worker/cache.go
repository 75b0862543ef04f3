package worker

import "go.temporal.io/sdk/worker"

// KeepInMemory limits how many workflows the workers of this process cache, including those of
// an embedded server. Call it before any of them starts, because the first one creates the
// cache. Other workflows are replayed from their history when a signal, a query or a result
// arrives.
func KeepInMemory(workflows int) { worker.SetStickyWorkflowCacheSize(workflows) }
