package toolbox

import (
	"bytes"
	"encoding/json"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// hints are a server's annotations of a tool; nil means that a hint is not stated.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
}

// hintsOf returns the effective hints: the annotations, and a destructiveHint beside the tool's
// name, where older servers have it. If they contradict each other, destructive wins. No other
// hint is read there, because it could only make a call less careful.
func hintsOf(annotations hints, topLevel json.RawMessage) hints {
	h := annotations
	switch string(bytes.TrimSpace(topLevel)) {
	case "", "null":
	case "false":
		if h.Destructive == nil {
			h.Destructive = new(false)
		}
	default: // true, or not a boolean: neither is a permission
		h.ReadOnly, h.Destructive = new(false), new(true)
	}
	return h
}

// destructive is the rule: a read-only tool is safe, else the destructive hint applies. Without
// it a tool that is not read-only is destructive, as in MCP, and for a tool without any hint
// the server's setting applies.
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

// silent reports whether there is no hint about the effect of a call.
func (h hints) silent() bool { return h.ReadOnly == nil && h.Destructive == nil }

func isTrue(b *bool) bool { return b != nil && *b }

// approval says whether calls of a tool ask, and why. The server's settings take precedence
// over its annotations.
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
