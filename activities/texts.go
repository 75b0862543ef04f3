package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
	"agent-stop-and-go/workflows/record/transcript"
)

// Texts are the activities that read and write the blob store for workflows.
type Texts struct {
	Blobs transcript.Store
	// Policy judges delegations; nil has no rules.
	Policy rules.Policy
	// Audited: the installation has an audit log.
	Audited bool
}

// Compose makes one text from a template and values, or from parts without the empty ones.
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
	out.SHA256, out.Verdict = contract.Hash(args), rules.JudgeDelegation(t.Policy, in.Judged, args)
	out.Audited = t.Audited
	if out.Arguments, err = transcript.JSON(ctx, t.Blobs, args); err != nil {
		return out, fail(contract.KindBlob, err.Error(), 0)
	}
	return out, nil
}

func (t *Texts) compose(ctx context.Context, in contract.ComposeInput) (string, error) {
	if !in.Template.IsZero() {
		return fillTemplate(ctx, t.Blobs, in.Template, in.Values)
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

// arguments returns the canonical arguments of a delegation, as toolbox.Digest hashes them.
func arguments(message string) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return toolbox.CanonicalArguments(raw)
}

// fillTemplate replaces the placeholders of a text. Only the values that it names are read.
func fillTemplate(ctx context.Context, store transcript.Store, t contract.Text, values contract.State) (string, error) {
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
	return template.Fill(text, func(key string) (string, bool) { v, ok := known[key]; return v, ok }), nil
}

// ReadAnswer parses an answer to a question with a schema from the blob store. An answer that
// does not fit is a result.
func (t *Texts) ReadAnswer(ctx context.Context, in contract.ReadAnswerInput) (contract.ReadAnswerResult, error) {
	schema, err := transcript.ReadJSON(ctx, t.Blobs, in.Schema)
	if err != nil {
		return contract.ReadAnswerResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	var given answer.Reply
	if in.Signal != "" {
		given, err = answer.ParseQuestion(json.RawMessage(in.Signal), schema)
	} else {
		given, err = answer.ParseText(in.Message, schema)
	}
	if err != nil {
		return contract.ReadAnswerResult{Problem: err.Error()}, nil
	}
	return contract.ReadAnswerResult{Answer: given.Signal()}, nil
}

// Offload moves state of a workflow to the blob store: a long tail of messages, texts, and the
// states of nodes.
func (t *Texts) Offload(ctx context.Context, in contract.OffloadInput) (contract.OffloadResult, error) {
	var out contract.OffloadResult
	var err error
	offload := transcript.Offload
	if in.Whole {
		offload = transcript.OffloadAll
	}
	if out.Offloaded, err = offload(ctx, t.Blobs, in.Transcript); err != nil {
		return out, fail(contract.KindBlob, err.Error(), 0)
	}
	for _, text := range in.Texts {
		stored, err := t.store(ctx, text)
		if err != nil {
			return out, fail(contract.KindBlob, fmt.Sprintf("store %d texts: %v", len(in.Texts), err), 0)
		}
		out.Texts = append(out.Texts, stored)
	}
	if out.Nodes, err = t.storeNodes(ctx, in); err != nil {
		return out, fail(contract.KindBlob, fmt.Sprintf("store the states of %d nodes: %v", len(in.Nodes), err), 0)
	}
	return out, nil
}

// store stores a text; its address has no preview.
func (t *Texts) store(ctx context.Context, text contract.Text) (contract.Text, error) {
	blob := text.Blob
	if blob == nil {
		b, err := t.Blobs.Put(ctx, []byte(text.Inline))
		if err != nil {
			return contract.Text{}, err
		}
		blob = &b
	}
	return contract.Text{Blob: &contract.Blob{SHA256: blob.SHA256, Size: blob.Size}}, nil
}

func (t *Texts) storeNodes(ctx context.Context, in contract.OffloadInput) (*contract.Blob, error) {
	if len(in.Nodes) == 0 {
		return in.NodesBefore, nil
	}
	var nodes []contract.NodeState
	if in.NodesBefore != nil {
		data, err := t.Blobs.Get(ctx, *in.NodesBefore)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &nodes); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(append(nodes, in.Nodes...))
	if err != nil {
		return nil, err
	}
	blob, err := t.Blobs.Put(ctx, data)
	return &contract.Blob{SHA256: blob.SHA256, Size: blob.Size}, err
}
