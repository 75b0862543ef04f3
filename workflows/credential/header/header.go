// Package header carries a conversation's sealed token in the headers of its activities and
// child workflows. Headers are readable in history, which is why the token is sealed.
package header

import (
	"context"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/credential"
)

// name is the name of the header.
const name = "credential"

type sealedKey struct{}

// With makes every activity under ctx run with the sealed token.
func With(ctx workflow.Context, sealed string) workflow.Context {
	return workflow.WithValue(ctx, sealedKey{}, sealed)
}

// Propagator writes and reads the headers. Client and worker must both be given it.
func Propagator() workflow.ContextPropagator { return propagator{} }

type propagator struct{}

func (propagator) Inject(context.Context, workflow.HeaderWriter) error { return nil }

func (propagator) InjectFromWorkflow(ctx workflow.Context, w workflow.HeaderWriter) error {
	sealed, _ := ctx.Value(sealedKey{}).(string)
	if sealed == "" {
		return nil
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(sealed)
	if err != nil {
		return err
	}
	w.Set(name, payload)
	return nil
}

func (propagator) Extract(ctx context.Context, r workflow.HeaderReader) (context.Context, error) {
	sealed, err := read(r)
	if err != nil || sealed == "" {
		return ctx, err
	}
	return credential.NewContext(ctx, sealed), nil
}

func (propagator) ExtractToWorkflow(ctx workflow.Context, r workflow.HeaderReader) (workflow.Context, error) {
	sealed, err := read(r)
	if err != nil || sealed == "" {
		return ctx, err
	}
	return With(ctx, sealed), nil
}

func read(r workflow.HeaderReader) (string, error) {
	payload, ok := r.Get(name)
	if !ok {
		return "", nil
	}
	var sealed string
	err := converter.GetDefaultDataConverter().FromPayload(payload, &sealed)
	return sealed, err
}
