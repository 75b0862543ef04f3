package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/doubt"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// runModel is the loop of an llm node: it calls the model, runs the calls of the reply or has
// them approved, and calls the model again, until a reply has no calls.
func (l *leaf) runModel(ctx workflow.Context) contract.NodeResult {
	for ; l.rounds < l.node.Rounds(); l.rounds++ {
		if result, over := l.withinLimits(ctx); over {
			return result
		}
		reply, err := l.generate(ctx)
		switch {
		case ctx.Err() != nil:
			return l.interruptedResult()
		case err != nil:
			return endedWith(contract.OutcomeFailed, wording.ModelFailure(activity.Failure(err)))
		}
		if result, over := l.handleReply(ctx, reply); over {
			return result
		}
	}
	return endedWith(contract.OutcomeFailed, wording.TextRoundLimit)
}

// handleReply runs what a reply asks for. If over is true the node ends with the result, else
// the model is called again.
func (l *leaf) handleReply(ctx workflow.Context, reply contract.GenerateResult) (result contract.NodeResult, over bool) {
	if problem := replyOverrun(ctx, reply); problem != "" {
		return l.repairOverrun(ctx, reply, problem)
	}
	if l.repair != nil && l.repair.Overrun {
		l.repair = nil
	}
	l.lastReply, l.transferred, l.toolChoice = &reply, contract.JSON{}, l.toolChoice.Later()
	switch {
	case len(reply.Calls) > 0:
		return l.runCalls(ctx, reply)
	case reply.Misfit != "":
		return l.repairReply(ctx, reply)
	}
	if reply.DraftID != "" { // histories without it have no such notice
		l.note(ctx, wording.CutOffNotice(reply.Finish))
	}
	return contract.NodeResult{Outcome: contract.OutcomeDone, Output: reply.Text}, true
}

// runCalls records the calls of a reply, has them approved where needed, and runs them. If over
// is true the node ends with the result, else the model is called again.
func (l *leaf) runCalls(ctx workflow.Context, reply contract.GenerateResult) (result contract.NodeResult, over bool) {
	calls := l.record(ctx, reply)
	l.parent.refresh(ctx)
	plan := decide.Next(reply.Calls, l.node.SkipApproval)
	for n, i := range plan.Ask {
		var r *contract.ApprovalResult
		calls[i], r = l.askBefore(ctx, calls[i])
		if ctx.Err() != nil {
			return l.interruptedResult(), true
		}
		if r.Decision != contract.Approved {
			l.noteUnusedApprovals(ctx, calls, plan.Ask[:n], r.Decision)
			return endedWith(contract.OutcomeRejected, wording.AfterRefusal(doubt.Recorded(ctx, *r))), true
		}
		calls[i].asked, l.rounds = true, -1 // a decision opens a fresh budget, this round included
	}
	outcome := l.runBatches(ctx, calls, plan)
	switch {
	case ctx.Err() != nil:
		return l.interruptedResult(), true
	case outcome.refused != "":
		return endedWith(contract.OutcomeRejected, outcome.refused), true
	case outcome.AuthRequired != "":
		r := endedWith(contract.OutcomeFailed, outcome.login)
		r.AuthRequired = outcome.AuthRequired
		return r, true
	case plan.Exit:
		return contract.NodeResult{Outcome: contract.OutcomeDone, Output: reply.Text, Exit: true}, true
	}
	return contract.NodeResult{}, false
}

// changeInVain marks histories in which a rejection lists the approved calls that it keeps from
// running.
const changeInVain = "approved-in-vain"

// noteUnusedApprovals tells people about calls that were approved and do not run.
func (l *leaf) noteUnusedApprovals(ctx workflow.Context, calls []call, approved []int, d contract.Decision) {
	if len(approved) == 0 || workflow.GetVersion(ctx, changeInVain, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	var inVain []contract.Call
	for _, i := range approved {
		inVain = append(inVain, calls[i].Call)
	}
	l.note(ctx, wording.UnusedApprovals(inVain, d))
}

// nameInTree is the node's name, or "" for an agent that is a single node.
func (l *leaf) nameInTree() string {
	if l.inTree {
		return l.node.Name
	}
	return ""
}

// signText puts the node's name in front of a text.
func (l *leaf) signText(ctx workflow.Context, text contract.Text) contract.Text {
	if text.Blob == nil {
		return contract.Inline(wording.WithNodeName(l.node.Name, text.Inline))
	}
	out, err := activity.RunLocal(ctx, contract.ActivityCompose, activity.LocalOptions(composeTimeout, wording.TextSummary(l.node.Name)), contract.ComposeInput{
		Template: contract.Inline(wording.WithNodeName(l.node.Name, "{output}")),
		Values:   contract.State{{Key: "output", Text: text}},
	})
	if err != nil {
		workflow.GetLogger(ctx).Error("sign a long text", "node", l.node.Name, "error", err)
		return text
	}
	return out.Text
}

// writeOutput writes the output of a node inside a tree.
func (l *leaf) writeOutput(ctx workflow.Context, r contract.NodeResult) {
	ctx = run.Detached(ctx)
	text := r.Output
	if r.Exit {
		text = contract.Inline(wording.TextExitLoop)
	}
	if !text.IsZero() {
		l.journal.append(ctx, l.withReplyData(contract.Message{Role: contract.RoleAssistant, Content: l.signText(ctx, text)}))
	}
}
