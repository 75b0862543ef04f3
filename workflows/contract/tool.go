package contract

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Tool describes a tool, the "Tool" of the REST API.
type Tool struct {
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	InputSchema     json.RawMessage `json:"inputSchema"`
	DestructiveHint bool            `json:"destructiveHint,omitempty"`
	Server          string          `json:"server,omitempty"`
	// Approval is nil where nobody says: of a client's tool, and from older workers.
	Approval *ToolApproval `json:"approval,omitempty"`
}

// ToolApproval says whether a person is asked before each call of a tool, and why.
// It is true of an agent without a tree: in parallel and loop nodes calls that would
// ask run at once, unless approval: required holds them.
type ToolApproval struct {
	Asks    bool   `json:"asks"`
	Because Ground `json:"because"`
}

// Ground is what decided about an approval.
type Ground string

// The grounds.
const (
	GroundAnnotation Ground = "annotation" // what the server says of the tool
	GroundSetting    Ground = "setting"    // the configuration names the tool or the agent behind it
	GroundNoHint     Ground = "no_hint"    // the server says nothing, so its setting "unannotated" counts
)

// Wording names the texts by which people are told of calls of a server that is ours by
// configuration. Other servers have tools of the same names.
type Wording string

// WordingResources is the wording of mcp-resources.
const WordingResources Wording = "resources"

const delegationSchema = `{"type":"object","properties":{"message":{"type":"string",` +
	`"description":"The task, with everything that the agent must know"}},"required":["message"]}`

// Delegation is the tool that a model delegates to the agent with.
func (p Peer) Delegation() Tool {
	return Tool{
		Name:            p.Tool(),
		Description:     strings.TrimSpace(fmt.Sprintf("Delegate task to A2A agent '%s'. %s", p.Name, p.Description)),
		InputSchema:     json.RawMessage(delegationSchema),
		DestructiveHint: p.Destructive,
		Approval:        &ToolApproval{Asks: p.Destructive, Because: GroundSetting},
	}
}
