package workflows

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// call is a call with the message that records it. The message's ID is the
// call's idempotency key: the same in every attempt, and in no other call.
type call struct {
	contract.Call
	message string
	reply   string
	// grant is the approval that has the call made again; "" is the first time.
	grant string
	claim string
}

// made is what became of a call.
type made struct {
	contract.CallToolResult
	// login is the reply to the user when AuthRequired is set.
	login string
	// refused is the reply to a decision that keeps a delegation from going on.
	refused string
}

// ends reports whether nothing else may run after this call.
func (m made) ends() bool { return m.AuthRequired != "" || m.refused != "" }

// record puts a reply that asks for calls into the transcript.
func (l *leaf) record(ctx workflow.Context, reply contract.GenerateResult) []call {
	id := l.next()
	if !reply.Text.IsZero() {
		l.append(ctx, l.stamped(contract.Message{Role: contract.RoleAssistant, Content: reply.Text, Reply: id}))
	}
	calls := make([]call, len(reply.Calls))
	for i, c := range reply.Calls {
		calls[i] = l.recordCall(ctx, c, id)
	}
	return calls
}

func (l *leaf) recordCall(ctx workflow.Context, c contract.Call, reply string) call {
	message := l.append(ctx, l.stamped(contract.Message{
		Role: contract.RoleAssistant, Reply: reply,
		ToolCall: &contract.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments},
	}))
	return call{Call: c, message: message, reply: reply, claim: l.claim(c)}
}

// claim names a call by where in the tree it is made and what it does, and counts those
// that are alike. The IDs of messages depend on which node beside this one was faster.
func (l *leaf) claim(c contract.Call) string {
	if !c.Destructive {
		return ""
	}
	if l.made == nil {
		l.made = map[string]int{}
	}
	name := strings.Join([]string{l.scope, c.Server, c.Name, c.SHA256}, "\n")
	l.made[name]++
	return contract.NameUUID(name, fmt.Sprint("call-", l.made[name]))
}

func (l *leaf) recordResult(ctx workflow.Context, c call, r contract.CallToolResult) {
	l.append(ctx, contract.Message{
		Role: contract.RoleTool, Reply: c.reply, ResultOf: c.message,
		ToolCall: &contract.ToolCall{
			ID: c.ID, Name: c.Name, Result: r.Text, IsError: r.IsError, Media: r.Media, Links: r.Links, Note: r.Note,
		},
	})
}

// runAll runs the calls batch by batch and records their results. It returns
// the one that keeps everything after it from running, if there is one. Nothing
// runs either once the context has ended.
func (l *leaf) runAll(ctx workflow.Context, calls []call, plan decide.Plan) made {
	for i, c := range calls {
		if r, ok := plan.Answered[i]; ok {
			l.recordResult(ctx, c, r)
		}
	}
	for _, batch := range plan.Batches {
		if ctx.Err() != nil {
			return made{}
		}
		var last made
		for n, r := range l.runBatch(ctx, calls, batch) {
			l.recordResult(ctx, calls[batch[n]], r.CallToolResult)
			if r.ends() {
				last = r
			}
		}
		if last.ends() {
			return last
		}
		l.changed(ctx)
	}
	return made{}
}

// runBatch runs calls side by side; the results are in the order of the calls.
func (l *leaf) runBatch(ctx workflow.Context, calls []call, batch []int) []made {
	if len(batch) == 1 {
		return []made{l.runOne(ctx, calls[batch[0]])}
	}
	results := make([]made, len(batch))
	group := workflow.NewWaitGroup(ctx)
	for n, i := range batch {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			results[n] = l.runOne(ctx, calls[i])
		})
	}
	group.Wait(ctx)
	return results
}

func (l *leaf) runOne(ctx workflow.Context, c call) made {
	switch {
	case c.Peer != nil:
		return l.delegate(ctx, c)
	case c.Client:
		return made{CallToolResult: l.callClient(ctx, c)}
	}
	r := l.callUntilKnown(ctx, c)
	return made{CallToolResult: r, login: wording.AuthRequired(r.AuthRequired)}
}

// callUntilKnown calls a tool. A destructive call whose answer was lost goes to a
// human, who may have it repeated. One that did not reach its server is repeated
// by itself for a moment, and then goes to a human too: it was approved, and a
// server that is being restarted must not undo that.
func (l *leaf) callUntilKnown(ctx workflow.Context, c call) contract.CallToolResult {
	note := ""
	for tries := 1; ; tries++ {
		r, err := l.callTool(withCredential(ctx, l.tokenFor(c)), c)
		if err == nil {
			r.Note = strings.TrimSpace(r.Note + " " + note)
			return r
		}
		f := failure(err)
		if temporal.IsCanceledError(err) {
			f.Message = wording.CauseTurnCancelled
		}
		if now, changed := changedGrant(err); changed {
			if ctx.Err() != nil {
				return wording.NotRepeated(f, false, contract.ApprovalResult{})
			}
			if r := l.regrant(ctx, &c, now); r.Decision != contract.Approved || ctx.Err() != nil {
				return wording.NotRepeated(f, false, recordedReason(ctx, r))
			}
			tries = 0
			continue
		}
		lost := inDoubt(ctx, c.Call, f)
		if !lost && !l.mayRepeat(ctx, c, f) {
			return wording.ToolFailure(f)
		}
		if !lost && tries < reachAttempts && l.awaitServer(ctx, tries) {
			continue
		}
		if ctx.Err() != nil {
			return wording.NotRepeated(f, lost, contract.ApprovalResult{})
		}
		d := l.askAgain(ctx, c, f, lost)
		switch {
		case ranAllTheSame(d):
			return contract.CallToolResult{Text: l.kept(ctx, wording.RanResult(f.Message, d))}
		case d.Decision != contract.Approved || ctx.Err() != nil:
			return wording.NotRepeated(f, lost, recordedReason(ctx, d))
		case lost && answersDoubt(ctx):
			note = wording.RepeatedNote(d)
		}
		tries, c.grant = 0, d.UUID
	}
}

