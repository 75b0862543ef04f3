package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"agent-stop-and-go/activities/attachment"
	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/form"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/schema"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/local"
	"agent-stop-and-go/workflows/contract/overrun"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// Models calls models.
type Models struct {
	Model llm.Model
	// Facts returns what is known of a model; nil knows nothing of any.
	Facts func(model string) llm.Facts
	Offer Offer
	// Peers adds descriptions from the peers' cards; it may be nil.
	Peers Peer
	Blobs transcript.Store
	// Feed gets the deltas of replies; it may be nil.
	Feed Feed
	// Compaction is CompactionSummary, the default, or CompactionWindow.
	Compaction string
	// Keyring opens the callers' tokens; without one, tools that servers list only with a
	// token are not offered.
	Keyring *credential.Keyring
	// Bearers knows the tokens with which servers list their tools; nil takes the caller's.
	Bearers *bearer.Book
	// Policy judges the calls; nil has no rules. Servers tell it facts about them; nil tells none.
	Policy  rules.Policy
	Servers rules.Servers
	Grants  rules.Grants // nil has none
	// Audited: the installation has an audit log.
	Audited bool
	Now     func() time.Time
}

// Generate calls the model for the next reply, with the placeholders of its prompt filled in.
// The calls of the reply have what is known of their tools, and final arguments. A tool that
// was not offered is unknown. A long tail of the transcript is offloaded. If the messages do
// not fit the model, the result only says which of them need a summary.
func (m *Models) Generate(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	left, stop := m.allowance(ctx, in.Model)
	defer stop()
	caller := m.caller(ctx, in.ConversationID)
	ctx = m.withBearers(ctx, caller)
	q, err := m.modelRequest(ctx, in)
	if err != nil {
		return contract.GenerateResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	if caller.Bearer != "" {
		q.request.Secrets = []mask.Secret{mask.Bearer(caller.Bearer)}
	}
	if !in.Transferred.IsZero() {
		out, err := m.transferred(ctx, in, q)
		if err != nil {
			err = fail(contract.KindBlob, err.Error(), 0)
		}
		return out, err
	}
	if d := q.neededSummary(false); d != nil {
		return contract.GenerateResult{DraftID: in.DraftID, NeedsSummary: d}, nil
	}
	q.request.Deltas = m.publishDeltas(ctx, in, left)
	call, cancel := left.within(ctx)
	defer cancel()
	reply, err := m.ask(call, q.request)
	reply = form.Single(reply, in.ToolChoice)
	if isKind(err, contract.KindModelContext) {
		if d := q.neededSummary(true); d != nil {
			return contract.GenerateResult{DraftID: in.DraftID, NeedsSummary: d}, nil
		}
	}
	if err != nil {
		return contract.GenerateResult{}, left.failure(ctx, err)
	}
	out, err := m.result(ctx, in, reply, q)
	if err != nil {
		return contract.GenerateResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	return out, nil
}

// Review judges a call again that waits for people.
func (m *Models) Review(ctx context.Context, in review.Input) (review.Result, error) {
	r := rules.Reviewer{Policy: m.Policy, Servers: m.Servers, Offer: m.Offer, Blobs: m.Blobs, Now: m.Now}
	out, err := r.Review(m.withBearers(ctx, m.caller(ctx, in.ConversationID)), in)
	switch {
	case errors.Is(err, rules.ErrOtherRules):
		err = fail(review.KindOtherRules, err.Error(), 0)
	case err != nil:
		err = fail(contract.KindBlob, err.Error(), 0)
	}
	return out, err
}

// withBearers returns a context with the tokens that servers list their tools for.
func (m *Models) withBearers(ctx context.Context, caller credential.Token) context.Context {
	return bearer.NewContext(ctx, bearer.NewTokens(func(ctx context.Context, server string) string { return m.bearer(ctx, server, caller) }))
}

func (m *Models) facts(model string) llm.Facts {
	if m.Facts == nil {
		return llm.Facts{}
	}
	return m.Facts(model)
}

// caller is the caller's token, which no reply may show.
func (m *Models) caller(ctx context.Context, conversationID string) credential.Token {
	if m.Keyring == nil {
		return credential.Token{}
	}
	caller, _ := openCaller(ctx, m.Blobs, m.Keyring, conversationID, m.Now)
	return caller
}

// bearer is the token with which a server lists its tools, or "".
func (m *Models) bearer(ctx context.Context, server string, caller credential.Token) string {
	token, err := m.Bearers.Token(ctx, bearer.Server{Name: server}, caller, nil)
	if err != nil {
		slog.Warn("tools are not listed", "server", server, "error", err)
	}
	return token.Bearer
}

// ask calls the model. A refused request with files is sent once more without them: providers
// do not say what they accept, and the conversation has to continue.
func (m *Models) ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	reply, err := m.Model.Generate(ctx, r)
	var known *llm.Error
	if len(r.Media) == 0 || !errors.As(err, &known) {
		return reply, err
	}
	if known.Kind != contract.KindModelRequest && known.Kind != contract.KindModelContext {
		return reply, err
	}
	return m.Model.Generate(ctx, attachment.Remove(r))
}

func (m *Models) result(ctx context.Context, in contract.GenerateInput, reply llm.Reply, q modelRequest) (contract.GenerateResult, error) {
	out := contract.GenerateResult{DraftID: in.DraftID, Model: reply.Model, Usage: reply.Usage, Finish: reply.Finish}
	text, misfit := q.output.Check(reply)
	out.Misfit = misfit
	var err error
	if out.Text, err = transcript.Text(ctx, m.Blobs, text); err != nil {
		return out, err
	}
	if out.Overrun = overrun.Of(reply.Calls, func(c llm.Call) string { return c.Name }); out.Overrun != "" {
		out.Offloaded, err = transcript.Offload(ctx, m.Blobs, in.Transcript)
		return out, err
	}
	judge := m.judge(in, q)
	for _, c := range reply.Calls {
		call, err := m.call(ctx, c, q.offer, judge)
		if err != nil {
			return out, err
		}
		out.Calls = append(out.Calls, call)
		judge.Next(c.Name)
	}
	if n := reply.Native; n != nil {
		out.Native = &contract.Native{Provider: n.Provider, Model: n.Model}
		if out.Native.Content, err = transcript.JSON(ctx, m.Blobs, n.Content); err != nil {
			return out, err
		}
	}
	out.Offloaded, err = transcript.Offload(ctx, m.Blobs, in.Transcript)
	return out, err
}

// call adds what is known of a call's tool and checks the arguments.
func (m *Models) call(ctx context.Context, c llm.Call, offer []offeredTool, judge *rules.Judge) (contract.Call, error) {
	tool, known := findTool(offer, c.Name)
	out := contract.Call{
		ID: c.ID, Name: c.Name, Problem: c.Problem, Unknown: !known,
		Server: tool.Server, Peer: tool.peer, Exit: tool.exit, Client: tool.client, Destructive: tool.DestructiveHint, MayAsk: tool.mayAsk,
		Wording: tool.wording,
	}
	if a := tool.Approval; a != nil && a.Asks {
		out.Because = a.Because
	}
	args := c.Arguments
	if known && out.Problem == "" {
		args, out.Problem = m.check(ctx, tool, args)
	}
	if out.Problem != "" {
		args = c.Arguments
	}
	var err error
	if out.SHA256, err = toolbox.Digest(args); err != nil {
		out.Problem, args = cmp.Or(out.Problem, "The arguments are not a JSON object."), json.RawMessage(`{}`)
	}
	if out.Arguments, err = transcript.JSON(ctx, m.Blobs, args); err != nil {
		return out, err
	}
	if known && out.Problem == "" && !tool.exit && !tool.login {
		judged := tool.bound
		judged.Tool = tool.Tool
		out.Verdict = judge.Call(ctx, judged, tool.peer == nil && !tool.client, args)
		if out.Destructive && out.Verdict == nil || out.Verdict.Asking() {
			out.Preview = judge.Preview(ctx, judged, args)
		}
		if out.Destructive && out.Verdict == nil || out.Verdict.Asking() || tool.Server == local.Server && c.Name == local.AskModelWithTool {
			if out.Basis, err = transcript.JSON(ctx, m.Blobs, judge.Basis(judged)); err != nil {
				return out, err
			}
		}
	}
	asked := out.Verdict.Asking() || out.Verdict.Granted()
	out.Audited = m.Audited && (out.Destructive || asked || out.Peer != nil) // an approval of a peer's task lets it act
	if target := tool.bound.Target(); (out.Destructive || asked) && target.Address != "" {
		out.Binding, err = bindCall(ctx, m.Blobs, target)
	}
	return out, err
}

// check returns arguments that fit the tool, or the problem. Arguments of exit_loop are
// ignored.
func (m *Models) check(ctx context.Context, tool offeredTool, args json.RawMessage) (fixed json.RawMessage, problem string) {
	switch {
	case tool.peer != nil:
		_, problem = messageIn(args)
		return args, problem
	case tool.exit:
		return args, ""
	case tool.client, tool.login:
		return args, schema.Misfit(tool.InputSchema, args)
	}
	return m.Offer.Check(ctx, tool.Name, args)
}

func modelFailure(ctx context.Context, err error) error {
	if isCancellation(ctx, err) {
		return ctx.Err()
	}
	var known *llm.Error
	if errors.As(err, &known) {
		return fail(known.Kind, known.Message, known.RetryAfter)
	}
	return fail(contract.KindInternal, "the model could not be called: "+err.Error(), 0)
}
