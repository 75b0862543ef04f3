package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/wording"
)

// Values of a composite node above these sizes, in bytes of JSON, are moved to the blob store,
// so that no report, result or input of a node grows with the number of nodes or the length of
// their messages.
const (
	maxStates     = 8 << 10  // states of nodes inside
	maxTexts      = 8 << 10  // outputs in those states, and the session state
	maxSegments   = 16 << 10 // messages of nodes that have ended beside others that run
	minOffload    = 512      // smaller segments are not offloaded
	maxInlineText = 128      // texts up to this size are no larger than their address
)

// offloadAll moves values that are too large for a history to the blob store. The context is
// never cancelled.
func (c *composite) offloadAll(ctx workflow.Context) {
	_ = c.offloadLock.Lock(ctx) // the reporter and the end of the node may both offload
	defer c.offloadLock.Unlock()
	c.offloadSegments(ctx)
	if transcript.IsLong(c.endedTranscript) {
		before := transcript.Clone(c.endedTranscript)
		if out, ok := offload(ctx, contract.OffloadInput{Transcript: before}); ok {
			transcript.ReplaceOffloaded(&c.endedTranscript, before, out.Offloaded)
		}
	}
	c.offloadDelta(ctx)
	c.offloadStates(ctx)
}

// offloadSegments offloads the messages of branches so far, each in its position, the longest
// first. Branches may write meanwhile.
func (c *composite) offloadSegments(ctx workflow.Context) {
	for {
		total, longest := 0, 0
		for i, p := range c.segments {
			n := transcript.TailSize(p.transcript)
			total += n
			if n > transcript.TailSize(c.segments[longest].transcript) {
				longest = i
			}
		}
		if total <= maxSegments || transcript.TailSize(c.segments[longest].transcript) <= minOffload {
			return
		}
		p := c.segments[longest]
		before := transcript.Clone(p.transcript)
		out, ok := offload(ctx, contract.OffloadInput{Transcript: before, Whole: true})
		if !ok {
			return
		}
		transcript.ReplaceOffloaded(&p.transcript, before, out.Offloaded)
	}
}

// offloadDelta stores the values of the session state one by one.
func (c *composite) offloadDelta(ctx workflow.Context) {
	if size(c.sum.Delta) <= maxTexts {
		return
	}
	var texts []*contract.Text
	delta := append(contract.State{}, c.sum.Delta...)
	for i := range delta {
		texts = append(texts, &delta[i].Text)
	}
	if c.offloadTexts(ctx, texts) {
		c.sum.Delta = delta
	}
}

// offloadStates stores long outputs of ended nodes, and then the states of the first nodes
// together.
func (c *composite) offloadStates(ctx workflow.Context) {
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
	c.offloadTexts(ctx, outputs)
	if ended == 0 {
		return
	}
	out, ok := offload(ctx, contract.OffloadInput{Nodes: c.state.Nodes[:ended], NodesBefore: c.state.Offloaded})
	if ok && iteration == c.state.Iteration { // else a new iteration has replaced them
		c.state.Offloaded, c.state.Nodes, c.offloadedStates = out.Nodes, c.state.Nodes[ended:], c.offloadedStates+ended
	}
}

// offloadTexts replaces long texts by their addresses.
func (c *composite) offloadTexts(ctx workflow.Context, texts []*contract.Text) bool {
	var long []*contract.Text
	var in contract.OffloadInput
	for _, t := range texts {
		if t.Blob != nil && t.Blob.Preview != "" || len(t.Inline) > maxInlineText {
			long, in.Texts = append(long, t), append(in.Texts, *t)
		}
	}
	if len(long) == 0 {
		return false
	}
	out, ok := offload(ctx, in)
	if !ok || len(out.Texts) != len(long) {
		return false
	}
	for i, t := range long {
		*t = out.Texts[i]
	}
	return true
}

// offload runs the activity. If it fails, the values stay inline, and the next call tries
// again.
func offload(ctx workflow.Context, in contract.OffloadInput) (contract.OffloadResult, bool) {
	o := localOptions(composeTimeout, wording.SummaryOffload)
	o.ScheduleToCloseTimeout = 2 * composeTimeout
	out, err := runLocal(ctx, contract.ActivityOffload, o, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("fold", "error", err)
	}
	return out, err == nil
}
