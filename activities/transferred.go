package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transfer"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/transcript"
)

// transferred returns a reply with the calls that a conversation has brought along. Nobody here
// has seen what led to them, so all wait for an approval, except those that have been sent: the
// agent that has them asks by itself.
func (m *Models) transferred(ctx context.Context, in contract.GenerateInput, q modelRequest) (out contract.GenerateResult, err error) {
	raw, err := transcript.ReadJSON(ctx, m.Blobs, in.Transferred)
	if err != nil {
		return out, fmt.Errorf("read the transferred calls: %w", err)
	}
	var reply transfer.Reply
	if err := json.Unmarshal(raw, &reply); err != nil {
		return out, fmt.Errorf("decode the transferred calls: %w", err)
	}
	if out.Text, err = transcript.Text(ctx, m.Blobs, reply.Text); err != nil {
		return out, err
	}
	out.DraftID = in.DraftID
	offer, judge := slices.Clone(q.offer), m.judge(in, q)
	for i := range offer {
		offer[i].DestructiveHint = true
	}
	for _, c := range reply.Calls {
		call, err := m.call(ctx, llm.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}, offer, judge)
		if err != nil {
			return out, err
		}
		call.Approval = c.Approval
		if call.Verdict != nil && call.Verdict.Outcome == verdict.Allow {
			call.Verdict = nil
		}
		if call.Peer != nil && c.Task != "" {
			call.Task, call.Destructive, call.Verdict = c.Task, false, nil
		}
		out.Calls = append(out.Calls, call)
		judge.Next(c.Name)
	}
	out.Offloaded, err = transcript.Offload(ctx, m.Blobs, in.Transcript)
	return out, err
}