// changeAnswers marks histories in which people may answer that a call whose outcome is
// unknown did run, and are asked again for an approval that another agent was not told of.
const changeAnswers = "answers-to-unknown-outcomes"

func answersDoubt(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, changeAnswers, workflow.DefaultVersion, 1) == 1
}

// ranAllTheSame reports whether a person knows that a call whose outcome was unknown did run.
func ranAllTheSame(r contract.ApprovalResult) bool {
	return r.Decision == contract.Approved && r.Outcome == contract.OutcomeRan
}

// changeDoubt marks histories in which also those destructive calls go to a human whose
// failure no activity has explained.
const changeDoubt = "ask-after-unexplained-failures"

// inDoubt reports whether a failed call may have happened all the same.
func inDoubt(ctx workflow.Context, c contract.Call, f wording.Failure) bool {
	return decide.OutcomeUnknown(c, f) || c.Destructive && decide.Unexplained(f) &&
		workflow.GetVersion(ctx, changeDoubt, workflow.DefaultVersion, 1) == 1
}

// mayRepeat reports whether a destructive call certainly did not happen. Nobody is
// asked about it in nodes that ask nobody.
func (l *leaf) mayRepeat(ctx workflow.Context, c call, f wording.Failure) bool {
	return decide.NotReached(c.Call, f) && ctx.Err() == nil && !l.node.AtOnce &&
		workflow.GetVersion(ctx, changeRepeat, workflow.DefaultVersion, 1) == 1
}

// changeRepeat marks histories in which calls that were not reached are repeated.
const changeRepeat = "repeat-calls-not-reached"

// awaitServer waits before a call is repeated. It returns false when the turn has ended.
func (l *leaf) awaitServer(ctx workflow.Context, tries int) bool {
	o := workflow.TimerOptions{Summary: wording.SummaryNextCall}
	return workflow.NewTimerWithOptions(ctx, reachFirst<<(tries-1), o).Get(ctx, nil) == nil
}

// askAgain asks a human what is to be done about a call that was lost or did not reach
// its server.
func (l *leaf) askAgain(ctx workflow.Context, c call, f wording.Failure, lost bool) contract.ApprovalResult {
	if lost {
		return l.askAbout(ctx, c, l.describeUnknown(ctx, c.Call, f.Message))
	}
	return l.ask(ctx, c, l.describeNotReached(ctx, c.Call, f.Message), contract.ReasonNotReached)
}

// askAbout asks a human about a call whose outcome is unknown.
func (l *leaf) askAbout(ctx workflow.Context, c call, description string) contract.ApprovalResult {
	return l.await(ctx, l.doubtAbout(ctx, c, description))
}

func (l *leaf) doubtAbout(ctx workflow.Context, c call, description string) contract.ApprovalInput {
	in := l.approvalFor(ctx, c, description, contract.ReasonUnknownOutcome)
	in.Schema = contract.JSON{Raw: json.RawMessage(contract.UnknownOutcomeSchema)}
	return in
}

func (l *leaf) callTool(ctx workflow.Context, c call) (contract.CallToolResult, error) {
	a := l.about()
	in := contract.CallToolInput{
		ConversationID: a.conversation, SessionID: a.session, Server: c.Server, Tool: c.Name,
		Arguments: c.Arguments, SHA256: c.SHA256, IdempotencyKey: c.message, Destructive: c.Destructive, Claim: c.claim, Grant: c.grant,
	}
	if !l.node.AtOnce || c.grant != "" { // else nobody has approved anything
		in.Binding = c.Binding
	}
	summary := wording.ToolSummary(c.Name, c.Server)
	switch {
	case c.MayAsk:
		in.MayAsk = true
		return l.callAsking(ctx, c, in, summary)
	case c.Destructive: // one attempt, and seen through even when the turn is cancelled
		ctx, _ = workflow.NewDisconnectedContext(ctx)
		return run(ctx, contract.ActivityCallTool, regular(callToolTimeout, 1, summary), in)
	case a.agent.Execution == contract.ExecutionLean:
		return runLocal(ctx, contract.ActivityCallTool, lean(callToolTimeout, summary), in)
	}
	return run(ctx, contract.ActivityCallTool, regular(callToolTimeout, attempts, summary), in)
}
