package contract

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract/verdict"
)

// Tool describes a tool, the "Tool" of the REST API.
type Tool struct {
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	InputSchema     json.RawMessage `json:"inputSchema"`
	DestructiveHint bool            `json:"destructiveHint,omitempty"`
	Server          string          `json:"server,omitempty"`
	// Approval is nil if it is not known: for a client's tool, and from older workers.
	Approval *ToolApproval `json:"approval,omitempty"`
	// Rules is nil if the agent's rules say nothing about calls of the tool.
	Rules *verdict.OfTool `json:"rules,omitempty"`
}

// ToolApproval says whether a person is asked before each call of a tool, and why. It applies
// to an agent without a tree: in parallel and loop nodes such calls run at once, unless they
// have approval: required.
type ToolApproval struct {
	Asks    bool   `json:"asks"`
	Because Ground `json:"because"`
}

// Ground is the reason why a tool asks or does not ask.
type Ground string

// The grounds.
const (
	GroundAnnotation Ground = "annotation" // the server's annotation
	GroundSetting    Ground = "setting"    // the configuration names the tool or the agent behind it
	GroundNoHint     Ground = "no_hint"    // no annotation, so the server's setting "unannotated" applies
	GroundRule       Ground = "rule"       // a named rule of the configuration is about the call
)

// Wording selects the sentences that describe calls of a server that is ours by configuration.
// Other servers may have tools of the same names.
type Wording string

// WordingResources is the wording of mcp-resources.
const WordingResources Wording = "resources"

const delegationSchema = `{"type":"object","properties":{"message":{"type":"string",` +
	`"description":"The task, with everything that the agent must know"}},"required":["message"]}`

// Delegation returns the tool by which a model delegates to an agent.
func Delegation(p Peer) Tool {
	return Tool{
		Name:            p.Tool(),
		Description:     strings.TrimSpace(fmt.Sprintf("Delegate task to A2A agent '%s'. %s", p.Name, p.Purpose())),
		InputSchema:     json.RawMessage(delegationSchema),
		DestructiveHint: p.Destructive,
		Approval:        &ToolApproval{Asks: p.Destructive, Because: GroundSetting},
	}
}
