// Package adoption is about configurations that running conversations take over.
package adoption

import "agent-stop-and-go/workflows/contract"

// SignalAdopt has a conversation take over a configuration.
const SignalAdopt = "adopt"

// QueryAgent returns the configuration of a conversation, a contract.Agent. Workers that do not know
// the query do not know the signal.
const QueryAgent = "agent"

// LogAdopted is the log line of a conversation that has taken over a configuration.
const LogAdopted = "configuration adopted"

// Adopt is the argument of SignalAdopt. Operators send it: `agent config adopt` has checked what it
// changes.
type Adopt struct {
	Agent contract.Agent `json:"agent"`
	By    string         `json:"by,omitempty"`
}
