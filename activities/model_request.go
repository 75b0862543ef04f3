package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// modelRequest is a request to a model, with what its reply is checked against.
type modelRequest struct {
	request llm.Request
	offer   []offeredTool
	output  output
	// recorded are the messages of the request that are part of the conversation, and room is
	// how many tokens they may have.
	recorded []contract.Message
	room     int
	before   int // messages that the summary so far replaces
}

func (m *Models) modelRequest(ctx context.Context, in contract.GenerateInput) (modelRequest, error) {
	clients, err := m.clientTools(ctx, in)
	if err != nil {
		return modelRequest{}, fmt.Errorf("read the client's tools: %w", err)
	}
	q := modelRequest{request: llm.Request{Model: in.Model}, offer: offeredTools(m.describePeers(in), m.Offer.Tools(ctx), clients)}
	for _, o := range q.offer {
		q.request.Tools = append(q.request.Tools, o.Tool)
	}
	if q.request.System, err = fillTemplate(ctx, m.Blobs, in.Prompt, in.Values); err != nil {
		return q, fmt.Errorf("read the prompt: %w", err)
	}
	if q.output, err = m.output(ctx, in); err != nil {
		return q, fmt.Errorf("read the schema of the output: %w", err)
	}
	q.output.ask(&q.request)
	if err := m.fill(ctx, in, &q); err != nil {
		return q, err
	}
	return q, m.addImages(ctx, &q.request)
}

// describePeers adds to the input what the peers' cards say about them.
func (m *Models) describePeers(in contract.GenerateInput) contract.GenerateInput {
	if m.Peers == nil || len(in.Peers) == 0 {
		return in
	}
	in.Peers = slices.Clone(in.Peers)
	for i, p := range in.Peers {
		in.Peers[i].Description = m.Peers.Describe(p)
	}
	return in
}

func (m *Models) clientTools(ctx context.Context, in contract.GenerateInput) (tools []contract.Tool, err error) {
	raw, err := transcript.ReadJSON(ctx, m.Blobs, in.ClientTools)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	return tools, json.Unmarshal(raw, &tools)
}

// fill adds the messages, after the summary of those that it replaces.
func (m *Models) fill(ctx context.Context, in contract.GenerateInput, q *modelRequest) error {
	facts := m.facts(in.Model)
	stored, err := m.recorded(ctx, in.Before, in.Transcript)
	if err != nil {
		return err
	}
	summary, err := m.summaryText(ctx, in.Summary)
	if err != nil {
		return err
	}
	messages := make([]contract.Message, len(stored))
	for i, s := range stored {
		if messages[i], err = transcript.Resolve(ctx, m.Blobs, s); err != nil {
			return err
		}
		messages[i] = shortenMessage(messages[i], s, resultLimit(facts.Window))
	}
	q.request.Messages = withSummary(messages, in.Summary, summary)
	q.recorded = messages
	if in.Summary != nil {
		at := indexOf(messages, in.Summary.Through) + 1
		q.recorded, q.before = messages[at:], in.Summary.Messages
	}
	if in.Repair != nil {
		text, err := transcript.ReadText(ctx, m.Blobs, in.Repair.Text)
		if err != nil {
			return fmt.Errorf("read the reply to mend: %w", err)
		}
		q.request.Messages = append(q.request.Messages, repairMessages(text, *in.Repair)...)
	}
	extra := messagesTokens(q.request.Messages) - messagesTokens(q.recorded)
	if q.room = room(facts, q.request); q.room > 0 {
		q.room = max(q.room-extra, minRoom)
	}
	return nil
}

// neededSummary says which messages need a summary before the model can be called, or nil.
func (q modelRequest) neededSummary(force bool) *contract.Summary {
	d := neededSummary(q.recorded, q.room, force)
	if d != nil {
		d.Messages += q.before
	}
	return d
}

// recorded are the stored messages of a conversation, oldest first.
func (m *Models) recorded(ctx context.Context, before *contract.Transcript, t contract.Transcript) ([]contract.Message, error) {
	var out []contract.Message
	if before != nil {
		messages, err := transcript.Load(ctx, m.Blobs, *before)
		if err != nil {
			return nil, err
		}
		out = messages
	}
	messages, err := transcript.Load(ctx, m.Blobs, t)
	return append(out, messages...), err
}
