package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// What a composite node holds above these sizes, in bytes of JSON, goes to the
// blob store, so that no report, result or input of a node grows with the number
// of nodes and the length of what they say.
const (
	maxStates = 8 << 10  // states of nodes inside
	maxTexts  = 8 << 10  // outputs in those states, and the session state
	maxParts  = 16 << 10 // messages of nodes that have ended beside others that run
	worthIt   = 512      // a part is not worth folding up to here
	addressed = 128      // a text up to here is not larger than its address
)

// foldAll moves to the blob store what has grown too large for a history. The
// context is never cancelled.
func (c *composite) foldAll(ctx workflow.Context) {
	_ = c.folding.Lock(ctx) // the reporter and the end of the node may both fold
	defer c.folding.Unlock()
	c.foldParts(ctx)
	if long(c.past) {
		before := copyOf(c.past)
		if out, ok := foldAway(ctx, contract.FoldInput{Transcript: before}); ok {
			fold(&c.past, before, out.Folded)
		}
	}
	c.foldDelta(ctx)
	c.foldStates(ctx)
}

// foldParts folds what branches have written so far, each in its place, the
// longest first. Others may write meanwhile.
func (c *composite) foldParts(ctx workflow.Context) {
	for {
		total, longest := 0, 0
		for i, p := range c.parts {
			n := tailSize(p.transcript)
			total += n
			if n > tailSize(c.parts[longest].transcript) {
				longest = i
			}
		}
		if total <= maxParts || tailSize(c.parts[longest].transcript) <= worthIt {
			return
		}
		p := c.parts[longest]
		before := copyOf(p.transcript)
		out, ok := foldAway(ctx, contract.FoldInput{Transcript: before, Whole: true})
		if !ok {
			return
		}
		fold(&p.transcript, before, out.Folded)
	}
}

// foldDelta stores the values of the session state one by one.
func (c *composite) foldDelta(ctx workflow.Context) {
	if size(c.sum.Delta) <= maxTexts {
		return
	}
	var texts []*contract.Text
	delta := append(contract.State{}, c.sum.Delta...)
	for i := range delta {
		texts = append(texts, &delta[i].Text)
	}
	if c.foldTexts(ctx, texts) {
		c.sum.Delta = delta
	}
}

// foldStates stores long outputs of nodes that have ended, and then the states
// of the first nodes together.
func (c *composite) foldStates(ctx workflow.Context) {
	if size(c.state.Nodes) <= maxStates {
		return
	}
	var outputs []*contract.Text
	ended, iteration := 0, c.state.Iteration
	for i := range c.state.Nodes {
		s := &c.state.Nodes[i]
		if s.Status.Over() {
			outputs = append(outputs, &s.Output)
		}
		if ended == i && (s.Status.Over() || c.ended) {
			ended++
		}
	}
	c.foldTexts(ctx, outputs)
	if ended == 0 {
		return
	}
	out, ok := foldAway(ctx, contract.FoldInput{Nodes: c.state.Nodes[:ended], NodesBefore: c.state.Folded})
	if ok && iteration == c.state.Iteration { // a loop has begun with new ones otherwise
		c.state.Folded, c.state.Nodes, c.base = out.Nodes, c.state.Nodes[ended:], c.base+ended
	}
}

// foldTexts replaces long texts by their addresses.
func (c *composite) foldTexts(ctx workflow.Context, texts []*contract.Text) bool {
	var long []*contract.Text
	var in contract.FoldInput
	for _, t := range texts {
		if t.Blob != nil && t.Blob.Preview != "" || len(t.Inline) > addressed {
			long, in.Texts = append(long, t), append(in.Texts, *t)
		}
	}
	if len(long) == 0 {
		return false
	}
	out, ok := foldAway(ctx, in)
	if !ok || len(out.Texts) != len(long) {
		return false
	}
	for i, t := range long {
		*t = out.Texts[i]
	}
	return true
}

// foldAway is best effort: what cannot be folded now stays and is tried again.
func foldAway(ctx workflow.Context, in contract.FoldInput) (contract.FoldResult, bool) {
	o := lean(composeTimeout, wording.SummaryFold)
	o.ScheduleToCloseTimeout = 2 * composeTimeout
	out, err := runLocal(ctx, contract.ActivityFold, o, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("fold", "error", err)
	}
	return out, err == nil
}
