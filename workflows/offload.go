package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/run"
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
	maxPasses     = 8        // of offloading what grows meanwhile
)

// offloadAll moves values that are too large for a history to the blob store. The context is
// never cancelled.
func (c *composite) offloadAll(ctx workflow.Context) {
	_ = c.offloadLock.Lock(ctx) // the reporter and the end of the node may both offload
	defer c.offloadLock.Unlock()
	c.offloadOnce(ctx)
	for pass := 1; pass < maxPasses && c.hasGrown() && workflow.GetVersion(ctx, changeGrown, workflow.DefaultVersion, 1) == 1; pass++ {
		c.offloadOnce(ctx)
	}
}

// changeGrown marks histories in which values that grew while others were offloaded are kept,
// and offloaded, too.
const changeGrown = "offload-what-grew"

// hasGrown reports whether branches have written much while values were offloaded.
func (c *composite) hasGrown() bool {
	longest, total := c.longestSegment()
	return total > maxSegments && transcript.TailSize(longest.transcript) > minOffload || run.Size(c.state.Nodes) > maxStates
}

func (c *composite) offloadOnce(ctx workflow.Context) {
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
		p, total := c.longestSegment()
		if total <= maxSegments || transcript.TailSize(p.transcript) <= minOffload {
			return
		}
		before := transcript.Clone(p.transcript)
		out, ok := offload(ctx, contract.OffloadInput{Transcript: before, Whole: true})
		if !ok {
			return
		}
		transcript.ReplaceOffloaded(&p.transcript, before, out.Offloaded)
	}
}

// longestSegment returns the longest segment, or nil if there is none, and the size of all.
func (c *composite) longestSegment() (longest *segment, total int) {
	most := -1
	for _, p := range c.segments {
		n := transcript.TailSize(p.transcript)
		if total += n; n > most {
			longest, most = p, n
		}
	}
	return longest, total
}

// offloadDelta stores the values of the session state one by one, unless it changes meanwhile.
func (c *composite) offloadDelta(ctx workflow.Context) {
	before := c.sum.Delta
	if run.Size(before) <= maxTexts {
		return
	}
	texts, delta := []*contract.Text{}, slices.Clone(before)
	for i := range delta {
		texts = append(texts, &delta[i].Text)
	}
	if c.offloadTexts(ctx, texts) && (slices.Equal(before, c.sum.Delta) || workflow.GetVersion(ctx, changeGrown, workflow.DefaultVersion, 1) != 1) {
		c.sum.Delta = delta
	}
}

// offloadStates stores long outputs of ended nodes, and then the states of the first nodes
// together.
func (c *composite) offloadStates(ctx workflow.Context) {
	if run.Size(c.state.Nodes) <= maxStates {
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
	o := activity.LocalOptions(composeTimeout, wording.SummaryOffload)
	o.ScheduleToCloseTimeout = 2 * composeTimeout
	out, err := activity.RunLocal(ctx, contract.ActivityOffload, o, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("fold", "error", err)
	}
	return out, err == nil
}
