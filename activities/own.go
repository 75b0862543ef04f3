package activities

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"agent-stop-and-go/activities/local"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/telemetry"
)

// Own are the tools of the agent itself, and of what they use only what does not depend on the call.
type Own struct {
	Tools *local.Tools
	Scope local.Scope
}

// callOwn makes a call of a tool of the agent itself.
func (t *Tools) callOwn(ctx context.Context, in contract.CallToolInput, args json.RawMessage) (out contract.CallToolResult, err error) {
	scope := t.Own.Scope
	scope.Tools, scope.Time, scope.Call = in.Tools, t.Now(), inside{t, in}.call
	if scope.Basis, err = transcript.ReadJSON(ctx, t.Blobs, in.Basis); err != nil {
		return out, fail(contract.KindBlob, err.Error(), 0)
	}
	m := Models{Blobs: t.Blobs, Keyring: t.Keyring, Bearers: t.Bearers, Now: t.Now}
	began := time.Now()
	ctx, span := telemetry.StartTool(ctx, in.Server, in.Tool)
	r, err := t.Own.Tools.Call(m.withBearers(ctx, m.caller(ctx, in.ConversationID)), local.Call{Tool: in.Tool, Arguments: args, Inside: scope})
	telemetry.ToolCall(ctx, in.Server, in.Tool, time.Since(began), toolFailureOf(err))
	span.End(toolFailureOf(err))
	if err != nil {
		return out, toolFailure(ctx, in, err)
	}
	if i := r.Inner; i != nil {
		out = *i
	}
	out.IsError, out.Usage, out.Used, out.Note = r.IsError, r.Usage, r.Used, strings.TrimSpace(r.Call+" "+out.Note)
	if out.Text, err = transcript.Text(ctx, t.Blobs, r.Text); err != nil {
		err = fail(contract.KindBlob, err.Error(), 0)
	}
	return out, err
}

// inside makes the calls that a call of a tool of the agent itself makes.
type inside struct {
	tools *Tools
	of    contract.CallToolInput
}

// call makes a call that only reads, with its result as text. Errors without a kind mean that it was not made.
func (i inside) call(ctx context.Context, tool toolbox.Tool, args json.RawMessage) (out contract.CallToolResult, text string, err error) {
	in := contract.CallToolInput{
		ConversationID: i.of.ConversationID, SessionID: i.of.SessionID, Server: tool.Server, Tool: tool.Name, IdempotencyKey: i.of.IdempotencyKey + "-" + tool.Name,
		Rate: rates.Passage{Caller: i.of.Rate.Caller}, // what it may exceed was granted to the call itself
	}
	if in.SHA256, err = toolbox.Digest(args); err == nil {
		in.Arguments, err = transcript.JSON(ctx, i.tools.Blobs, args)
	}
	if err == nil {
		err = i.tools.limit(ctx, in)
	}
	if err == nil {
		out, err = i.tools.call(ctx, in)
	}
	if err != nil {
		return out, "", err
	}
	if text, err = transcript.ReadText(ctx, i.tools.Blobs, out.Text); err != nil {
		err = fail(contract.KindBlob, err.Error(), 0) // it was made
	}
	return out, text, err
}
