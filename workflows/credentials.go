package workflows

import (
	"cmp"
	"context"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// actAs has the call that a person approved go with the token of that person, where the
// agent wants that and there is one. Nothing else ever goes with it: the turn is the
// requester's. What another agent is answered is no call of ours (tellAs).
func (l *leaf) actAs(in contract.ApprovalInput, r contract.ApprovalResult) {
	token := l.approversToken(r)
	if token == "" || r.Decision != contract.Approved || in.Call == "" {
		return
	}
	if l.approvers == nil {
		l.approvers = map[string]string{}
	}
	l.approvers[in.Call] = token
}

func (l *leaf) approversToken(r contract.ApprovalResult) string {
	if l.about().agent.CallAs != contract.CallAsApprover {
		return ""
	}
	return r.Credential
}

// tokenFor is the token that goes with a call.
func (l *leaf) tokenFor(c call) string { return cmp.Or(l.approvers[c.message], l.credential) }

// token is the token that goes with a message about the task.
func (t *remoteTask) token() string { return cmp.Or(t.teller, t.tokenFor(t.call)) }

// tellAs has the other agent told of a decision with the token of who decided, where
// the agent wants that.
func (t *remoteTask) tellAs(r contract.ApprovalResult) (done func()) {
	t.teller = t.approversToken(r)
	return func() { t.teller = "" }
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
