package embedded

import (
	"maps"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

// unlimited is more than one SQLite connection can do: the limits below protect a shared cluster from its tenants,
// and we have one tenant. At the limit clients would see ResourceExhausted instead of waiting their turn.
const unlimited = 100_000

// queueWorkers is how many tasks of a queue are worked on at a time.
const queueWorkers = 64

// settings is the dynamic configuration of the server.
type settings struct {
	dynamicconfig.StaticClient
	fresh atomic.Bool // search attributes are read from the database, not from a cache up to two seconds old
}

// pace has the server look for work, and take note of it, at once.
var pace = dynamicconfig.StaticClient{
	// The queues look for work at most 20 times a second by default: about 50 ms added to every step.
	dynamicconfig.TransferProcessorMaxPollRPS.Key():   5000,
	dynamicconfig.TimerProcessorMaxPollRPS.Key():      5000,
	dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 5000,
	dynamicconfig.OutboundProcessorMaxPollRPS.Key():   5000,

	// What a killed server had done since it last noted so is done again by the next one, before anything new: the work
	// of 30 seconds by default, which made every start of a busy agent later.
	dynamicconfig.TransferProcessorUpdateAckInterval.Key():   time.Second,
	dynamicconfig.TimerProcessorUpdateAckInterval.Key():      time.Second,
	dynamicconfig.VisibilityProcessorUpdateAckInterval.Key(): time.Second,

	// How far clocks of a cluster may differ. Timers of less than that, such as of a retry without a pause, wait for up
	// to so long: 1 second by default. There is one clock here.
	dynamicconfig.TimerProcessorMaxTimeShift.Key(): 10 * time.Millisecond,

	// Pollers and tasks are spread over 4 partitions by default, and a task may wait where nobody polls: with one client
	// the slowest percent of workflows took 100 ms, once 20 s. With one partition it takes 40.
	dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
	dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
}

// limits leave one tenant as much as SQLite can do.
var limits = dynamicconfig.StaticClient{
	// Requests per second: 2400 at the frontend, 1200 in matching, 3000 in history by default.
	dynamicconfig.FrontendRPS.Key():                        unlimited,
	dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(): unlimited,
	dynamicconfig.MatchingRPS.Key():                        unlimited,
	dynamicconfig.HistoryRPS.Key():                         unlimited,

	// Lists and counts: 10 per second by default, which one open Web UI page can use up.
	dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): unlimited,

	// Statements per second. The queues' polls may use 30 % of history's.
	dynamicconfig.FrontendPersistenceMaxQPS.Key(): unlimited,
	dynamicconfig.MatchingPersistenceMaxQPS.Key(): unlimited,
	dynamicconfig.HistoryPersistenceMaxQPS.Key():  unlimited,

	// Clients that wait (polls, updates, queries): 1200 of a kind by default.
	dynamicconfig.FrontendMaxConcurrentLongRunningRequestsPerInstance.Key(): unlimited,

	// Clients that wait for one workflow: 10 by default. The gateway keeps to that, two gateways might not.
	dynamicconfig.WorkflowExecutionMaxInFlightUpdates.Key(): 100,
}

// parts are what of the server runs.
var parts = dynamicconfig.StaticClient{
	// Steps of a workflow that run in the process that asked (both are defaults; losing them costs half the turns).
	dynamicconfig.EnableActivityEagerExecution.Key(): true,
	dynamicconfig.EnableEagerWorkflowStart.Key():     true,

	// Scans every event for payloads stored elsewhere: 6 % of the CPU for numbers nobody reads.
	dynamicconfig.ExternalPayloadsEnabled.Key(): false,

	// System workers that the server starts and never stops: they would go on polling a server that is gone, and
	// the next one on the same port. What they do is not missed: children of a closing parent are handled one by
	// one instead, and a few hundred bytes per start of a worker (its sticky queue) stay in the database.
	dynamicconfig.EnableParentClosePolicyWorker.Key(): false,
	dynamicconfig.TaskQueueScannerEnabled.Key():       false,
	dynamicconfig.HistoryScannerEnabled.Key():         false,

	// Does not call home.
	dynamicconfig.EnableServerVersionCheck.Key(): false,
}

// memory bound what is kept in memory.
var memory = dynamicconfig.StaticClient{
	// Executions that history keeps in memory: 128,000 by default, some 25 KB each. One that is evicted while a
	// client waits for it has the wait begun anew, so there must be room for all that clients may wait for. A limit
	// in bytes would be too small for those or too large: a usual one has 2 KB on disk, a long one 100.
	dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 1000,

	// Events for replication to other clusters, 8 MB by default: there are none.
	dynamicconfig.XDCCacheMaxSizeBytes.Key(): 64 << 10,

	// Workers of the queues, 512 for each by default: they wait for each other at one connection to the database.
	// The last three have nothing to do.
	dynamicconfig.TransferProcessorSchedulerWorkerCount.Key():               queueWorkers,
	dynamicconfig.TimerProcessorSchedulerWorkerCount.Key():                  queueWorkers,
	dynamicconfig.VisibilityProcessorSchedulerWorkerCount.Key():             queueWorkers,
	dynamicconfig.ArchivalProcessorSchedulerWorkerCount.Key():               1,
	dynamicconfig.ReplicationProcessorSchedulerWorkerCount.Key():            1,
	dynamicconfig.ReplicationLowPriorityProcessorSchedulerWorkerCount.Key(): 1,

	// Averages of the database's speed, over buffers of 5000 values, for metrics and limits that are off.
	dynamicconfig.PersistenceHealthSignalMetricsEnabled.Key():     false,
	dynamicconfig.PersistenceHealthSignalAggregationEnabled.Key(): false,
	dynamicconfig.HistoryHealthSignalMetricsEnabled.Key():         false,
}

func newSettings(o Options) *settings {
	s := &settings{StaticClient: dynamicconfig.StaticClient{}}
	for _, some := range []dynamicconfig.StaticClient{pace, limits, parts, memory} {
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
