package workflows

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/local"
	"agent-stop-and-go/workflows/contract/ticket"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/doubt"
	"agent-stop-and-go/workflows/handover"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// call is a call with the ID of the message that records it. That ID is the call's idempotency
// key: the same in every attempt, and different for every other call.
type call struct {
	contract.Call
	message, reply string
	// grant is the approval by which the call is repeated; "" is the first time.
	grant string
	asked bool // a person has approved it; its node may need no approvals any more
	claim string
	over  []string // the rate limits that a person lets it exceed
	waits string   // the rate limit that the record says it waits for
}

// callOutcome is the result of a call, and whether it ends the node.
type callOutcome struct {
	contract.CallToolResult
	// login is the reply to the user when AuthRequired is set.
	login string
	// refused is the reply to a decision that ends a delegation.
	refused string
}

// isFinal reports whether nothing may run after this call.
func (m callOutcome) isFinal() bool { return m.AuthRequired != "" || m.refused != "" }

// record writes a reply that has calls to the transcript.
func (l *leaf) record(ctx workflow.Context, reply contract.GenerateResult) []call {
	id := l.journal.nextID()
	if !reply.Text.IsZero() {
		l.journal.append(ctx, l.withReplyData(contract.Message{Role: contract.RoleAssistant, Content: reply.Text, Reply: id}))
	}
	calls := make([]call, len(reply.Calls))
	for i, c := range reply.Calls {
		calls[i] = l.recordCall(ctx, c, id)
	}
	return calls
}

func (l *leaf) recordCall(ctx workflow.Context, c contract.Call, reply string) call {
	message := l.journal.append(ctx, l.withReplyData(contract.Message{
		Role: contract.RoleAssistant, Reply: reply,
		ToolCall: &contract.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Verdict: c.Verdict},
	}))
	return call{Call: c, message: message, reply: reply, claim: l.claim(c)}
}

// claim identifies a call by its place in the tree and its content, with a number if the same
// call is made several times. Message IDs do not do: they depend on which of two parallel nodes
// was faster.
func (l *leaf) claim(c contract.Call) string {
	if !c.Destructive {
		return ""
	}
	if l.claimCounts == nil {
		l.claimCounts = map[string]int{}
	}
	name := strings.Join([]string{l.scope, c.Server, c.Name, c.SHA256}, "\n")
	l.claimCounts[name]++
	return contract.NameUUID(name, fmt.Sprint("call-", l.claimCounts[name]))
}

func (l *leaf) recordResult(ctx workflow.Context, c call, r contract.CallToolResult) {
	l.journal.append(ctx, contract.Message{
		Role: contract.RoleTool, Reply: c.reply, ResultOf: c.message,
		ToolCall: &contract.ToolCall{
			ID: c.ID, Name: c.Name, Result: r.Text, IsError: r.IsError, Media: r.Media, Links: r.Links, Note: r.Note, Used: r.Used,
		},
	})
}

// runBatches runs the calls batch by batch and records their results. It returns the outcome
// that keeps later calls from running, if there is one. Nothing runs once the context has
// ended.
func (l *leaf) runBatches(ctx workflow.Context, calls []call, plan decide.Plan) callOutcome {
	for i, c := range calls {
		if r, ok := plan.Answered[i]; ok {
			l.recordResult(ctx, c, r)
		}
	}
	for _, batch := range plan.Batches {
		if ctx.Err() != nil {
			return callOutcome{}
		}
		var last callOutcome
		for n, r := range l.runBatch(ctx, calls, batch) {
			l.recordResult(ctx, calls[batch[n]], r.CallToolResult)
			if r.isFinal() {
				last = r
			}
		}
		if last.isFinal() {
			return last
		}
		l.parent.refresh(ctx)
	}
	return callOutcome{}
}

// runBatch runs calls in parallel. The results are in the order of the calls.
func (l *leaf) runBatch(ctx workflow.Context, calls []call, batch []int) []callOutcome {
	if len(batch) == 1 {
		return []callOutcome{l.runCall(ctx, calls[batch[0]])}
	}
	results := make([]callOutcome, len(batch))
	group := workflow.NewWaitGroup(ctx)
	for n, i := range batch {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			results[n] = l.runCall(ctx, calls[i])
		})
	}
	group.Wait(ctx)
	return results
}

func (l *leaf) runCall(ctx workflow.Context, c call) callOutcome {
	switch {
	case c.Peer != nil:
		return l.delegate(ctx, c)
	case c.Client:
		return callOutcome{CallToolResult: l.callClient(ctx, c)}
	}
	r := l.callWithRepeats(ctx, c)
	return callOutcome{CallToolResult: r, login: wording.AuthRequired(r.AuthRequired)}
}

