package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Texts does for workflows what needs the blob store.
type Texts struct {
	Blobs transcript.Store
}

// Compose makes one text of a template and values, or else of parts, the empty
// ones left out.
func (t *Texts) Compose(ctx context.Context, in contract.ComposeInput) (contract.ComposeResult, error) {
	text, err := t.compose(ctx, in)
	if err != nil {
		return contract.ComposeResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	var out contract.ComposeResult
	if out.Text, err = transcript.Text(ctx, t.Blobs, text); err != nil {
		return out, fail(contract.KindBlob, err.Error(), 0)
	}
	if !in.Arguments {
		return out, nil
	}
	args, err := arguments(text)
	if err != nil {
		return out, fail(contract.KindInternal, err.Error(), 0)
	}
	out.SHA256 = contract.Sum(args)
	if out.Arguments, err = transcript.JSON(ctx, t.Blobs, args); err != nil {
		return out, fail(contract.KindBlob, err.Error(), 0)
	}
	return out, nil
}

func (t *Texts) compose(ctx context.Context, in contract.ComposeInput) (string, error) {
	if !in.Template.IsZero() {
		return filled(ctx, t.Blobs, in.Template, in.Values)
	}
	var parts []string
	for _, p := range in.Parts {
		text, err := transcript.ReadText(ctx, t.Blobs, p)
		if err != nil {
			return "", err
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n"), nil
}

// arguments are those of a delegation, in canonical form: their SHA-256 is what
// toolbox.Digest says.
func arguments(message string) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return toolbox.CanonicalArguments(raw)
}

// filled is a text with its placeholders replaced. Of the values, only those it
// names are read.
func filled(ctx context.Context, store transcript.Store, t contract.Text, values contract.State) (string, error) {
	text, err := transcript.ReadText(ctx, store, t)
	if err != nil || len(values) == 0 {
		return text, err
	}
	known := map[string]string{}
	for _, v := range values.Only(template.Keys(text)) {
		if known[v.Key], err = transcript.ReadText(ctx, store, v.Text); err != nil {
			return "", fmt.Errorf("read the value of %s: %w", v.Key, err)
		}
	}
	return template.Fill(text, func(key string) string { return known[key] }), nil
}

// Fold moves to the blob store what grows in a workflow: a long tail of messages,
// and the states of nodes, if there are any.
func (t *Texts) Fold(ctx context.Context, in contract.FoldInput) (contract.FoldResult, error) {
	var out contract.FoldResult
	var err error
	if out.Folded, err = transcript.Fold(ctx, t.Blobs, in.Transcript); err != nil {
		return out, fail(contract.KindBlob, err.Error(), 0)
	}
	if len(in.Nodes) == 0 {
		return out, nil
	}
	data, err := json.Marshal(in.Nodes)
	if err != nil {
		return out, fail(contract.KindInternal, "encode the states of nodes: "+err.Error(), 0)
	}
	blob, err := t.Blobs.Put(ctx, data)
	if err != nil {
		return out, fail(contract.KindBlob, fmt.Sprintf("store the states of %d nodes: %v", len(in.Nodes), err), 0)
	}
	blob.Preview = ""
	out.Nodes = &blob
	return out, nil
}
