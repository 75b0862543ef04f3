package toolbox

import (
	"bytes"
	"encoding/json"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// hints are what a server says of a tool; nil is what it does not say.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
}

// hintsOf returns the hints that count: the annotations, and a destructiveHint beside
// the tool's name, where older servers have it. Where the two contradict each other
// the careful one counts. No other hint is read there: each of them could only make
// a call less careful.
func hintsOf(annotations hints, topLevel json.RawMessage) hints {
	h := annotations
	switch string(bytes.TrimSpace(topLevel)) {
	case "", "null":
	case "false":
		if h.Destructive == nil {
			h.Destructive = new(false)
		}
	default: // true, and what is no boolean: no permission follows from that
		h.ReadOnly, h.Destructive = new(false), new(true)
	}
	return h
}

// destructive is the rule: a read-only tool is safe, else the destructive hint
// counts. Without it a tool that is said not to be read-only is destructive, as MCP
// has it, and of one without any hint the server's setting decides.
func (h hints) destructive(unannotated string) bool {
	switch {
	case isTrue(h.ReadOnly):
		return false
	case h.Destructive != nil:
		return *h.Destructive
	case h.silent():
		return unannotated != Run
	}
	return true
}

// silent reports whether there is no hint about what a call does.
func (h hints) silent() bool { return h.ReadOnly == nil && h.Destructive == nil }

func isTrue(b *bool) bool { return b != nil && *b }

// approval decides whether calls of a tool ask, and says why. The server's settings
// come before what it says of its tools.
func (s Server) approval(bare string, h hints) contract.ToolApproval {
	switch {
	case slices.Contains(s.Destructive, bare):
		return contract.ToolApproval{Asks: true, Because: contract.GroundSetting}
	case slices.Contains(s.Safe, bare):
		return contract.ToolApproval{Because: contract.GroundSetting}
	case h.silent():
		return contract.ToolApproval{Asks: h.destructive(s.Unannotated), Because: contract.GroundNoHint}
	}
	return contract.ToolApproval{Asks: h.destructive(s.Unannotated), Because: contract.GroundAnnotation}
}
