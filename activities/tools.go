package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/activities/rates"
	"agent-stop-and-go/activities/systemprompt"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/local"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/telemetry"
)

// Caller calls tools and knows their servers.
type Caller interface {
	Call(ctx context.Context, c toolbox.Call) (toolbox.Result, error)
	Tools(ctx context.Context) []toolbox.Tool
	States() []contract.ServerState
	// Challenges returns those of a server that accepts no connection without a token.
	Challenges(server string) []string
	// Conflicts lists the tools that cannot be called because another server has one of the
	// same name.
	Conflicts() []string
	// Resources and Prompts return a list and an error for toolbox.Failures.
	Resources(ctx context.Context) ([]toolbox.Resource, error)
	Prompts(ctx context.Context) ([]toolbox.Prompt, error)
	systemprompt.Reader
}

// Tools calls the tools of MCP servers.
type Tools struct {
	Caller  Caller
	Blobs   transcript.Store
	Keyring *credential.Keyring
	// Bearers knows which token a call carries; nil forwards the caller's.
	Bearers *bearer.Book
	// PublicURL is the URL at which people reach the agent to log in, or "".
	PublicURL string
	// Claims prevent that destructive calls are made twice; nil does not check.
	Claims Claims
	// Switches pause destructive calls; nil pauses none.
	Switches Switches
	// Rates counts calls for rate limits; nil has none.
	Rates *rates.Limiter
	// Audit records destructive calls; nil records none.
	Audit Audit
	Model contract.ModelState
	// Own are the tools of the agent itself; nil has none.
	Own *Own
	// Problems and Notes are faults of the configuration and the environment, known at the
	// start, for the catalogue.
	Problems, Notes []string
	// RuleProblems returns the rules that do not fit the tools; nil has none.
	RuleProblems func() []string
	// Probe lets gateways check that they share the store Blobs; nil does not check.
	Probe *transcript.Probe
	// Feed gets an event when a call begins; it may be nil.
	Feed Feed
	Now  func() time.Time
}

// CallTool makes one call, with the caller's credential if there is one. Arguments that differ
// from those shown are refused. A destructive call that another activity has sent has an
// unknown outcome. One that a switch pauses is not made, nor one that a rate limit holds.
func (t *Tools) CallTool(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
	defer heartbeat.Send(ctx)()
	if !in.Destructive {
		if err := t.limit(ctx, in); err != nil {
			return contract.CallToolResult{}, err
		}
		return t.call(ctx, in)
	}
	if err := paused(ctx, t.Switches, contract.KindToolUnavailable, switches.Call{Agent: in.Agent, Server: in.Server, Tool: in.Tool}); err != nil {
		return contract.CallToolResult{}, err
	}
	if err := t.limit(ctx, in); err != nil {
		return contract.CallToolResult{}, unsent(err)
	}
	recorded, err := audited(ctx, t.Audit, auditing.Call{
		Conversation: in.ConversationID, Agent: in.Agent, Server: in.Server, Tool: in.Tool, Key: in.IdempotencyKey, Arguments: in.Arguments, SHA256: in.SHA256,
		Rule: in.Rule, Policy: in.Policy, Grant: in.Standing,
	})
	if err != nil {
		return contract.CallToolResult{}, err
	}
	out, err := t.callOnce(ctx, in)
	recorded(err, out.IsError)
	return out, err
}

