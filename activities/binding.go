package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/shorten"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/difference"
	"agent-stop-and-go/workflows/record/transcript"
)

// bindCall stores the definition of a tool and returns the binding of a grant; nil for a tool
// without an address.
func bindCall(ctx context.Context, store transcript.Store, t toolbox.Target) (*contract.Binding, error) {
	b := &contract.Binding{Address: t.Address, SHA256: t.Digest()}
	if t.Address == "" || t.Definition == nil {
		return b, nil
	}
	blob, err := store.Put(ctx, t.Definition)
	if err != nil {
		return nil, fmt.Errorf("keep the definition of a tool: %w", err)
	}
	blob.Preview = ""
	b.Definition = contract.JSON{Blob: &blob}
	return b, nil
}

// changedFailure returns the failure of a call whose target differs from the approved one. Its
// details show a person the change, so that the call can be approved again.
func (t *Tools) changedFailure(ctx context.Context, in contract.CallToolInput, e *toolbox.Error) error {
	now, err := bindCall(ctx, t.Blobs, e.Now)
	if err != nil {
		return fail(contract.KindBlob, err.Error(), 0)
	}
	var after *difference.Definition
	if e.Now.Definition != nil {
		after = definition(e.Now.Definition)
	}
	text := difference.Of(*in.Binding, *now, t.approvedDefinition(ctx, *in.Binding), after)
	details := difference.TargetChange{Binding: *now, Difference: text}
	if len(text) > contract.InlineLimit {
		details.Difference = strings.TrimSpace(shorten.Beginning(text, contract.InlineLimit)) + "…"
		if details.Whole, err = transcript.Text(ctx, t.Blobs, text); err != nil {
			return fail(contract.KindBlob, err.Error(), 0)
		}
	}
	return temporal.NewApplicationErrorWithOptions(e.Error(), string(contract.KindChanged), temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{details},
	})
}

// approvedDefinition returns the approved definition, or nil if it is lost; then only its hash
// is shown.
func (t *Tools) approvedDefinition(ctx context.Context, b contract.Binding) *difference.Definition {
	raw, err := transcript.ReadJSON(ctx, t.Blobs, b.Definition)
	if err != nil || len(raw) == 0 {
		return nil
	}
	return definition(raw)
}

func definition(raw json.RawMessage) *difference.Definition {
	var d difference.Definition
	if json.Unmarshal(raw, &d) != nil {
		return nil
	}
	return &d
}
