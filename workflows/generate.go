package workflows

import (
	"cmp"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/overrun"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/handover"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/wording"
)

// generate calls the node's model and, if that fails, its fallbacks in order. The one that
// answers is used from then on.
func (l *leaf) generate(ctx workflow.Context) (contract.GenerateResult, error) {
	l.reset.Pass(ctx, l.journal.nextID(), l.parent.origin().conversation)
	agent := l.parent.origin().agent
	route := agent.Route(l.node.Model)
	models := append([]string{route.Name}, route.Fallback...)
	for {
		out, err := l.generateWith(ctx, agent.Route(models[l.modelIndex]), l.modelIndex+1 < len(models))
		if err == nil || ctx.Err() != nil || l.modelIndex+1 == len(models) || !decide.MayFallBack(activity.Failure(err)) {
			return out, err
		}
		l.modelIndex++
		l.note(ctx, wording.FallbackNotice(models[l.modelIndex-1], models[l.modelIndex], activity.Failure(err)))
	}
}

// maxSummaries limits how often a conversation is shortened for one reply.
const maxSummaries = 8

// generateWith calls one model, and shortens a conversation that is too long for it.
// hasFallback is true if another model would be called after this one.
func (l *leaf) generateWith(ctx workflow.Context, route contract.ModelRoute, hasFallback bool) (contract.GenerateResult, error) {
	for n := 0; ; n++ {
		in := l.generateInput(ctx, route.Name)
		out, err := callModel(header.With(ctx, l.credential), l, contract.ActivityGenerate, route, wording.GenerateSummary(in, l.nameInTree()), in)
		if err != nil {
			return out, err
		}
		transcript.ReplaceOffloaded(l.journal.transcript, in.Transcript, out.Offloaded)
		l.state.Usage = l.state.Usage.Add(out.Usage)
		switch {
		case out.NeedsSummary == nil:
			return out, nil
		case n == maxSummaries:
			return out, temporal.NewNonRetryableApplicationError(wording.TextTooLong, string(contract.KindModelContext), nil)
		}
		if err := l.summarize(ctx, route, *out.NeedsSummary, hasFallback); err != nil {
			return contract.GenerateResult{}, err
		}
	}
}

func (l *leaf) generateInput(ctx workflow.Context, model string) contract.GenerateInput {
	return contract.GenerateInput{
		ConversationID: l.parent.origin().conversation, Model: model, Prompt: l.node.Prompt,
		Transcript: transcript.Clone(*l.journal.transcript), Before: l.journal.before, Values: l.values.For(l.node.Keys),
		Tools: l.node.Tools, Peers: l.node.Peers, ExitLoop: l.node.CanExitLoop, ClientTools: l.parent.origin().clientTools, ToolChoice: l.toolChoice,
		DraftID: contract.NameUUID(l.journal.nextID(), fmt.Sprint("draft", l.path)), Node: l.nameInTree(), Summary: l.journal.summary,
		Schema: l.node.OutputSchema, Repair: l.repair, Transferred: l.transferred, Facts: l.facts(ctx),
	}
}

// callModel executes an activity that calls a model.
func callModel[In, Out any](ctx workflow.Context, l *leaf, a contract.Activity[In, Out], route contract.ModelRoute, summary string, in In) (Out, error) {
	o := activity.Options(cmp.Or(route.Timeout, contract.DefaultModelTimeout)+generateMargin, activity.Attempts, summary)
	return handover.Run(ctx, l.parent.origin().agent.Execution, a, o, in)
}

