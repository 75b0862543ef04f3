package embedded

import (
	"maps"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

// unlimited is more than one server can serve. The limits below protect a shared
// cluster from its tenants; here there is one tenant. At a limit clients would get
// ResourceExhausted instead of waiting.
const unlimited = 100_000

// queueWorkers is the number of tasks of a queue that are processed concurrently.
const queueWorkers = 64

// settings is the dynamic configuration of the server.
type settings struct {
	dynamicconfig.StaticClient
	fresh atomic.Bool // read search attributes from the database, not from a cache of up to two seconds
}

// pace removes delays in finding and acknowledging work.
var pace = dynamicconfig.StaticClient{
	// By default the queues poll at most 20 times per second, which adds about 50 ms to every
	// step.
	dynamicconfig.TransferProcessorMaxPollRPS.Key():   5000,
	dynamicconfig.TimerProcessorMaxPollRPS.Key():      5000,
	dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 5000,
	dynamicconfig.OutboundProcessorMaxPollRPS.Key():   5000,

	// After a kill the next server first repeats the work since the last acknowledgement. By
	// default that is up to 30 seconds of work, which delayed every start of a busy agent.
	dynamicconfig.TransferProcessorUpdateAckInterval.Key():   time.Second,
	dynamicconfig.TimerProcessorUpdateAckInterval.Key():      time.Second,
	dynamicconfig.VisibilityProcessorUpdateAckInterval.Key(): time.Second,

	// By default the removal of a run waits until all tasks up to that of its end are
	// acknowledged, among them other removals that wait, with pauses that grow to minutes. Without
	// that wait a parent or a child may not learn of the end of a run, but a conversation is
	// removed with all its parents and children.
	dynamicconfig.TransferProcessorEnsureCloseBeforeDelete.Key(): false,

	// Maximum difference between the clocks of a cluster, 1 second by default. Shorter timers,
	// such as of a retry without a pause, wait for up to that time. Here there is one clock.
	dynamicconfig.TimerProcessorMaxTimeShift.Key(): 10 * time.Millisecond,

	// By default pollers and tasks are distributed over 4 partitions, and a task may wait in
	// one without a poller: with one client the slowest percent of workflows took 100 ms, once
	// 20 s. With one partition it takes 40 ms.
	dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
	dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
}

// limits are set beyond the capacity of the database, because there is one tenant.
var limits = dynamicconfig.StaticClient{
	// Requests per second: 2400 at the frontend, 1200 in matching, 3000 in history by default.
	dynamicconfig.FrontendRPS.Key():                        unlimited,
	dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(): unlimited,
	dynamicconfig.MatchingRPS.Key():                        unlimited,
	dynamicconfig.HistoryRPS.Key():                         unlimited,

	// Lists and counts: 10 per second by default, which one open Web UI page can exhaust.
	dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): unlimited,

	// Statements per second. The queues' polls may use 30 % of history's.
	dynamicconfig.FrontendPersistenceMaxQPS.Key(): unlimited,
	dynamicconfig.MatchingPersistenceMaxQPS.Key(): unlimited,
	dynamicconfig.HistoryPersistenceMaxQPS.Key():  unlimited,

	// Waiting clients (polls, updates, queries): 1200 of each kind by default.
	dynamicconfig.FrontendMaxConcurrentLongRunningRequestsPerInstance.Key(): unlimited,

	// Waiting clients per workflow: 10 by default. One gateway stays below that, two might not.
	dynamicconfig.WorkflowExecutionMaxInFlightUpdates.Key(): 100,
}

// parts enables and disables parts of the server.
var parts = dynamicconfig.StaticClient{
	// Eager execution: steps run in the requesting process. Both are defaults; without them
	// throughput halves.
	dynamicconfig.EnableActivityEagerExecution.Key(): true,
	dynamicconfig.EnableEagerWorkflowStart.Key():     true,

	// Scans every event for external payloads: 6 % of the CPU for statistics that are not used.
	dynamicconfig.ExternalPayloadsEnabled.Key(): false,

	// Disables the request for the latest version.
	dynamicconfig.EnableServerVersionCheck.Key(): false,
}

// mortal turns off what cannot be stopped, in a server that ends before its process.
var mortal = dynamicconfig.StaticClient{
	// System workers that the server starts and never stops: they would continue to poll a
	// stopped server, and the next one on the same port. They are not needed: children of a
	// closing parent are handled one by one instead, and a few hundred bytes per start of a
	// worker (its sticky queue) stay in the database.
	dynamicconfig.EnableParentClosePolicyWorker.Key(): false,
	dynamicconfig.TaskQueueScannerEnabled.Key():       false,
	dynamicconfig.HistoryScannerEnabled.Key():         false,
}

// shared has room for workers and gateways in processes of their own, whose workflows need not
// fit into the memory of this one.
var shared = dynamicconfig.StaticClient{
	dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 10_000,
}

// memory bounds caches and workers.
var memory = dynamicconfig.StaticClient{
	// Entries of the cache of the history service: 128,000 by default. Each workflow ID has one
	// besides that of its execution, which has about 25 KB. If an execution is evicted while a
	// client waits for it, the wait restarts, so the cache must have room for all that clients
	// may wait for: with 1000 entries, 100 clients that decide made it forget approvals whose
	// decision was on its way. No limit in bytes fits: a usual execution has 2 KB on disk, a long
	// one 100 KB.
	dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 1500,

	// Events for replication to other clusters, 8 MB by default. There are no other clusters.
	dynamicconfig.XDCCacheMaxSizeBytes.Key(): 64 << 10,

	// Workers of the queues, 512 for each by default. They share one connection to the
	// database. The last three queues are unused.
	dynamicconfig.TransferProcessorSchedulerWorkerCount.Key():               queueWorkers,
	dynamicconfig.TimerProcessorSchedulerWorkerCount.Key():                  queueWorkers,
	dynamicconfig.VisibilityProcessorSchedulerWorkerCount.Key():             queueWorkers,
	dynamicconfig.ArchivalProcessorSchedulerWorkerCount.Key():               1,
	dynamicconfig.ReplicationProcessorSchedulerWorkerCount.Key():            1,
	dynamicconfig.ReplicationLowPriorityProcessorSchedulerWorkerCount.Key(): 1,

	// Averages of database latency, over buffers of 5000 values, for metrics and limits that
	// are disabled.
	dynamicconfig.PersistenceHealthSignalMetricsEnabled.Key():     false,
	dynamicconfig.PersistenceHealthSignalAggregationEnabled.Key(): false,
	dynamicconfig.HistoryHealthSignalMetricsEnabled.Key():         false,
}

func newSettings(o Options) *settings {
	s := &settings{StaticClient: dynamicconfig.StaticClient{}}
	kind := mortal
	if o.Database != "" {
		kind = shared
	}
	for _, some := range []dynamicconfig.StaticClient{pace, limits, parts, memory, kind} {
		maps.Copy(s.StaticClient, some)
	}
	if o.LongHistory > 0 {
		s.StaticClient[dynamicconfig.HistoryCountSuggestContinueAsNew.Key()] = o.LongHistory
	}
	return s
}

var freshValue = []dynamicconfig.ConstrainedValue{{Value: true}}

// GetValue implements dynamicconfig.Client. It is called very often.
func (s *settings) GetValue(key dynamicconfig.Key) []dynamicconfig.ConstrainedValue {
	if key == dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key() && s.fresh.Load() {
		return freshValue
	}
	return s.StaticClient.GetValue(key)
}
