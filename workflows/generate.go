package workflows

import (
	"cmp"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// generate asks the node's model for a reply and, when that fails, those that
// stand in for it. The one that answers is asked from then on.
func (l *leaf) generate(ctx workflow.Context) (contract.GenerateResult, error) {
	l.reset.reach(ctx, l.next(), l.about().conversation)
	agent := l.about().agent
	route := agent.Route(l.node.Model)
	models := append([]string{route.Name}, route.Fallback...)
	for {
		out, err := l.generateBy(ctx, agent.Route(models[l.fallen]), l.fallen+1 < len(models))
		if err == nil || ctx.Err() != nil || l.fallen+1 == len(models) || !decide.FallsBack(failure(err)) {
			return out, err
		}
		l.fallen++
		l.note(ctx, wording.FellBack(models[l.fallen-1], models[l.fallen], failure(err)))
	}
}

// maxDigests bounds how often a conversation is made shorter for one reply.
const maxDigests = 8

// generateBy asks one model. A conversation that is too long for it is made
// shorter first. spared: another model stands in for this one.
func (l *leaf) generateBy(ctx workflow.Context, route contract.ModelRoute, spared bool) (contract.GenerateResult, error) {
	for n := 0; ; n++ {
		in := l.generateInput(route.Name)
		out, err := l.callModel(ctx, route, in)
		if err != nil {
			return out, err
		}
		fold(l.transcript, in.Transcript, out.Folded)
		l.state.Usage = l.state.Usage.Add(out.Usage)
		switch {
		case out.Overlong == nil:
			return out, nil
		case n == maxDigests:
			return out, temporal.NewNonRetryableApplicationError(wording.TextTooLong, string(contract.KindModelContext), nil)
		}
		if err := l.shorten(ctx, route, *out.Overlong, spared); err != nil {
			return contract.GenerateResult{}, err
		}
	}
}

func (l *leaf) generateInput(model string) contract.GenerateInput {
	return contract.GenerateInput{
		ConversationID: l.about().conversation, Model: model, Prompt: l.node.Prompt,
		Transcript: copyOf(*l.transcript), Before: l.before, Values: l.values.For(l.node.Keys),
		Tools: l.node.Tools, Peers: l.node.Peers, ExitLoop: l.node.CanExitLoop, ClientTools: l.about().clientTools,
		Draft: contract.NameUUID(l.next(), fmt.Sprint("draft", l.path)), Node: l.nameInTree(), Digest: l.digest,
		Schema: l.node.OutputSchema, Repair: l.repair,
	}
}

func (l *leaf) callModel(ctx workflow.Context, route contract.ModelRoute, in contract.GenerateInput) (contract.GenerateResult, error) {
	ctx = withCredential(ctx, l.credential)
	summary := wording.GenerateSummary(in, l.nameInTree())
	return callModel(ctx, l, contract.ActivityGenerate, route, summary, in)
}

// callModel executes an activity that calls a model.
func callModel[In, Out any](ctx workflow.Context, l *leaf, a contract.Activity[In, Out], route contract.ModelRoute, summary string, in In) (Out, error) {
	timeout := cmp.Or(route.Timeout, contract.DefaultModelTimeout) + generateMargin
	if l.about().agent.Execution == contract.ExecutionLean {
		return runLocal(ctx, a, lean(timeout, summary), in)
	}
	return run(ctx, a, regular(timeout, attempts, summary), in)
}

// shorten has a digest made that stands in for the oldest messages. Where the
// model makes none, they are left out, and the summary before is what there is. A
// model that is spared leaves the messages to those that stand in for it.
func (l *leaf) shorten(ctx workflow.Context, route contract.ModelRoute, wanted contract.Digest, spared bool) error {
	in := contract.DigestInput{
		ConversationID: l.about().conversation, Model: route.Name,
		Transcript: copyOf(*l.transcript), Before: l.before, Earlier: l.digest, Wanted: wanted,
	}
	out, err := callModel(ctx, l, contract.ActivityDigest, route, wording.DigestSummary(in, l.nameInTree()), in)
	if ctx.Err() != nil || err != nil && spared && decide.FallsBack(failure(err)) {
		return err
	}
	why := ""
	if err != nil {
		out, why = contract.DigestResult{Digest: wanted}, failure(err).Message
		if l.digest != nil {
			out.Digest.Summary = l.digest.Summary
		}
	}
	l.digest = &out.Digest
	l.state.Usage = l.state.Usage.Add(out.Usage)
	m := l.notice(wording.Shortened(out.Digest, why))
	m.Model, m.Usage = out.Model, out.Usage
	l.tell(ctx, m)
	return nil
}

// mend asks the model once more for a reply that fits its schema.
func (l *leaf) mend(ctx workflow.Context, reply contract.GenerateResult) (result contract.NodeResult, over bool) {
	if l.repair != nil {
		return ended(contract.OutcomeFailed, wording.Misfit(reply.Misfit)), true
	}
	l.repair = &contract.Repair{Text: reply.Text, Problem: reply.Misfit}
	m := l.stamped(l.notice(wording.Mending(reply.Misfit)))
	m.Native = nil
	l.tell(ctx, m)
	return contract.NodeResult{}, false
}

// changeOverrun marks histories in which replies that ask for too much are not carried out.
const changeOverrun = "bounds-of-replies"

// overrun is why a reply asks for too much, or "". Workers of before leave that to the
// workflow.
func overrun(ctx workflow.Context, reply contract.GenerateResult) string {
	if reply.Overrun != "" {
		return reply.Overrun
	}
	names := make([]string, len(reply.Calls))
	for i, c := range reply.Calls {
		names[i] = c.Name
	}
	problem := contract.Overrun(names)
	if problem == "" || workflow.GetVersion(ctx, changeOverrun, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return ""
	}
	return problem
}

// askWithinBounds asks the model once more for a reply that asks for less.
func (l *leaf) askWithinBounds(ctx workflow.Context, reply contract.GenerateResult, problem string) (result contract.NodeResult, over bool) {
	reply.Calls, reply.Native = nil, nil
	l.said = &reply
	if l.repair != nil && l.repair.Overrun {
		return ended(contract.OutcomeFailed, wording.Overran(problem)), true
	}
	l.repair = &contract.Repair{Text: reply.Text, Problem: problem, Overrun: true}
	l.tell(ctx, l.stamped(l.notice(wording.AskingWithinBounds(problem))))
	return contract.NodeResult{}, false
}

// note tells people something that the model does not need. No text is no note.
func (l *leaf) note(ctx workflow.Context, text string) {
	if text != "" {
		l.tell(ctx, l.notice(text))
	}
}

// changeEmpty marks histories in which placeholders without a value are told of.
const changeEmpty = "empty-placeholders"

// warnEmpty tells people of placeholders that are empty because a node before this one
// has left nothing: it has failed, or was skipped.
func (l *leaf) warnEmpty(ctx workflow.Context) {
	missing := slices.DeleteFunc(slices.Clone(l.node.Expects), func(key string) bool {
		_, ok := l.values.Get(key)
		return ok
	})
	if len(missing) > 0 && workflow.GetVersion(ctx, changeEmpty, workflow.DefaultVersion, 1) == 1 {
		l.note(ctx, wording.EmptyPlaceholders(missing))
	}
}

func (l *leaf) tell(ctx workflow.Context, m contract.Message) {
	l.append(ctx, m)
	l.changed(ctx)
}

func (l *leaf) notice(text string) contract.Message {
	if l.inTree {
		text = wording.Signed(l.node.Name, text)
	}
	return contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text), Notice: true}
}

// stamped is a message of the last reply, with what is known of that: once for
// each reply.
func (l *leaf) stamped(m contract.Message) contract.Message {
	said := l.said
	l.said = nil
	if said != nil && said.Draft != "" {
		m.Model, m.Usage, m.Native, m.Draft = said.Model, said.Usage, said.Native, said.Draft
	}
	return m
}
