package mcpserver

import (
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"slices"
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

// question is what a call has asked. It comes back with the answers, as requestState.
type question struct {
	Conversation string   `json:"conversation"`
	Round        int      `json:"round"`
	Approvals    []string `json:"approvals"` // their UUIDs
	Caller       string   `json:"caller"`
}

// state returns the question as requestState: its JSON and its seal.
func (q question) state(codes *passcode.Codes) (string, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	seal, err := codes.Seal(q.Conversation, via+" question", q)
	return seal + " " + string(text), err
}

// asked returns the question that this agent has asked the caller.
func (a *ask) asked(state string) (question, error) {
	_, text, _ := strings.Cut(state, " ")
	var q question
	if json.Unmarshal([]byte(text), &q) == nil && q.Caller == keyOf(a.call.Caller) {
		if want, err := q.state(a.Codes); err != nil {
			return q, err
		} else if hmac.Equal([]byte(want), []byte(state)) {
			return q, nil
		}
	}
	return q, service.Errorf(contract.KindInvalid, "requestState: it is not of a question that you were asked")
}

// elicitation returns the question about approvals that a reply waits for, or nil.
func (a *ask) elicitation(r exchange.Reply) (*mcp.CallToolResult, error) {
	if !a.asks || a.round >= maxRounds || !a.mayDecide() {
		return nil, nil
	}
	q := question{Conversation: r.State.View.ID, Round: a.round + 1, Caller: keyOf(a.call.Caller)}
	form := server.NewInputRequestBuilder("")
	for _, p := range r.Approvals() {
		if passcode.Decidable(p) {
			q.Approvals = append(q.Approvals, p.UUID)
			form.Elicit(p.UUID, mcp.ElicitationParams{Message: passcode.Card(p, link(a.call.Caller, p.UUID), ""), RequestedSchema: decisionSchema})
		}
	}
	if len(q.Approvals) == 0 {
		return nil, nil
	}
	state, err := q.state(a.Codes)
	if err != nil {
		return nil, err
	}
	return form.RequestState(state).ToolResult(), nil
}

// resume carries out the answers to a question. Who closes the form decides nothing, and is not asked
// again in this call.
func (a *ask) resume(in mcp.MultiRoundTripParams) (*exchange.Exchange, error) {
	q, err := a.asked(in.RequestState)
	if err != nil {
		return nil, err
	}
	a.round = q.Round
	state, err := a.state(q.Conversation)
	if err != nil {
		return nil, err
	}
	var decisions []service.Decision
	for _, p := range state.Document.PendingApprovals {
		if !slices.Contains(q.Approvals, p.UUID) {
			continue
		}
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
	d := a.call.Caller.YesOrNo(p, approve, reason, via, contract.NameUUID(p.UUID, fmt.Sprintf("elicited %t", approve)))
	return &d
}
