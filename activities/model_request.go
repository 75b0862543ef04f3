package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agent-stop-and-go/activities/attachment"
	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/form"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/shorten"
	"agent-stop-and-go/activities/window"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/transcript"
)

// modelRequest is a request to a model, with what its reply is checked against.
type modelRequest struct {
	request llm.Request
	offer   []offeredTool
	output  form.Output
	// recorded are the messages of the request that are part of the conversation, and room is
	// how many tokens they may have.
	recorded []contract.Message
	// earlier are the calls that have a result, for the rules.
	earlier []verdict.Earlier
	room    int
	before  int // messages that the summary so far replaces
}

// judge judges the calls of a reply.
func (m *Models) judge(in contract.GenerateInput, q modelRequest) *rules.Judge {
	at := time.Now()
	if m.Now != nil {
		at = m.Now()
	}
	return &rules.Judge{Policy: m.Policy, Servers: m.Servers, Grants: m.Grants, Conversation: in.ConversationID, Draft: in.DraftID, About: verdict.Call{Node: in.Node, Facts: in.Facts, Time: at, Before: q.earlier}}
}

func (m *Models) modelRequest(ctx context.Context, in contract.GenerateInput) (modelRequest, error) {
	clients, err := m.clientTools(ctx, in)
	if err != nil {
		return modelRequest{}, fmt.Errorf("read the client's tools: %w", err)
	}
	q := modelRequest{request: llm.Request{Model: in.Model}, offer: offeredTools(m.describePeers(in), m.Offer.Tools(ctx), clients)}
	if tool, ok := m.Bearers.LoginTool(bearer.FromContext(ctx), in.Tools); ok {
		q.offer = append(q.offer, offeredTool{Tool: tool, login: true})
	}
	for _, o := range q.offer {
		q.request.Tools = append(q.request.Tools, o.Tool)
	}
	if q.request.System, err = fillTemplate(ctx, m.Blobs, in.Prompt, in.Values); err != nil {
		return q, fmt.Errorf("read the prompt: %w", err)
	}
	if q.output.Schema, err = transcript.ReadJSON(ctx, m.Blobs, in.Schema); err != nil {
		return q, fmt.Errorf("read the schema of the output: %w", err)
	}
	q.output.Ask(&q.request)
	form.Demand(&q.request, in.ToolChoice, func(name string) bool { o, _ := findTool(q.offer, name); return o.client })
	if err := m.fill(ctx, in, &q); err != nil {
		return q, err
	}
	return q, attachment.Add(ctx, m.Blobs, m.facts(in.Model).Takes, &q.request)
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
	err = json.Unmarshal(raw, &tools)
	return form.Demanded(tools, in.ToolChoice), err
}

// fill adds the messages, after the summary of those that it replaces.
func (m *Models) fill(ctx context.Context, in contract.GenerateInput, q *modelRequest) error {
	facts := m.facts(in.Model)
	messages, err := m.recorded(ctx, in.Before, in.Transcript, shorten.Limit(facts.Window))
	if err != nil {
		return err
	}
	summary, err := m.summaryText(ctx, in.Summary)
	if err != nil {
		return err
	}
	q.request.Messages = window.Replace(messages, in.Summary, summary)
	q.recorded = messages
	if m.Policy != nil {
		q.earlier = rules.Earlier(messages)
	}
	if in.Summary != nil {
		at := indexOf(messages, in.Summary.Through) + 1
		q.recorded, q.before = messages[at:], in.Summary.Messages
	}
	if in.Repair != nil {
		text, err := transcript.ReadText(ctx, m.Blobs, in.Repair.Text)
		if err != nil {
			return fmt.Errorf("read the reply to mend: %w", err)
		}
		q.request.Messages = append(q.request.Messages, form.RepairMessages(text, *in.Repair)...)
	}
	if q.room = window.Room(facts, q.request); q.room > 0 {
		extra := window.Tokens(q.request.Messages) - window.Tokens(q.recorded)
		q.room = max(q.room-extra, window.MinRoom)
	}
	return nil
}

// neededSummary says which messages need a summary before the model can be called, or nil.
func (q modelRequest) neededSummary(force bool) *contract.Summary {
	d := window.Needed(q.recorded, q.room, force)
	if d != nil {
		d.Messages += q.before
	}
	return d
}

// recorded are the messages of a conversation as a model gets them, oldest first, with results
// of at most limit bytes.
func (m *Models) recorded(ctx context.Context, before *contract.Transcript, t contract.Transcript, limit int) ([]contract.Message, error) {
	transcripts := []contract.Transcript{t}
	if before != nil {
		transcripts = []contract.Transcript{*before, t}
	}
	var parts [][]contract.Message
	for _, t := range transcripts {
		of, err := resolved(ctx, m.Blobs, limit).Values(ctx, m.Blobs, t)
		if err != nil {
			return nil, fmt.Errorf("load a transcript of %d messages: %w", t.Len(), err)
		}
		parts = append(parts, of...)
	}
	return slices.Concat(parts...), nil
}

// resolved are the messages of a transcript's parts with their values in place and results of at
// most limit bytes.
func resolved(ctx context.Context, store transcript.Store, limit int) transcript.Projection[[]contract.Message] {
	of := func(stored []contract.Message) (out []contract.Message, size int, err error) {
		for _, s := range stored {
			m, err := transcript.Resolve(ctx, store, s)
			if err != nil {
				return nil, 0, err
			}
			out = append(out, shorten.Message(m, s, limit))
			size += messageSize(out[len(out)-1])
		}
		return out, size, nil
	}
	return transcript.Projection[[]contract.Message]{Kind: fmt.Sprint("resolved ", limit), Of: of}
}

// messageSize is about how many bytes of memory a message takes.
func messageSize(m contract.Message) int {
	const fields = 512
	size := fields + len(m.Content.Inline)
	if c := m.ToolCall; c != nil {
		size += fields + len(c.Arguments.Raw) + len(c.Result.Inline)
	}
	if m.Native != nil {
		size += len(m.Native.Content.Raw)
	}
	return size
}
