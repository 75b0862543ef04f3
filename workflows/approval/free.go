package approval

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// validateRelease refuses a release that would do nothing, and one of a caller who may not.
func (a *approval) validateRelease(ctx workflow.Context, raw json.RawMessage) error {
	in, err := readRelease(raw)
	if err != nil {
		return refuseUpdate(contract.KindInvalid, err.Error())
	}
	if in.Identity.Authenticated() {
		if err := mayRelease(in, a.proofs.Holds(review.UpdateRelease, raw, in.Proof)); err != nil {
			return err
		}
	}
	return a.checkRelease(ctx, in)
}

func mayRelease(in review.Release, proven bool) error {
	switch {
	case !proven:
		return refuseUpdate(contract.KindForbidden, wording.TextUnproven)
	case !in.Identity.Has(contract.ScopeOperate):
		return refuseUpdate(contract.KindForbidden, wording.TextNotOperator)
	}
	return nil
}

func (a *approval) checkRelease(ctx workflow.Context, in review.Release) error {
	last := a.view.Judgements.Last()
	switch {
	case a.view.Result != nil || len(a.updates) > 0 || a.isOver(ctx):
		return refuseUpdate(contract.KindDecided, wording.TextDecided)
	case last.Would == nil:
		return refuseUpdate(contract.KindInvalid, wording.TextNoRelease)
	case in.Policy != "" && in.Policy != last.Policy:
		return refuseUpdate(contract.KindInvalid, wording.OtherPolicy(last.Policy, in.Policy))
	}
	return nil
}

// release has the call judged once more by the rules that are to release it.
func (a *approval) release(ctx workflow.Context, raw json.RawMessage) error {
	in, err := readRelease(raw)
	if err != nil { // never: the validator has read it
		return refuseUpdate(contract.KindInvalid, err.Error())
	}
	j := a.addRelease(in)
	return a.awaitJudging(ctx, j)
}

func (a *approval) addRelease(in review.Release) *judging {
	if in.Policy == "" {
		in.Policy = a.view.Judgements.Last().Policy
	}
	j := &judging{policy: in.Policy, release: &in}
	a.judgings = append(a.judgings, j)
	return j
}

// handleRelease takes a release that somebody has typed. One that is refused is shown, and leaves the
// approval waiting.
func (a *approval) handleRelease(ctx workflow.Context) {
	raw, ok := signal.Receive(workflow.GetSignalChannel(ctx, review.SignalRelease))
	if !ok {
		return
	}
	in, err := readRelease(raw)
	if err == nil && in.Identity.Authenticated() {
		err = mayRelease(in, a.proofs.Check(ctx, review.SignalRelease, raw, in.Proof))
	}
	if err == nil {
		err = a.checkRelease(ctx, in)
	}
	if err != nil {
		a.ignore(ctx, err)
		return
	}
	a.addRelease(in)
}

func (a *approval) refuseRelease(ctx workflow.Context, j *judging, err error) {
	j.err = err
	a.view.Problem = problemText(err)
	a.show(ctx)
}

// releaseBy ends the approval, because the rules of now need less than it: the call runs, or whoever asks
// asks those whom they name. It counts as nobody's yes.
func (a *approval) releaseBy(ctx workflow.Context, j *judging) {
	now, by := j.out.Loosened, *j.release
	switch {
	case ctx.Err() != nil || a.isOver(ctx): // withdrawn or expired meanwhile
		j.err = refuseUpdate(contract.KindDecided, wording.TextDecided)
		return
	case a.view.Judgements.Last().Policy != j.policy: // the call was judged by others meanwhile
		a.refuseRelease(ctx, j, refuseUpdate(contract.KindInvalid, wording.OtherPolicy(a.view.Judgements.Last().Policy, j.policy)))
		return
	case now == nil:
		a.refuseRelease(ctx, j, refuseUpdate(contract.KindInvalid, wording.TextNoRelease))
		return
	}
	decision := contract.Cancelled
	if now.Allowing() {
		decision = contract.Approved
	}
	a.held = true
	if !by.Identity.Authenticated() {
		by.Identity = proof.Typist(a.in.Owner)
	}
	a.conclude(ctx, decision, contract.DecideSignal{By: by.By, Identity: by.Identity, Via: verdict.Via, Reason: wording.Released(j.policy, by.Reason)})
	a.view.Result.Policy = j.policy
	a.view.Result.Revision = &contract.Revision{
		Call: a.in.Call, Arguments: a.in.Arguments, SHA256: a.in.ArgumentsSHA256, Changes: []edit.Change{}, Verdict: now, Policy: j.policy, Released: true,
	}
}

// ignore shows why a signal has done nothing.
func (a *approval) ignore(ctx workflow.Context, err error) {
	a.ignored++
	a.view.Ignored++
	a.view.Problem = problemText(err)
	a.show(ctx)
}