// callWithRepeats calls a tool. A destructive call whose result was lost is submitted to a
// person, who may have it repeated. One that did not reach its server is repeated automatically
// for a short time and then submitted to a person too: it was approved, and a restart of the
// server must not undo that.
func (l *leaf) callWithRepeats(ctx workflow.Context, c call) contract.CallToolResult {
	note := ""
	for tries := 1; ; tries++ {
		r, err := l.callTool(header.With(ctx, l.tokenFor(c)), c)
		l.state.Usage = l.state.Usage.Add(r.Usage)
		if err == nil && pausesForLogin(ctx, r.Login) {
			if d := l.awaitLogin(ctx, c, *r.Login); d.Decision != contract.Approved || ctx.Err() != nil {
				return wording.NotLoggedIn(*r.Login, d)
			}
			tries = 0
			continue
		}
		if err == nil {
			r.Note = strings.TrimSpace(r.Note + " " + note)
			return r
		}
		f := activity.Failure(err)
		if temporal.IsCanceledError(err) {
			f.Message = wording.CauseTurnCancelled
		}
		if f.Kind == contract.KindPaused && ctx.Err() == nil {
			if r := l.awaitResume(ctx, c, f); r.Decision != contract.Approved || ctx.Err() != nil {
				return wording.NotRepeated(f, false, r)
			}
			tries = 0
			continue
		}
		if now, changed := changedTarget(err); changed {
			if ctx.Err() != nil {
				return wording.NotRepeated(f, false, contract.ApprovalResult{})
			}
			if r := l.approveChange(ctx, &c, now); r.Decision != contract.Approved || ctx.Err() != nil {
				return wording.NotRepeated(f, false, doubt.Recorded(ctx, r))
			}
			tries = 0
			continue
		}
		if limit, held := rateRefusal(err); held && ctx.Err() == nil {
			if r := l.passRate(ctx, &c, limit); r != nil {
				return *r
			}
			tries = 0
			continue
		}
		lost := doubt.MayHaveRun(ctx, c.Call, f)
		if !lost && (l.node.SkipApproval || !doubt.MayRepeat(ctx, c.Call, f)) {
			return wording.ToolFailure(f)
		}
		if !lost && tries < reachAttempts && l.awaitServer(ctx, tries) {
			continue
		}
		if ctx.Err() != nil {
			return wording.NotRepeated(f, lost, contract.ApprovalResult{})
		}
		d := l.askRepeat(ctx, c, f, lost)
		switch {
		case doubt.HasRun(d):
			return contract.CallToolResult{Text: l.storeText(ctx, wording.RanResult(f.Message, d))}
		case d.Decision != contract.Approved || ctx.Err() != nil:
			return wording.NotRepeated(f, lost, doubt.Recorded(ctx, d))
		case lost && doubt.TakesAnswers(ctx):
			note = wording.RepeatedNote(d)
		}
		tries, c.grant = 0, d.UUID
	}
}

// awaitServer waits before a call is repeated. It returns false if the turn has ended.
func (l *leaf) awaitServer(ctx workflow.Context, tries int) bool {
	o := workflow.TimerOptions{Summary: wording.SummaryNextCall}
	return workflow.NewTimerWithOptions(ctx, reachFirst<<(tries-1), o).Get(ctx, nil) == nil
}

// askRepeat asks a person what to do about a call whose result was lost or that did not reach
// its server.
func (l *leaf) askRepeat(ctx workflow.Context, c call, f wording.Failure, lost bool) contract.ApprovalResult {
	if lost {
		return l.askOutcome(ctx, c, l.describeUnknown(ctx, c.Call, f.Message))
	}
	return l.ask(ctx, c, l.describeNotReached(ctx, c.Call, f.Message), contract.ReasonNotReached)
}

// askOutcome asks a person about a call of unknown outcome.
func (l *leaf) askOutcome(ctx workflow.Context, c call, description string) contract.ApprovalResult {
	in := l.outcomeApproval(ctx, c, description)
	return *l.awaitApproval(ctx, &in)
}

func (l *leaf) outcomeApproval(ctx workflow.Context, c call, description string) contract.ApprovalInput {
	in := l.approvalFor(ctx, c, description, contract.ReasonUnknownOutcome)
	in.Schema = contract.JSON{Raw: json.RawMessage(contract.UnknownOutcomeSchema)}
	return in
}

// runsUnseen reports whether nobody has approved a call before it runs for the first time.
func (l *leaf) runsUnseen(c contract.Call) bool {
	if c.Verdict != nil {
		return c.Verdict.Allowing() && !c.Verdict.Granted()
	}
	return l.node.SkipApproval
}

func (l *leaf) callTool(ctx workflow.Context, c call) (contract.CallToolResult, error) {
	a := l.parent.origin()
	in := contract.CallToolInput{
		ConversationID: a.conversation, SessionID: a.session, Server: c.Server, Tool: c.Name,
		Arguments: c.Arguments, SHA256: c.SHA256, IdempotencyKey: c.message, Destructive: c.Destructive, Claim: c.claim, Grant: c.grant, Rate: l.passage(c),
	}
	if c.Verdict.Granted() {
		in.Standing = c.Verdict.Grant.ID
	}
	if c.Destructive {
		in.Agent = a.agent.Name
		in.Rule, in.Policy = c.Verdict.Source()
	}
	if !l.runsUnseen(c.Call) || c.asked || c.grant != "" { // else nobody has approved anything
		in.Binding = c.Binding
	}
	summary, timeout := wording.ToolSummary(c.Name, c.Server), callToolTimeout
	if c.Server == local.Server {
		in.Tools, in.Basis, timeout = l.node.Tools, c.Basis, local.MaxTime+generateMargin
	}
	switch {
	case c.MayAsk:
		in.MayAsk = true
		return l.callWithQuestions(ctx, c, in, summary)
	case c.Destructive: // one attempt, completed even when the turn is cancelled
		return handover.Once(run.Detached(ctx), a.agent.Execution, contract.ActivityCallTool, activity.Options(callToolTimeout, 1, summary), in, ticket.Once{Server: in.Server, Tool: in.Tool})
	}
	return handover.Run(ctx, a.agent.Execution, contract.ActivityCallTool, activity.Options(timeout, activity.Attempts, summary), in)
}
