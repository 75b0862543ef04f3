package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/schema"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/transcript"
)

// Reviewer judges calls again that wait for people.
type Reviewer struct {
	Policy  Policy
	Servers Servers
	Offer   interface {
		Tools(ctx context.Context) []toolbox.Tool
		Check(ctx context.Context, tool string, args json.RawMessage) (fixed json.RawMessage, problem string)
	}
	Blobs transcript.Store
	Now   func() time.Time
}

// Review judges a call, with the changes of its arguments if there are any. Changes that do not
// fit are a result. It fails only if the blob store does.
func (r Reviewer) Review(ctx context.Context, in review.Input) (out review.Result, err error) {
	basis, err := r.basis(ctx, in)
	if err != nil {
		return out, err
	}
	if r.Policy != nil {
		out.Policy = r.Policy.Version()
	}
	same := out.Policy == cmp.Or(in.Waits.Policy, basis.Policy)
	switch {
	case in.Policy != "" && in.Policy != out.Policy:
		return out, ErrOtherRules
	case len(in.Edit) == 0 && (r.Policy == nil || same && in.Policy == ""):
		return out, nil
	case len(in.Edit) > 0 && !same: // those of now may not ask, and so would release it
		out.Problem = "edit: the rules have changed since the call was made, so that they cannot say what may be changed: approve or reject it as it is"
		return out, nil
	}
	args, err := transcript.ReadJSON(ctx, r.Blobs, in.Arguments)
	if err != nil {
		return out, fmt.Errorf("read the arguments of a call: %w", err)
	}
	tool, known := r.tool(ctx, in)
	if len(in.Edit) > 0 {
		var rev contract.Revision
		if args, rev.Changes, out.Problem = r.change(ctx, in, args, known); out.Problem != "" {
			return out, nil
		}
		if rev.SHA256, err = toolbox.Digest(args); err != nil {
			return review.Result{Problem: "edit: " + err.Error()}, nil
		}
		if rev.Arguments = (contract.JSON{Raw: args}); len(args) > contract.InlineLimit || contract.LooksLikeBlob(args) {
			return review.Result{Problem: "edit: the arguments of this call are too long to be changed"}, nil
		}
		out.Revision = &rev
	}
	if r.Policy == nil {
		return out, nil
	}
	out.Verdict = r.judge(ctx, in, tool, basis, args)
	if out.Revision == nil {
		out.Tightened = verdict.Tightened(in.Waits.Asks, out.Verdict)
		out.Loosened = loosened(in, out, basis, tool)
	}
	return out, nil
}

// ErrOtherRules means that this worker has other rules than those that are to judge.
var ErrOtherRules = errors.New("this worker has other rules")

// loosened returns what a call needs by the rules of now alone, if that is less than it waits for.
func loosened(in review.Input, out review.Result, b verdict.Basis, tool toolbox.Tool) *verdict.Verdict {
	destructive := b.Destructive || in.Basis.IsZero() // of which nothing else is known: a person was asked
	now := verdict.Loosened(in.Waits.Asks, out.Verdict, destructive || tool.DestructiveHint)
	if now != nil {
		now.Policy = out.Policy
	}
	return now
}

// tool returns the tool of a call as its server lists it now.
func (r Reviewer) tool(ctx context.Context, in review.Input) (toolbox.Tool, bool) {
	tools := r.Offer.Tools(ctx)
	i := slices.IndexFunc(tools, func(t toolbox.Tool) bool { return t.Name == in.Tool && t.Server == in.Server })
	if i < 0 {
		return toolbox.Tool{Tool: contract.Tool{Name: in.Tool, Server: in.Server}}, false
	}
	return tools[i], true
}

// change returns the changed arguments and how they differ, or the problem.
func (r Reviewer) change(ctx context.Context, in review.Input, args json.RawMessage, known bool) (changed json.RawMessage, _ []edit.Change, problem string) {
	changed, err := edit.Apply(args, in.Edit, in.Allowed)
	switch {
	case err != nil:
		return nil, nil, err.Error()
	case known:
		changed, problem = r.Offer.Check(ctx, in.Tool, changed)
	case in.Server == "":
		problem = schema.Misfit(contract.Delegation(contract.Peer{}).InputSchema, changed)
	default:
		problem = fmt.Sprintf("the tool server %s does not list %s now, so that the change cannot be checked", in.Server, in.Tool)
	}
	if problem != "" {
		return nil, nil, "edit: " + problem
	}
	changes, err := edit.Between(args, changed, in.Edit)
	if err != nil {
		return nil, nil, err.Error()
	}
	return changed, changes, ""
}

// basis returns what the call was judged by. Nothing of it is known of a call of an earlier version.
func (r Reviewer) basis(ctx context.Context, in review.Input) (b verdict.Basis, err error) {
	raw, err := transcript.ReadJSON(ctx, r.Blobs, in.Basis)
	if err != nil {
		return b, fmt.Errorf("read what a call was judged by: %w", err)
	}
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &b)
	}
	return b, err
}

// judge judges a call with the hints of its tool at the time of the proposal: those of now may be
// unknown, and what is not known must not let it run.
func (r Reviewer) judge(ctx context.Context, in review.Input, tool toolbox.Tool, b verdict.Basis, args json.RawMessage) *verdict.Verdict {
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	j := Judge{Policy: r.Policy, Servers: r.Servers, About: b.Of(verdict.Call{Time: now()})}
	if !in.Basis.IsZero() {
		tool.ReadOnly, tool.DestructiveHint, tool.Idempotent = b.ReadOnly, b.Destructive, b.Idempotent
	}
	return j.Call(ctx, tool, in.Server != "" || in.Tool == toolbox.ToolRead || in.Tool == toolbox.ToolPrompt, args)
}
