package peer

import (
	"bytes"
	"encoding/json"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// Limits of an approval request of another agent.
const (
	maxID          = 200
	maxArguments   = 64 << 10
	maxDescription = 16 << 10
	maxSchema      = contract.MaxQuestionSchema
	maxRequest     = 256 << 10 // the whole request
	maxChain       = 16
	maxChainName   = 100
	maxBy          = 200 // of a decision; agents of this project accept no more
)

var reasons = []contract.Reason{
	contract.ReasonDestructive, contract.ReasonUnknownOutcome, contract.ReasonNotReached, contract.ReasonChanged, contract.ReasonRemote,
	contract.ReasonQuestion, contract.ReasonLimit, contract.ReasonClientTool, contract.ReasonPaused, contract.ReasonLogin,
}

// approvalRequest returns the structured question of a waiting task, or nil. Invalid values in
// it are omitted.
func (t *task) approvalRequest(agent string) *contract.ApprovalRequest {
	m := t.Status.Message
	if m == nil || t.state().Over() || t.running() {
		return nil
	}
	for _, p := range m.Parts {
		if p.approvalType() == contract.TypeApprovalRequest {
			if r := readRequest(p.Data); r != nil {
				return r
			}
		}
	}
	return m.hitl().request(agent)
}

// approvalType returns the type of a data part about an approval.
func (p part) approvalType() string {
	var d struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(p.Data, &d) != nil || d.Type != contract.TypeApprovalRequest && d.Type != contract.TypeApprovalAnswer {
		return ""
	}
	return d.Type
}

// readRequest decodes each value separately, so that an invalid one does not affect the others.
// A request without an ID cannot be answered and is ignored.
func readRequest(data []byte) *contract.ApprovalRequest {
	var raw map[string]json.RawMessage
	if len(data) > maxRequest || json.Unmarshal(data, &raw) != nil {
		return nil
	}
	r := &contract.ApprovalRequest{
		Type: contract.TypeApprovalRequest, UUID: text(raw["uuid"], maxID), Tool: text(raw["tool"], maxID),
		Digest: text(raw["argumentsSha256"], maxID), Description: text(raw["description"], maxDescription),
		Reason: contract.Reason(text(raw["reason"], maxID)), Accepts: text(raw["accepts"], maxDescription),
		Arguments: limitedJSON(raw["arguments"], maxArguments), Schema: object(limitedJSON(raw["schema"], maxSchema)),
		Chain: chain(raw["chain"]),
	}
	if !slices.Contains(reasons, r.Reason) {
		r.Reason = ""
	}
	if r.UUID == "" {
		return nil
	}
	return r
}

// text decodes a JSON string of at most the given size; anything else is "".
func text(raw json.RawMessage, most int) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || len(s) > most {
		return ""
	}
	return s
}

// limitedJSON returns a value in compact form, or nil if it is null or too large.
func limitedJSON(raw json.RawMessage, most int) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, bytes.ToValidUTF8(raw, []byte("�"))) != nil || out.Len() > most || out.String() == "null" {
		return nil
	}
	return out.Bytes()
}

func object(raw json.RawMessage) json.RawMessage {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil
	}
	return raw
}

func chain(raw json.RawMessage) []string {
	var names []string
	wrong := func(name string) bool { return name == "" || len(name) > maxChainName }
	if json.Unmarshal(raw, &names) != nil || len(names) > maxChain || slices.ContainsFunc(names, wrong) {
		return nil
	}
	return names
}
