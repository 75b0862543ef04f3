package workflows

import (
	"cmp"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/wording"
)

// keepApproverToken makes an approved call use the token of the person who approved it, if the
// agent is configured so. Everything else uses the requester's token. Decisions sent to other
// agents are handled by useApproverToken.
func (l *leaf) keepApproverToken(in *contract.ApprovalInput, r *contract.ApprovalResult) {
	token := l.approverToken(*r)
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

// changeLogin marks histories in which a call that needs a login waits for it. Before, the turn
// ended.
const changeLogin = "pause-for-login"

func pausesForLogin(ctx workflow.Context, need *login.Need) bool {
	return need != nil && ctx.Err() == nil && workflow.GetVersion(ctx, changeLogin, workflow.DefaultVersion, 1) == 1
}

// awaitLogin waits until the person for whom a call is made has logged in, or somebody rejects
// it. Calls after it use the token that came with the login, if one did.
func (l *leaf) awaitLogin(ctx workflow.Context, c call, need login.Need) contract.ApprovalResult {
	in := l.approvalFor(ctx, c, "", contract.ReasonLogin)
	need.Caller = cmp.Or(need.Caller, in.Owner.Key()) // whose message came without a token
	in.Login = need.For(in.UUID)
	in.Description = wording.DescribeLogin(*in.Login, c.Name, l.describe(ctx, c.Call))
	if c.Peer != nil {
		in.RemoteAgent = c.Peer.Name
	}
	r := l.runApproval(ctx, &in, nil)
	switch {
	case r.Decision != contract.Approved || r.Credential == "" || need.Way != login.AtAgent:
	case l.approvers[c.message] != "":
		l.approvers[c.message] = r.Credential
	default:
		l.credential = r.Credential
	}
	return *r
}

// awaitLogin waits for the login that a message needs. The time does not count as work.
func (t *remoteTask) awaitLogin(ctx workflow.Context, need login.Need) error {
	defer t.work.Pause(ctx)()
	r := t.leaf.awaitLogin(ctx, t.call, need)
	if r.Decision == contract.Approved && ctx.Err() == nil {
		return nil
	}
	text := wording.NoLogin(need, r.Decision)
	return &declinedError{temporal.NewNonRetryableApplicationError(text, string(contract.KindPeerFailed), nil), r}
}
