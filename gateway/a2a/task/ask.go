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
	"agent-stop-and-go/workflows/contract/login"
)

// The words that the messages suggest; package answer accepts more.
const (
	acceptsOne   = `Answer "approved" or "rejected".`
	acceptsMany  = `Several approvals wait: answer "approved UUID" or "rejected UUID" for each.`
	acceptsLogin = `Log in at that address, and the task goes on by itself. Answer "rejected" to go on without the call.`
	acceptsToken = `Send the message again with a new token, or log in to this agent, and the task goes on. Answer "rejected" to go on without the call.`
	acceptsData  = ` Programs answer with a data part {"type":"` + contract.TypeApprovalAnswer + `","uuid":UUID,"approved":true or false}.`
)

// ask returns the status message of a waiting task: a text for people and, for each approval,
// two data parts for programs, one in our form and one in ADK's.
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

// plainRequest describes the first approval as text only. It lists the accepted answers if
// the approval is a question, and after an answer that was not understood.
func (s Source) plainRequest(hint string) string {
	if len(s.pending()) == 0 {
		return ""
	}
	p := s.pending()[0]
	lines := []string{request(p)}
	if hint != "" {
		lines = append(lines, hint)
	}
	if hint != "" || needsContent(p) {
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
		if needsContent(p) {
			text += "\n\n" + accepts(p)
		}
		lines = append(lines, text)
	}
	return strings.Join(append(lines, Accepts(s.pending())), "\n\n")
}

// Accepts describes the answers that the waiting approvals accept.
func Accepts(pending []contract.PendingApproval) string {
	if len(pending) > 0 && !slices.ContainsFunc(pending, func(p contract.PendingApproval) bool { return !p.NeedsLogin() }) {
		return accepts(pending[0])
	}
	if len(pending) > 1 {
		return acceptsMany + acceptsData
	}
	if len(pending) == 1 && needsContent(pending[0]) {
		return `Answer with a text or with a data part {"type":"` + contract.TypeApprovalAnswer + `","uuid":UUID,"approved":true,"content":{…}}.`
	}
	return acceptsOne + acceptsData
}

func accepts(p contract.PendingApproval) string {
	switch {
	case p.Login != nil && p.Login.Way == login.AtAgent:
		return acceptsToken
	case p.NeedsLogin():
		return acceptsLogin
	case needsContent(p):
		return answer.AcceptedBy(p.Schema.Raw)
	}
	return acceptsOne
}

// approvalRequest returns an approval for other agents and programs. If a remote agent asks
// for it, it shows the arguments of the call that waits there.
func (s Source) approvalRequest(p contract.PendingApproval) contract.ApprovalRequest {
	r := contract.ApprovalRequest{
		Type: contract.TypeApprovalRequest, UUID: p.UUID, Tool: p.ToolName, Arguments: p.ToolArgs.Raw, Digest: p.Digest,
		Description: description(p), Reason: p.Reason, Schema: p.Schema.Raw, Chain: []string{s.Agent}, Accepts: accepts(p),
	}
	if p.Login != nil {
		r.Login = p.Login.Required()
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

// description returns the description for other agents: that of the agent whose call waits.
// Every agent on the way prepends text of its own for people.
func description(p contract.PendingApproval) string {
	if p.Origin == nil {
		return p.Description
	}
	return cmp.Or(p.Origin.Description, p.Description)
}

// needsContent reports whether the approval needs more than approval or rejection.
func needsContent(p contract.PendingApproval) bool { return len(p.Schema.Raw) > 0 && p.Answered() }

// takesContent reports whether an answer may have content.
func takesContent(p contract.PendingApproval) bool { return len(p.Schema.Raw) > 0 }

// asData returns a value as the content of a data part.
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

// find returns the approval with a UUID, which may be our UUID or the remote agent's.
func find(pending []contract.PendingApproval, uuid string) (contract.PendingApproval, bool) {
	i := slices.IndexFunc(pending, func(p contract.PendingApproval) bool {
		return strings.EqualFold(p.UUID, uuid) || p.Origin != nil && strings.EqualFold(p.Origin.UUID, uuid)
	})
	if i < 0 {
		return contract.PendingApproval{}, false
	}
	return pending[i], true
}