// callOnce makes a destructive call that no other activity has sent.
func (t *Tools) callOnce(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
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
	switch {
	case err != nil && in.Destructive: // it was not sent, so that it may be
		return contract.CallToolResult{}, fail(contract.KindToolUnavailable, err.Error(), 0)
	case err != nil:
		return contract.CallToolResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	if sum, err := toolbox.Digest(args); err != nil || sum != in.SHA256 {
		return contract.CallToolResult{}, fail(contract.KindDigest,
			fmt.Sprintf("the arguments of %s are not the ones that were shown", in.Tool), 0)
	}
	publish(t.Feed, contract.Event{ConversationID: in.ConversationID})
	if t.Own != nil && in.Server == local.Server {
		return t.callOwn(ctx, in, args)
	}
	step, stop := progress(ctx)
	defer stop()
	began := time.Now()
	ctx, span := telemetry.StartTool(ctx, in.Server, in.Tool)
	r, note, need, err := t.send(ctx, in.ConversationID, toolbox.Call{
		Server: in.Server, Tool: in.Tool, Arguments: args, SessionID: in.SessionID,
		IdempotencyKey: in.IdempotencyKey, Destructive: in.Destructive, Bound: in.Binding, Progress: step,
	})
	telemetry.ToolCall(ctx, in.Server, in.Tool, time.Since(began), toolFailureOf(err))
	span.End(toolFailureOf(err))
	var known *toolbox.Error
	if errors.As(err, &known) && known.Kind == contract.KindChanged {
		return contract.CallToolResult{}, t.changedFailure(ctx, in, known)
	}
	if err != nil {
		return contract.CallToolResult{}, toolFailure(ctx, in, err)
	}
	text, err := transcript.Text(ctx, t.Blobs, r.Text)
	if err != nil {
		// The call has run: a failure here must not repeat it.
		return contract.CallToolResult{}, fail(toolFailureKind(contract.KindBlob, in), err.Error(), 0)
	}
	media, err := keep(ctx, t.Blobs, r.Media)
	if err != nil {
		return contract.CallToolResult{}, fail(toolFailureKind(contract.KindBlob, in), err.Error(), 0)
	}
	return contract.CallToolResult{Text: text, IsError: r.IsError, Media: media, Links: r.Links, AuthRequired: r.AuthRequired, Login: need, Note: note}, nil
}

// send makes a call with the token for its server. The note is about the token. need is set if the
// call was not made because it needs a login.
func (t *Tools) send(ctx context.Context, conversationID string, call toolbox.Call) (r toolbox.Result, note string, need *login.Need, err error) {
	caller, problem := openCaller(ctx, t.Blobs, t.Keyring, conversationID, t.Now)
	server := bearer.Server{Name: call.To()}
	noToken := t.Bearers.Call(ctx, server, caller, func(token string) *bearer.Refusal {
		call.Bearer, note = token, noteWithout(t.Bearers.Gives(server), token, problem)
		switch {
		case call.Tool != bearer.ToolLogIn || call.Server != "":
			r, err = t.Caller.Call(ctx, call)
		case token == "":
			return bearer.RefusalOf(t.Caller.Challenges(call.To()))
		default:
			r = toolbox.Result{Text: bearer.TextLoggedIn}
		}
		return toolbox.Refused(r, err)
	})
	if l := bearer.Login(noToken); l != nil {
		return toolbox.Result{IsError: true, AuthRequired: l.Server, Text: l.Text()}, note, bearer.NeedOf(noToken, server, caller, t.PublicURL), nil
	}
	if noToken != nil {
		return r, note, nil, bearerFailure(noToken, contract.KindToolUnavailable, contract.KindToolFailed)
	}
	return r, note, nil, err
}

// progress reports the progress of a call to Temporal, in numbers only. tell does not wait:
// reports that come during a heartbeat are dropped. Outside of a regular activity tell is nil.
// stop ends it.
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

// toolFailureKind is the kind of a failure of a call that may have run: kind, unless the tool
// is destructive.
func toolFailureKind(kind contract.Kind, in contract.CallToolInput) contract.Kind {
	if in.Destructive {
		return contract.KindOutcomeUnknown
	}
	return kind
}

// toolFailureOf returns the kind of an error of a Caller, or "".
func toolFailureOf(err error) contract.Kind {
	return telemetry.FailureOf(err, func(e *toolbox.Error) contract.Kind { return e.Kind })
}

func toolFailure(ctx context.Context, in contract.CallToolInput, err error) error {
	if isCancellation(ctx, err) && !in.Destructive {
		return ctx.Err()
	}
	var known *toolbox.Error
	switch {
	case errors.As(err, &known):
		return fail(known.Kind, known.Error(), 0)
	case errors.As(err, new(*temporal.ApplicationError)): // of the token
		return err
	}
	return fail(toolFailureKind(contract.KindInternal, in), err.Error(), 0)
}
