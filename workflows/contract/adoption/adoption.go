// Package adoption is about configurations that running conversations take over.
package adoption

import "agent-stop-and-go/workflows/contract"

// SignalAdopt has a conversation take over a configuration.
const SignalAdopt = "adopt"

// QueryAgent returns the configuration of a conversation, a contract.Agent. Workers that do not know
// the query do not know the signal.
const QueryAgent = "agent"

// QueryNext returns the configuration that a conversation takes over when its turn has ended, a
// *contract.Agent; nil is none.
const QueryNext = "next_agent"

// LogAdopted is the log line of a conversation that has taken over a configuration.
const LogAdopted = "configuration adopted"

// Adopt is the argument of SignalAdopt. Operators send it: `agent config adopt` has checked what it
// changes.
type Adopt struct {
	Agent contract.Agent `json:"agent"`
	By    string         `json:"by,omitempty"`
	// Approvals are the UUIDs of those that wait and hold under the configuration. While another one
	// waits, it is not taken over before the turn has ended.
	Approvals []string `json:"approvals,omitempty"`
}
