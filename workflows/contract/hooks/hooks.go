// Package hooks has what the web hooks of approvals are told, and the workflow that tells them.
//
// A web hook is a URL of the configuration. An event is a POST in the form of Standard Webhooks
// (https://www.standardwebhooks.com): its body is a Message.
package hooks

import (
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Registered names.
const (
	Workflow = "Hook"
)

// The activities.
var (
	// ActivitySelect returns the web hooks that are configured for an event.
	ActivitySelect = contract.Activity[SelectInput, SelectResult]{Name: "select_hooks"}
	// ActivitySend sends a message to one of them.
	ActivitySend = contract.Activity[SendInput, SendResult]{Name: "send_hook"}
)

// Event is what has happened to an approval.
type Event string

// The events.
const (
	Opened   Event = "approval.opened"
	Reminded Event = "approval.reminded"
	Decided  Event = "approval.decided" // approved, rejected, or cancelled because it is not needed any more
	Expired  Event = "approval.expired"
)

// Events lists the events.
func Events() []Event { return []Event{Opened, Reminded, Decided, Expired} }

// WorkflowID returns the ID of the workflow that tells an event. number counts the events of a
// type, from 1.
func WorkflowID(approval string, e Event, number int) string {
	return "hook-" + approval + "-" + strings.TrimPrefix(string(e), "approval.") + "-" + strconv.Itoa(number)
}

// EventID is the ID of an event: the same in every attempt, and for every web hook.
func EventID(approval string, e Event, number int) string {
	return "msg_" + contract.NameUUID(approval, string(e)+" "+strconv.Itoa(number))
}

// Message is the body of a request.
type Message struct {
	Type      Event     `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event
	Data      Approval  `json:"data"`
}

// Approval is an approval as web hooks see it: without the arguments of the call.
type Approval struct {
	UUID           string `json:"uuid"`
	ConversationID string `json:"conversation_id"`
	// Summary is one line for people. URL is where they decide, if the address of the page is
	// known.
	Summary string `json:"summary"`
	URL     string `json:"url,omitempty"`
	Agent   string `json:"agent"`
	Node    string `json:"node,omitempty"`
	// Chain names the agents from this one to the one whose call waits, if another agent asks.
	Chain  []string        `json:"chain,omitempty"`
	Server string          `json:"server,omitempty"`
	Tool   string          `json:"tool_name"`
	Digest string          `json:"tool_args_sha256,omitempty"`
	Reason contract.Reason `json:"reason"`
	// Because is the ground of the reason destructive, Rule the rule that asks.
	Because   contract.Ground `json:"because,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Risk      Risk            `json:"risk"`
	Requester contract.Name   `json:"requester,omitzero"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty"`
	// Decision is set once there is one.
	Decision *Decision `json:"decision,omitempty"`
}

// Decision is how an approval has ended.
type Decision struct {
	Decision   contract.Decision `json:"decision"`
	By         string            `json:"by,omitempty"`
	Issuer     string            `json:"issuer,omitempty"`
	OnBehalfOf string            `json:"on_behalf_of,omitempty"`
	// For is the person in whose place it was decided, if a deputy has.
	For       contract.Name `json:"for,omitzero"`
	Deputy    string        `json:"deputy,omitempty"` // its ID
	Reason    string        `json:"reason,omitempty"`
	Via       string        `json:"via,omitempty"`
	DecidedAt time.Time     `json:"decided_at"`
}

// Risk is what may go wrong with a yes.
type Risk string

// The risks.
const (
	High   Risk = "high"   // it may destroy something, may have run already, or is not what was approved
	Middle Risk = "middle" // the effect is not known, or somebody wants to be asked
	Low    Risk = "low"    // nothing is called, or not by a yes
)

// RiskOf returns the risk of an approval, as the page shows it.
func RiskOf(p contract.PendingApproval) Risk {
	reason := p.Reason
	if p.Origin != nil && p.Origin.Reason != "" && reason == contract.ReasonRemote {
		reason = p.Origin.Reason
	}
	switch reason {
	case contract.ReasonUnknownOutcome, contract.ReasonChanged:
		return High
	case contract.ReasonPaused, contract.ReasonLogin, contract.ReasonQuestion, contract.ReasonClientTool, contract.ReasonLimit:
		return Low
	case contract.ReasonNotReached, contract.ReasonRemote:
		return Middle
	}
	if p.Because == contract.GroundAnnotation {
		return High
	}
	return Middle
}

// Of returns an approval as web hooks see it. result is nil while it waits.
func Of(in contract.ApprovalInput, summary string, result *contract.ApprovalResult) Approval {
	p := in.Pending()
	a := Approval{
		UUID: in.UUID, ConversationID: in.ConversationID, Summary: summary, Agent: in.AgentName, Node: in.Node, Chain: in.Chain(),
		Server: in.Server, Tool: in.Tool, Digest: in.ArgumentsSHA256, Reason: in.Reason, Because: in.Because, Rule: in.Rule, Risk: RiskOf(p),
		Requester: in.Owner.Name(), CreatedAt: in.CreatedAt, ExpiresAt: in.ExpiresAt(),
	}
	if result != nil {
		a.Decision = &Decision{
			Decision: result.Decision, By: result.By, Issuer: result.Identity.Issuer, OnBehalfOf: result.OnBehalfOf, Reason: result.Reason,
			Via: result.Via, DecidedAt: result.DecidedAt,
		}
		if d := result.For; d != nil {
			a.Decision.For, a.Decision.Deputy = contract.Name{Subject: d.From.Subject, Issuer: d.From.Issuer}, d.ID
		}
	}
	return a
}

// EventOf returns the event of the end of an approval.
func EventOf(d contract.Decision) Event {
	if d == contract.Expired {
		return Expired
	}
	return Decided
}

// Input starts the workflow that tells an event.
type Input struct {
	ID      string  `json:"id"`
	Message Message `json:"message"`
}

// Result is the result of that workflow. Nothing reads it but people.
type Result struct {
	Told []Told `json:"told,omitempty"`
}

// Told is how it went with a web hook. Problem is empty if the web hook has the message.
type Told struct {
	Hook    string `json:"hook"`
	Problem string `json:"problem,omitempty"`
}

// SelectInput asks for the web hooks of an event.
type SelectInput struct {
	Event Event `json:"event"`
}

// SelectResult names web hooks, as the configuration writes their URLs.
type SelectResult struct {
	Hooks []string `json:"hooks,omitempty"`
}

// SendInput sends a message to a web hook.
type SendInput struct {
	Hook string `json:"hook"`
	Input
}

// SendResult is the status of the answer.
type SendResult struct {
	Status int `json:"status"`
}
