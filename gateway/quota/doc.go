// Package quota limits what one caller may take: requests, and open conversations. A caller is
// its identity, whatever way proved it; without proven callers there are no limits.
//
//	quota.go     Quota: refuses requests that come too fast
//	backend.go   refuses conversations beyond the limit; every front end starts them through it
//	memory.go    Memory: what one gateway knows of callers
//
// The callers' requests are counted in a Ledger that gateways share (package ledger has one in
// Redis). While that does not answer, and if there is none, each gateway counts for itself.
// Open conversations are counted by Temporal in any case: by their owner. That count lags, so
// the ledger also has the conversations that were started a moment ago.
//
// A refusal comes before anything is durable. It is an error of KindBusy that says when to try
// again; each protocol answers it in its own words.
package quota
