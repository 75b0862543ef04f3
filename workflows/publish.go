package workflows

import (
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// append adds a message to the transcript and returns its ID.
func (c *conversation) append(ctx workflow.Context, m contract.Message) string {
	m.ID = contract.MessageID(c.in.ID, c.nextSeq())
	m.CreatedAt = now(ctx)
	if m.Node == "" && m.Role != contract.RoleSystem && m.Role != contract.RoleUser {
		m.Node = c.in.Agent.Node
	}
	c.state.Transcript.Tail = append(c.state.Transcript.Tail, m)
	c.state.UpdatedAt = m.CreatedAt
	return m.ID
}

func (c *conversation) nextSeq() int {
	c.state.Seq++
	return c.state.Seq
}

// fold drops the messages from the tail that an activity has moved to the blob
// store. Messages that came later stay.
func (c *conversation) fold(f *contract.Folded) {
	if f == nil {
		return
	}
	c.state.Transcript.Head = &f.Head
	c.state.Transcript.Tail = slices.Clone(c.state.Transcript.Tail[f.Count:])
}

func (c *conversation) view() contract.ConversationView {
	return contract.ConversationView{
		ID: c.in.ID, SessionID: c.in.SessionID, AgentName: c.in.Agent.Name,
		Status: c.status, Transcript: c.transcript(), Pending: slices.Clone(c.pending),
		Running: c.running() && len(c.pending) == 0, Queued: len(c.queue), Usage: c.state.Usage,
		CreatedAt: c.state.CreatedAt, UpdatedAt: c.state.UpdatedAt, Version: c.state.Version,
	}
}

// running tells whether there is a turn that can still be stopped.
func (c *conversation) running() bool { return c.turn != nil && !c.turn.over }

// transcript is a copy that later messages do not change.
func (c *conversation) transcript() contract.Transcript {
	return contract.Transcript{
		Head: c.state.Transcript.Head,
		Tail: append([]contract.Message{}, c.state.Transcript.Tail...),
	}
}

// publish writes the conversation to its file and shows it to operators. A file
// that cannot be written never holds an answer back for long: it is owed, and
// the loop tries again. It may do so while a turn publishes: the latest version
// counts.
func (c *conversation) publish(ctx workflow.Context) {
	c.state.Version++
	version := c.state.Version
	_, err := runLocal(ctx, contract.ActivityExport, export(), contract.ExportInput{Conversation: c.view()})
	if version != c.state.Version {
		return
	}
	c.state.ExportOwing = err != nil
	if err != nil {
		c.unwritten = "The conversation file could not be written: " + failure(err).Message
		c.wake = true // for the loop to set its timer
		workflow.GetLogger(ctx).Error("export conversation", "error", err)
	} else {
		c.unwritten = ""
		c.retry = exportRetryFirst
	}
	c.show(ctx)
}

// settle publishes the conversation and then gives the requests their answer.
func (c *conversation) settle(ctx workflow.Context, requests []string, result contract.Result) {
	c.publish(ctx)
	for _, id := range requests {
		c.ledger.Settle(id, result)
	}
}

func (c *conversation) setStatus(ctx workflow.Context, s contract.Status) {
	if c.status == s {
		return
	}
	c.status = s
	if err := workflow.UpsertTypedSearchAttributes(ctx, attrStatus.ValueSet(string(s))); err != nil {
		workflow.GetLogger(ctx).Error("upsert search attributes", "error", err)
	}
}

func (c *conversation) show(ctx workflow.Context) {
	trouble := strings.TrimSpace(c.problem + " " + c.unwritten)
	workflow.SetCurrentDetails(ctx, decide.ConversationDetails(c.view(), trouble))
}
