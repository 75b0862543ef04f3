package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	// via marks decisions that came by elicitation.
	via = "mcp"
	// maxRounds is how often one call asks. mcp-go asks clients of older protocols no more than ten
	// times.
	maxRounds = 9
)

// decisionSchema is the form of an answer to an approval.
var decisionSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"yes: the call runs as shown"},"reason":{"type":"string","title":"Reason"}},"required":["approve"]}`)

// mayDecide reports whether approvals are asked for: the client can show a form, and the caller may
// decide. Who decides which approval is checked when it does.
func (a *ask) mayDecide() bool {
	if c := a.call.Caller; c.Authenticated() && !c.Identity.May(contract.ScopeApprove) {
		return false
	}
	client, ok := a.session.(server.SessionWithClientInfo)
	if !ok {
		return false
	}
	can := client.GetClientCapabilities().Elicitation
	return can != nil && (can.Form != nil || can.URL == nil)
}

// elicitation returns the question about approvals that a reply waits for, or nil.
func (a *ask) elicitation(r exchange.Reply) *mcp.CallToolResult {
	if !a.asks || a.round >= maxRounds || !a.mayDecide() {
		return nil
	}
	q := server.NewInputRequestBuilder(fmt.Sprintf("%s %d", r.State.View.ID, a.round+1))
	any := false
	for _, p := range r.Approvals() {
		if passcode.Decidable(p) {
			q.Elicit(p.UUID, mcp.ElicitationParams{Message: passcode.Card(p, link(a.call.Caller, p.UUID), ""), RequestedSchema: decisionSchema})
			any = true
		}
	}
	if !any {
		return nil
	}
	return q.ToolResult()
}

// resume carries out the answers to a question. Who closes the form decides nothing, and is not asked
// again in this call.
func (a *ask) resume(in mcp.MultiRoundTripParams) (*exchange.Exchange, error) {
	id, round, _ := strings.Cut(in.RequestState, " ")
	n, err := strconv.Atoi(round)
	if err != nil || n < 1 || !contract.IsUUID(id) {
		return nil, service.Errorf(contract.KindInvalid, "requestState: it is not from this server")
	}
	a.round = n
	state, err := a.state(id)
	if err != nil {
		return nil, err
	}
	var decisions []service.Decision
	for _, p := range state.Document.PendingApprovals {
		if d := a.decision(p, server.ElicitationResponse(in.InputResponses, p.UUID)); d != nil {
			decisions = append(decisions, *d)
		}
	}
	if len(decisions) == 0 {
		a.asks = slices.IndexFunc(state.Document.PendingApprovals, passcode.Decidable) < 0
		return a.again(state)
	}
	return a.Exchanges.Decide(a.ctx, a.call.Caller, state, decisions, true)
}

// decision returns what an answer decides, or nil.
func (a *ask) decision(p contract.PendingApproval, answer *mcp.ElicitationResult) *service.Decision {
	if answer == nil || answer.Action != mcp.ElicitationResponseActionAccept || !passcode.Decidable(p) || !a.mayDecide() {
		return nil
	}
	content, _ := answer.Content.(map[string]any)
	approve, decided := content["approve"].(bool)
	if !decided {
		return nil
	}
	reason, _ := content["reason"].(string)
	return &service.Decision{UUID: p.UUID, Signal: contract.DecideSignal{
		Approved: approve, Reason: reason, Via: a.call.Caller.Via(via, p, approve), RequestID: contract.NameUUID(p.UUID, fmt.Sprintf("elicited %t", approve)),
	}}
}
