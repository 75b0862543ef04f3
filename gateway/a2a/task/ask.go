package task

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// The words that the messages suggest; package answer knows more.
const (
	acceptsOne  = `Answer "approved" or "rejected".`
	acceptsMany = `Several approvals wait: answer "approved UUID" or "rejected UUID" for each.`
	acceptsData = ` Programs answer with a data part {"type":"` + contract.TypeApprovalAnswer + `","uuid":UUID,"approved":true or false}.`
)

// ask is the message of a task that waits: a text for people and, for each approval,
// two data parts for programs: ours, and the one that ADK understands.
func (s Source) ask(o Shape) *a2a.Message {
	var ids []string
	for _, p := range s.pending() {
		ids = append(ids, p.UUID)
	}
	m := s.say("ask " + strings.Join(ids, " "))
	switch {
	case o.Plain:
		m.Parts = a2a.ContentParts{a2a.NewTextPart(s.plainRequest(o.Hint))}
		return m
	case o.HITL:
		s.askHITL(m)
	}
	m.Parts = append(m.Parts, a2a.NewTextPart(s.request(o.Hint)))
	if !o.HITL {
		for _, p := range s.pending() {
			r := s.approvalRequest(p)
			m.Parts = append(m.Parts, a2a.NewDataPart(asData(r)), adkPart(p, r))
		}
	}
	return m
}

func request(p contract.PendingApproval) string {
	return fmt.Sprintf("Approval required (id: %s): %s", p.UUID, p.Description)
}

// plainRequest is what the old dialect says of the one approval that it knows of. What
// is accepted is said of a question, and to a client whose answer was none.
func (s Source) plainRequest(hint string) string {
	if len(s.pending()) == 0 {
		return ""
	}
	p := s.pending()[0]
	lines := []string{request(p)}
	if hint != "" {
		lines = append(lines, hint)
	}
	if hint != "" || answered(p) {
		lines = append(lines, accepts(p))
	}
	return strings.Join(lines, "\n\n")
}

func (s Source) request(hint string) string {
	var lines []string
	if hint != "" {
		lines = append(lines, hint)
	}
	for _, p := range s.pending() {
		text := request(p)
		if answered(p) {
			text += "\n\n" + accepts(p)
		}
		lines = append(lines, text)
	}
	return strings.Join(append(lines, Accepts(s.pending())), "\n\n")
}

// Accepts says in words how what waits can be answered.
func Accepts(pending []contract.PendingApproval) string {
	if len(pending) > 1 {
		return acceptsMany + acceptsData
	}
	if len(pending) == 1 && answered(pending[0]) {
		return `Answer with a text or with a data part {"type":"` + contract.TypeApprovalAnswer + `","uuid":UUID,"approved":true,"content":{…}}.`
	}
	return acceptsOne + acceptsData
}

func accepts(p contract.PendingApproval) string {
	if answered(p) {
		return answer.AcceptedBy(p.Schema.Raw)
	}
	return acceptsOne
}

// approvalRequest is an approval as other agents and programs read it. One that an
// agent behind us asks for is shown with the arguments of the call that waits there.
func (s Source) approvalRequest(p contract.PendingApproval) contract.ApprovalRequest {
	r := contract.ApprovalRequest{
		Type: contract.TypeApprovalRequest, UUID: p.UUID, Tool: p.ToolName, Arguments: p.ToolArgs.Raw, Digest: p.Digest,
		Description: described(p), Reason: p.Reason, Schema: p.Schema.Raw, Chain: []string{s.Agent}, Accepts: accepts(p),
	}
	if o := p.Origin; o != nil {
		r.Chain = append(r.Chain, o.Chain...)
		if o.Tool != "" {
			r.Tool, r.Arguments, r.Digest = o.Tool, o.Arguments.Raw, o.Digest
		}
		if o.Reason != "" {
			r.Reason = o.Reason
		}
	} else if p.RemoteAgentName != "" {
		r.Chain = append(r.Chain, p.RemoteAgentName)
	}
	return r
}

// described is what other agents read of an approval: the words of the agent whose
// call waits. Each agent on the way adds its own for people.
func described(p contract.PendingApproval) string {
	if p.Origin == nil {
		return p.Description
	}
	return cmp.Or(p.Origin.Description, p.Description)
}

// answered reports whether a yes or a no is not enough.
func answered(p contract.PendingApproval) bool { return len(p.Schema.Raw) > 0 && p.Answered() }

// takesContent reports whether there may be more than a yes or a no.
func takesContent(p contract.PendingApproval) bool { return len(p.Schema.Raw) > 0 }

// asData is a value as a data part holds it.
func asData(v any) map[string]any {
	raw, err := json.Marshal(v)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var data map[string]any
	if err == nil {
		err = dec.Decode(&data)
	}
	if err != nil { // an object of texts and valid JSON
		return map[string]any{"error": err.Error()}
	}
	return data
}

// find returns the approval with a UUID, ours or that of the agent behind us.
func find(pending []contract.PendingApproval, uuid string) (contract.PendingApproval, bool) {
	i := slices.IndexFunc(pending, func(p contract.PendingApproval) bool {
		return strings.EqualFold(p.UUID, uuid) || p.Origin != nil && strings.EqualFold(p.Origin.UUID, uuid)
	})
	if i < 0 {
		return contract.PendingApproval{}, false
	}
	return pending[i], true
}
