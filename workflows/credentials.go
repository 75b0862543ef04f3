package workflows

import (
	"context"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/credential"
)

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
