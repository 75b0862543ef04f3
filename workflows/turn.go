package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// turn answers one message: it asks the model, runs or asks for what the model
// wants, and asks the model again, until there is a text. Cancelling its context
// stops it at the next step; a destructive call that is under way is seen
// through first.
type turn struct {
	*conversation
	cancel     workflow.CancelFunc
	requests   []string // that get the answer when the turn next pauses or ends
	credential string   // the sealed token of who asked, or of who approved
	rounds     int
	over       bool // the reply is there; it only has to be published
	stopped    bool
	why        string
}

func (t *turn) run(ctx workflow.Context, m contract.MessageSignal) {
	t.append(ctx, contract.Message{Role: contract.RoleUser, Content: m.Text})
	t.show(ctx)
	result := t.answer(ctx)
	t.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: result.Response})
	t.over = true
	done, _ := workflow.NewDisconnectedContext(ctx)
	t.settle(done, t.requests, result)
}

// stop ends the turn early.
func (t *turn) stop(reason string) {
	t.stopped, t.why = true, reason
	t.cancel()
}

// answer is the model–tool loop. Its result is the turn's reply.
func (t *turn) answer(ctx workflow.Context) contract.Result {
	for t.rounds < t.in.Agent.Root().Rounds() {
		reply, err := t.generate(withCredential(ctx, t.credential))
		switch {
		case t.stopped:
			return t.cancelled()
		case err != nil:
			return say(decide.ModelFailure(failure(err)))
		case len(reply.Calls) == 0:
			return contract.Result{Response: reply.Text}
		}
		if result, over := t.carryOut(ctx, reply); over {
			return result
		}
		t.rounds++
	}
	return say(decide.TextRoundLimit)
}

// carryOut does what one reply asks for. over means that the turn ends with the
// result; else the model is asked again.
func (t *turn) carryOut(ctx workflow.Context, reply contract.GenerateResult) (result contract.Result, over bool) {
	calls := t.record(ctx, reply)
	plan := decide.Next(reply.Calls)
	for _, i := range plan.Ask {
		c := calls[i]
		r := t.ask(ctx, c, decide.Describe(c.Call), contract.ReasonDestructive)
		if t.stopped {
			return t.cancelled(), true
		}
		if r.Decision != contract.Approved {
			return say(decide.AfterRefusal(r.Decision)), true
		}
		t.rounds = -1 // a decision opens a fresh budget, this round included
	}
	server := t.runAll(ctx, calls, plan)
	switch {
	case t.stopped:
		return t.cancelled(), true
	case server != "":
		return contract.Result{Response: contract.Inline(decide.AuthRequired(server)), AuthRequired: true}, true
	}
	return contract.Result{}, false
}

func (t *turn) generate(ctx workflow.Context) (contract.GenerateResult, error) {
	in := contract.GenerateInput{
		ConversationID: t.in.ID, Model: t.in.Agent.Model, Prompt: t.in.Agent.Prompt, Transcript: t.transcript(),
	}
	summary := decide.GenerateSummary(in)
	var out contract.GenerateResult
	var err error
	if t.in.Agent.Execution == contract.ExecutionLean {
		out, err = runLocal(ctx, contract.ActivityGenerate, lean(generateTimeout, summary), in)
	} else {
		out, err = run(ctx, contract.ActivityGenerate, regular(generateTimeout, attempts, summary), in)
	}
	if err == nil {
		t.fold(out.Folded)
		t.state.Usage = t.state.Usage.Add(out.Usage)
	}
	return out, err
}

func (t *turn) cancelled() contract.Result {
	text := decide.TextTurnCancelled
	if t.why != "" {
		text += " " + t.why
	}
	return say(text)
}

func say(text string) contract.Result { return contract.Result{Response: contract.Inline(text)} }
