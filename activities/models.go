package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Offer is the tools a model is told of.
type Offer interface {
	// Tools returns what is on offer now.
	Tools(ctx context.Context) []toolbox.Tool
	// Check returns arguments that fit the tool's schema, or what is wrong.
	Check(tool string, args json.RawMessage) (fixed json.RawMessage, problem string)
}

// Models calls models.
type Models struct {
	Model llm.Model
	Offer Offer
	Blobs transcript.Store
}

// Generate asks the model for the next reply. Calls come back with what is known
// of the tools they name, and with arguments that are final. A long tail of the
// transcript is folded on the way.
func (m *Models) Generate(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	defer heartbeat(ctx)()
	tools := m.Offer.Tools(ctx)
	request, err := m.request(ctx, in, tools)
	if err != nil {
		return contract.GenerateResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	reply, err := m.Model.Generate(ctx, request)
	if err != nil {
		return contract.GenerateResult{}, modelFailure(ctx, err)
	}
	out, err := m.result(ctx, in, reply, tools)
	if err != nil {
		return contract.GenerateResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	return out, nil
}

func (m *Models) request(ctx context.Context, in contract.GenerateInput, tools []toolbox.Tool) (llm.Request, error) {
	r := llm.Request{Model: in.Model}
	var err error
	if r.System, err = transcript.ReadText(ctx, m.Blobs, in.Prompt); err != nil {
		return r, fmt.Errorf("read the prompt: %w", err)
	}
	if r.Messages, err = transcript.Load(ctx, m.Blobs, in.Transcript); err != nil {
		return r, err
	}
	for i := range r.Messages {
		if r.Messages[i], err = transcript.Resolve(ctx, m.Blobs, r.Messages[i]); err != nil {
			return r, err
		}
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, t.Tool)
	}
	return r, nil
}

func (m *Models) result(ctx context.Context, in contract.GenerateInput, reply llm.Reply, tools []toolbox.Tool) (contract.GenerateResult, error) {
	out := contract.GenerateResult{Model: reply.Model, Usage: reply.Usage, Finish: reply.Finish}
	var err error
	if out.Text, err = transcript.Text(ctx, m.Blobs, reply.Text); err != nil {
		return out, err
	}
	for _, c := range reply.Calls {
		call, err := m.call(ctx, c, tools)
		if err != nil {
			return out, err
		}
		out.Calls = append(out.Calls, call)
	}
	out.Folded, err = transcript.Fold(ctx, m.Blobs, in.Transcript)
	return out, err
}

// call says what is known of a call and checks its arguments.
func (m *Models) call(ctx context.Context, c llm.Call, tools []toolbox.Tool) (contract.Call, error) {
	out := contract.Call{ID: c.ID, Name: c.Name, Problem: c.Problem}
	args := c.Arguments
	if tool, ok := find(tools, c.Name); ok {
		out.Server, out.Destructive = tool.Server, tool.DestructiveHint
		if out.Problem == "" {
			args, out.Problem = m.Offer.Check(c.Name, args)
		}
	} else {
		out.Unknown = true
	}
	if out.Problem != "" {
		args = c.Arguments
	}
	var err error
	if out.SHA256, err = toolbox.Digest(args); err != nil {
		out.Problem, args = cmp.Or(out.Problem, "The arguments are not a JSON object."), json.RawMessage(`{}`)
	}
	out.Arguments, err = transcript.JSON(ctx, m.Blobs, args)
	return out, err
}

func find(tools []toolbox.Tool, name string) (toolbox.Tool, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return toolbox.Tool{}, false
}

func modelFailure(ctx context.Context, err error) error {
	if cancelled(ctx, err) {
		return ctx.Err()
	}
	var known *llm.Error
	if errors.As(err, &known) {
		return fail(known.Kind, known.Message, known.RetryAfter)
	}
	return fail(contract.KindInternal, "the model could not be called: "+err.Error(), 0)
}
