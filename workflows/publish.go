package workflows

import (
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/console"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/reset"
	"agent-stop-and-go/workflows/wording"
)

// append adds a message of the conversation itself and returns its ID.
func (c *conversation) append(ctx workflow.Context, m contract.Message) string {
	return c.journal().append(ctx, m)
}

// journal writes to the conversation's own transcript.
func (c *conversation) journal() *journal {
	return &journal{
		transcript: &c.state.Transcript, node: c.in.Agent.Node, seq: &c.state.Seq,
		id:       func(seq int) string { return contract.MessageID(c.in.ID, seq) },
		onAppend: func(at time.Time) { c.state.UpdatedAt = at },
		summary:  c.state.Summary,
	}
}

func (c *conversation) view() contract.ConversationView {
	v := contract.ConversationView{
		ID: c.in.ID, SessionID: c.in.SessionID, ContextID: c.in.ContextID, AgentName: c.in.Agent.Name, Owner: c.in.Owner,
		Status: c.status, Transcript: c.transcript(), Pending: c.pendingApprovals(),
		Running: c.running() && len(c.pending) == 0, Queued: len(c.queue), Usage: c.usage(),
		CreatedAt: c.state.CreatedAt, UpdatedAt: c.state.UpdatedAt, Version: c.state.Version,
		Task: c.in.Task, Chain: c.in.Chain, Last: c.state.Last, Refused: c.state.Refused, Title: c.state.Title, Model: c.state.Model, Prompts: c.state.Prompts,
	}
	if len(c.pending) > 0 {
		v.Pipeline = c.pending[0].pipeline
	}
	return v
}

// usage returns the usage of all model calls. It includes the running turn of a single node;
// the usage of a tree is known when it has ended.
func (c *conversation) usage() contract.Usage {
	if c.turn != nil && c.turn.leaf != nil && !c.turn.accounted {
		return c.state.Usage.Add(c.turn.leaf.state.Usage)
	}
	return c.state.Usage
}

// pendingApprovals lists the open approvals, oldest first.
func (c *conversation) pendingApprovals() []contract.PendingApproval {
	list := []contract.PendingApproval{}
	for _, p := range c.pending {
		list = append(list, p.PendingApproval)
	}
	return list
}

// waitingFor returns the result of a request while approval number i waits.
func (c *conversation) waitingFor(i int, text contract.Text) contract.Result {
	approval := c.pending[i].PendingApproval
	return contract.Result{Response: text, WaitingApproval: true, Approval: &approval, AuthRequired: approval.NeedsLogin()}
}

// openQuestion returns the first waiting question that a message may answer.
func (c *conversation) openQuestion() (contract.PendingApproval, bool) {
	for _, p := range c.pending {
		if p.Question() {
			return p.PendingApproval, true
		}
	}
	return contract.PendingApproval{}, false
}

// running reports whether a turn is running that can still be stopped.
func (c *conversation) running() bool { return c.turn != nil && !c.turn.replied }

// transcript returns a copy that later messages do not change, with the reports of a running
// tree.
func (c *conversation) transcript() contract.Transcript {
	t := transcript.Clone(c.state.Transcript)
	if c.turn != nil && c.turn.pipeline != nil && c.turn.pipeline.reports != nil {
		p := c.turn.pipeline
		transcript.Merge(&t, p.run, p.transcript(p.run))
	}
	return t
}

// publish writes the conversation to its file and to the details that operators see. A file
// that cannot be written never delays an answer for long: the loop retries. It may do so while
// a turn publishes: the latest version counts.
func (c *conversation) publish(ctx workflow.Context) {
	c.state.Version = reset.NextVersion(ctx, c.state.Version)
	version := c.state.Version
	c.updateListing(ctx)
	tree := c.tree()
	_, err := activity.RunLocal(ctx, contract.ActivityExport, exportOptions(), contract.ExportInput{Conversation: c.view(), Tree: &tree})
	if version != c.state.Version {
		return
	}
	c.state.ExportOwing = err != nil
	if err != nil {
		c.exportProblem = wording.ExportFailure(activity.Failure(err))
		c.wake = true // so that the loop sets its timer
		workflow.GetLogger(ctx).Error("export conversation", "error", err)
	} else {
		c.exportProblem = ""
		c.retry = exportRetryFirst
	}
	c.show(ctx)
}

// settle publishes the conversation and then settles the requests.
func (c *conversation) settle(ctx workflow.Context, requests []string, result contract.Result) {
	c.publish(ctx)
	c.awaits = 0
	for _, id := range requests {
		c.ledger.Settle(id, result)
	}
}

// show updates the details that operators see, and the state that a Push receives.
func (c *conversation) show(ctx workflow.Context) {
	trouble := strings.TrimSpace(c.signalProblem + " " + c.exportProblem)
	v := c.view()
	workflow.SetCurrentDetails(ctx, wording.ConversationDetails(v, trouble, console.Of(ctx)))
	c.publishState(ctx, v)
}
