package workflows

import (
	"cmp"
	"context"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
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

const credentialHeader = "credential"

type credentialKey struct{}

// withCredential makes every activity under ctx run with the sealed token.
func withCredential(ctx workflow.Context, sealed string) workflow.Context {
	return workflow.WithValue(ctx, credentialKey{}, sealed)
}

// CredentialPropagator carries a conversation's sealed token in the headers of
// its activities and child workflows. Headers are readable in history, which is
// why the token is sealed. Client and worker must both be given it.
func CredentialPropagator() workflow.ContextPropagator { return propagator{} }

type propagator struct{}

func (propagator) Inject(context.Context, workflow.HeaderWriter) error { return nil }

func (propagator) InjectFromWorkflow(ctx workflow.Context, w workflow.HeaderWriter) error {
	sealed, _ := ctx.Value(credentialKey{}).(string)
	if sealed == "" {
		return nil
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(sealed)
	if err != nil {
		return err
	}
	w.Set(credentialHeader, payload)
	return nil
}

func (propagator) Extract(ctx context.Context, r workflow.HeaderReader) (context.Context, error) {
	sealed, err := readCredential(r)
	if err != nil || sealed == "" {
		return ctx, err
	}
	return credential.NewContext(ctx, sealed), nil
}

func (propagator) ExtractToWorkflow(ctx workflow.Context, r workflow.HeaderReader) (workflow.Context, error) {
	sealed, err := readCredential(r)
	if err != nil || sealed == "" {
		return ctx, err
	}
	return withCredential(ctx, sealed), nil
}

func readCredential(r workflow.HeaderReader) (string, error) {
	payload, ok := r.Get(credentialHeader)
	if !ok {
		return "", nil
	}
	var sealed string
	err := converter.GetDefaultDataConverter().FromPayload(payload, &sealed)
	return sealed, err
}
