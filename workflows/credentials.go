package workflows

import (
	"cmp"

	"agent-stop-and-go/workflows/contract"
)

// keepApproverToken makes an approved call use the token of the person who approved it, if the
// agent is configured so. Everything else uses the requester's token. Decisions sent to other
// agents are handled by useApproverToken.
func (l *leaf) keepApproverToken(in contract.ApprovalInput, r contract.ApprovalResult) {
	token := l.approverToken(r)
	if token == "" || r.Decision != contract.Approved || in.Call == "" {
		return
	}
	if l.approvers == nil {
		l.approvers = map[string]string{}
	}
	l.approvers[in.Call] = token
}

func (l *leaf) approverToken(r contract.ApprovalResult) string {
	if l.parent.origin().agent.CallAs != contract.CallAsApprover {
		return ""
	}
	return r.Credential
}

// tokenFor returns the token that a call uses.
func (l *leaf) tokenFor(c call) string { return cmp.Or(l.approvers[c.message], l.credential) }

// token returns the token that a message about the task uses.
func (t *remoteTask) token() string { return cmp.Or(t.deciderToken, t.leaf.tokenFor(t.call)) }

// useApproverToken makes messages about the task use the token of the person who decided, until
// done is called, if the agent is configured so.
func (t *remoteTask) useApproverToken(r contract.ApprovalResult) (done func()) {
	t.deciderToken = t.leaf.approverToken(r)
	return func() { t.deciderToken = "" }
}
