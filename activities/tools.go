package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// Caller calls tools and knows the servers behind them.
type Caller interface {
	Call(ctx context.Context, c toolbox.Call) (toolbox.Result, error)
	Tools(ctx context.Context) []toolbox.Tool
	States() []contract.ServerState
	// Conflicts names the tools that cannot be called because another server has
	// one of that name.
	Conflicts() []string
	// Resources and Prompts have an error for toolbox.Failures beside what is there.
	Resources(ctx context.Context) ([]toolbox.Resource, error)
	Prompts(ctx context.Context) ([]toolbox.Prompt, error)
}

// Tools calls the tools of MCP servers.
type Tools struct {
	Caller  Caller
	Blobs   transcript.Store
	Keyring *credential.Keyring
	// Claims keep destructive calls from being made twice; nil is no check.
	Claims Claims
	Model  contract.ModelState
	// Problems and Notes are what is known from the start to be wrong with the
	// configuration and the environment, for the catalogue.
	Problems, Notes []string
	// Probe tells gateways whether they have the same store as Blobs; nil is no check.
	Probe *transcript.Probe
	// Feed is told when calls begin; nil is nobody.
	Feed Feed
	Now  func() time.Time
}

// CallTool makes one call, with the caller's own credential where there is one.
// Arguments that are not the ones that were shown are refused. A destructive call that
// another activity has sent has the outcome unknown.
func (t *Tools) CallTool(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
	defer heartbeat(ctx)()
	if !in.Destructive {
		return t.call(ctx, in)
	}
	name := strings.Join([]string{"tool", cmp.Or(in.Claim, in.IdempotencyKey), in.Server, in.Tool, in.SHA256, in.Grant}, "\n")
	settle, err := claim(ctx, t.Claims, contract.KindToolUnavailable, name, t.Now())
	if err != nil {
		return contract.CallToolResult{}, err
	}
	out, err := t.call(ctx, in)
	settle(hadNoEffect(err) || out.AuthRequired != "")
	return out, err
}

func (t *Tools) call(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
	args, err := transcript.ReadJSON(ctx, t.Blobs, in.Arguments)
	if err != nil {
		return contract.CallToolResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	if sum, err := toolbox.Digest(args); err != nil || sum != in.SHA256 {
		return contract.CallToolResult{}, fail(contract.KindDigest,
			fmt.Sprintf("the arguments of %s are not the ones that were shown", in.Tool), 0)
	}
	bearer, note := openBearer(ctx, t.Blobs, t.Keyring, in.ConversationID, t.Now)
	publish(t.Feed, contract.Event{ConversationID: in.ConversationID})
	step, stop := progress(ctx)
	defer stop()
	r, err := t.Caller.Call(ctx, toolbox.Call{
		Server: in.Server, Tool: in.Tool, Arguments: args, Bearer: bearer, SessionID: in.SessionID,
		IdempotencyKey: in.IdempotencyKey, Destructive: in.Destructive, Bound: in.Binding, Progress: step,
	})
	var known *toolbox.Error
	if errors.As(err, &known) && known.Kind == contract.KindChanged {
		return contract.CallToolResult{}, t.changed(ctx, in, known)
	}
	if err != nil {
		return contract.CallToolResult{}, toolFailure(ctx, in, err)
	}
	text, err := transcript.Text(ctx, t.Blobs, r.Text)
	if err != nil {
		// The call has happened: a failure here must not have it repeated.
		return contract.CallToolResult{}, fail(toolFailureKind(contract.KindBlob, in), err.Error(), 0)
	}
	media, err := keep(ctx, t.Blobs, r.Media)
	if err != nil {
		return contract.CallToolResult{}, fail(toolFailureKind(contract.KindBlob, in), err.Error(), 0)
	}
	return contract.CallToolResult{Text: text, IsError: r.IsError, Media: media, Links: r.Links, AuthRequired: r.AuthRequired, Note: note}, nil
}

// progress tells Temporal, in numbers only, how far a call is, and drops what
// comes while it does: tell does not wait. Outside of a regular activity tell is
// nil. Stop ends it.
func progress(ctx context.Context) (tell func(toolbox.Progress), stop func()) {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).IsLocalActivity {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	steps := make(chan toolbox.Progress, 1)
	go func() {
		for {
			select {
			case p := <-steps:
				activity.RecordHeartbeat(ctx, p)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func(p toolbox.Progress) {
		select {
		case steps <- p:
		default:
		}
	}, cancel
}

// toolFailureKind is the kind of a failure when the call may have happened: kind, unless
// the tool is destructive.
func toolFailureKind(kind contract.Kind, in contract.CallToolInput) contract.Kind {
	if in.Destructive {
		return contract.KindOutcomeUnknown
	}
	return kind
}

func toolFailure(ctx context.Context, in contract.CallToolInput, err error) error {
	if isCancellation(ctx, err) && !in.Destructive {
		return ctx.Err()
	}
	var known *toolbox.Error
	if errors.As(err, &known) {
		return fail(known.Kind, known.Error(), 0)
	}
	return fail(toolFailureKind(contract.KindInternal, in), err.Error(), 0)
}