// summarize has a summary made that replaces the oldest messages. If the model makes none, the
// messages are omitted and the previous summary is kept; if there is a fallback, the error is
// returned instead, so that the fallback reads the messages.
func (l *leaf) summarize(ctx workflow.Context, route contract.ModelRoute, wanted contract.Summary, hasFallback bool) error {
	in := contract.SummarizeInput{
		ConversationID: l.parent.origin().conversation, Model: route.Name,
		Transcript: transcript.Clone(*l.journal.transcript), Before: l.journal.before, Earlier: l.journal.summary, Wanted: wanted,
	}
	out, err := callModel(ctx, l, contract.ActivitySummarize, route, wording.SummarizeSummary(in, l.nameInTree()), in)
	if ctx.Err() != nil || err != nil && hasFallback && decide.MayFallBack(activity.Failure(err)) {
		return err
	}
	why := ""
	if err != nil {
		out, why = contract.SummarizeResult{Summary: wanted}, activity.Failure(err).Message
		if l.journal.summary != nil {
			out.Summary.Text = l.journal.summary.Text
		}
	}
	l.journal.summary = &out.Summary
	l.state.Usage = l.state.Usage.Add(out.Usage)
	m := l.notice(wording.SummaryNotice(out.Summary, why))
	m.Model, m.Usage = out.Model, out.Usage
	l.write(ctx, m)
	return nil
}

// repairReply calls the model once more for a reply that fits its schema.
func (l *leaf) repairReply(ctx workflow.Context, reply contract.GenerateResult) (result contract.NodeResult, over bool) {
	if l.repair != nil {
		return endedWith(contract.OutcomeFailed, wording.MisfitFailure(reply.Misfit)), true
	}
	l.repair = &contract.Repair{Text: reply.Text, Problem: reply.Misfit}
	m := l.withReplyData(l.notice(wording.RepairNotice(reply.Misfit)))
	m.Native = nil
	l.write(ctx, m)
	return contract.NodeResult{}, false
}

// changeOverrun marks histories in which replies with too many calls are not carried out.
const changeOverrun = "bounds-of-replies"

// replyOverrun returns why a reply exceeds the bounds, or "". Older workers leave that check to
// the workflow.
func replyOverrun(ctx workflow.Context, reply contract.GenerateResult) string {
	if reply.Overrun != "" {
		return reply.Overrun
	}
	problem := overrun.Of(reply.Calls, func(c contract.Call) string { return c.Name })
	if problem == "" || workflow.GetVersion(ctx, changeOverrun, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return ""
	}
	return problem
}

// repairOverrun calls the model once more for a reply with fewer calls.
func (l *leaf) repairOverrun(ctx workflow.Context, reply contract.GenerateResult, problem string) (result contract.NodeResult, over bool) {
	reply.Calls, reply.Native = nil, nil
	l.lastReply = &reply
	if l.repair != nil && l.repair.Overrun {
		return endedWith(contract.OutcomeFailed, wording.OverrunFailure(problem)), true
	}
	l.repair = &contract.Repair{Text: reply.Text, Problem: problem, Overrun: true}
	l.write(ctx, l.withReplyData(l.notice(wording.OverrunRepairNotice(problem))))
	return contract.NodeResult{}, false
}

// note writes a notice for people that the model does not need. An empty text writes nothing.
func (l *leaf) note(ctx workflow.Context, text string) {
	if text != "" {
		l.write(ctx, l.notice(text))
	}
}

// changeEmpty marks histories with notices about placeholders without a value.
const changeEmpty = "empty-placeholders"

// warnEmpty writes a notice about placeholders that are empty because an earlier node has no
// output: it failed or was skipped.
func (l *leaf) warnEmpty(ctx workflow.Context) {
	missing := slices.DeleteFunc(slices.Clone(l.node.Expects), func(key string) bool {
		_, ok := l.values.Get(key)
		return ok
	})
	if len(missing) > 0 && workflow.GetVersion(ctx, changeEmpty, workflow.DefaultVersion, 1) == 1 {
		l.note(ctx, wording.EmptyPlaceholders(missing))
	}
}

func (l *leaf) write(ctx workflow.Context, m contract.Message) {
	l.journal.append(ctx, m)
	l.parent.refresh(ctx)
}

func (l *leaf) notice(text string) contract.Message {
	if l.inTree {
		text = wording.WithNodeName(l.node.Name, text)
	}
	return contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text), Notice: true}
}

// withReplyData adds model, usage and draft ID of the last reply to a message, once for each
// reply.
func (l *leaf) withReplyData(m contract.Message) contract.Message {
	said := l.lastReply
	l.lastReply = nil
	if said != nil && said.DraftID != "" {
		m.Model, m.Usage, m.Native, m.DraftID = said.Model, said.Usage, said.Native, said.DraftID
	}
	return m
}
