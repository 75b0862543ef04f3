package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// answer is the model–tool loop of an llm node: it asks the model, runs or asks
// for what the model wants, and asks the model again, until there is a text.
func (l *leaf) answer(ctx workflow.Context) contract.NodeResult {
	for ; l.rounds < l.node.Rounds(); l.rounds++ {
		if result, over := l.withinLimits(ctx); over {
			return result
		}
		reply, err := l.generate(ctx)
		switch {
		case ctx.Err() != nil:
			return l.interrupted()
		case err != nil:
			return ended(contract.OutcomeFailed, wording.ModelFailure(failure(err)))
		}
		if result, over := l.take(ctx, reply); over {
			return result
		}
	}
	return ended(contract.OutcomeFailed, wording.TextRoundLimit)
}

// take does with a reply what it asks for. over means that the node ends with the
// result; else the model is asked again.
func (l *leaf) take(ctx workflow.Context, reply contract.GenerateResult) (result contract.NodeResult, over bool) {
	if problem := overrun(ctx, reply); problem != "" {
		return l.askWithinBounds(ctx, reply, problem)
	}
	if l.repair != nil && l.repair.Overrun {
		l.repair = nil
	}
	l.said = &reply
	switch {
	case len(reply.Calls) > 0:
		return l.carryOut(ctx, reply)
	case reply.Misfit != "":
		return l.mend(ctx, reply)
	}
	if reply.Draft != "" { // in histories without, it was not said
		l.note(ctx, wording.CutOff(reply.Finish))
	}
	return contract.NodeResult{Outcome: contract.OutcomeDone, Output: reply.Text}, true
}

// carryOut does what one reply asks for. over means that the node ends with the
// result; else the model is asked again.
func (l *leaf) carryOut(ctx workflow.Context, reply contract.GenerateResult) (result contract.NodeResult, over bool) {
	calls := l.record(ctx, reply)
	l.changed(ctx)
	plan := decide.Next(reply.Calls, l.node.AtOnce)
	for n, i := range plan.Ask {
		c := calls[i]
		r := l.ask(ctx, c, l.describe(ctx, c.Call), contract.ReasonDestructive)
		if ctx.Err() != nil {
			return l.interrupted(), true
		}
		if r.Decision != contract.Approved {
			l.tellInVain(ctx, calls, plan.Ask[:n], r.Decision)
			return ended(contract.OutcomeRejected, wording.AfterRefusal(recordedReason(ctx, r))), true
		}
		l.rounds = -1 // a decision opens a fresh budget, this round included
	}
	made := l.runAll(ctx, calls, plan)
	switch {
	case ctx.Err() != nil:
		return l.interrupted(), true
	case made.refused != "":
		return ended(contract.OutcomeRejected, made.refused), true
	case made.AuthRequired != "":
		r := ended(contract.OutcomeFailed, made.login)
		r.AuthRequired = made.AuthRequired
		return r, true
	case plan.Exit:
		return contract.NodeResult{Outcome: contract.OutcomeDone, Output: reply.Text, Exit: true}, true
	}
	return contract.NodeResult{}, false
}

// changeInVain marks histories in which a rejection says which approved calls it keeps
// from running.
const changeInVain = "approved-in-vain"

// tellInVain tells people of calls that were approved and do not run.
func (l *leaf) tellInVain(ctx workflow.Context, calls []call, approved []int, d contract.Decision) {
	if len(approved) == 0 || workflow.GetVersion(ctx, changeInVain, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	var inVain []contract.Call
	for _, i := range approved {
		inVain = append(inVain, calls[i].Call)
	}
	l.note(ctx, wording.ApprovedInVain(inVain, d))
}

// nameInTree is the node's name, or nothing for an agent that is one node.
func (l *leaf) nameInTree() string {
	if l.inTree {
		return l.node.Name
	}
	return ""
}

// signed is a text of a node inside a tree, with the node's name in front.
func (l *leaf) signed(ctx workflow.Context, text contract.Text) contract.Text {
	if text.Blob == nil {
		return contract.Inline(wording.Signed(l.node.Name, text.Inline))
	}
	out, err := runLocal(ctx, contract.ActivityCompose, lean(composeTimeout, wording.TextSummary(l.node.Name)), contract.ComposeInput{
		Template: contract.Inline(wording.Signed(l.node.Name, "{output}")),
		Values:   contract.State{{Key: "output", Text: text}},
	})
	if err != nil {
		workflow.GetLogger(ctx).Error("sign a long text", "node", l.node.Name, "error", err)
		return text
	}
	return out.Text
}

// conclude writes what a node inside a tree came to.
func (l *leaf) conclude(ctx workflow.Context, r contract.NodeResult) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	text := r.Output
	if r.Exit {
		text = contract.Inline(wording.TextExitLoop)
	}
	if !text.IsZero() {
		l.append(ctx, l.stamped(contract.Message{Role: contract.RoleAssistant, Content: l.signed(ctx, text)}))
	}
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(other string) bool { return other == s })
}
