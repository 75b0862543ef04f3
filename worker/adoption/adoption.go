package adoption

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/adoption"
)

// Server is the part of a client.Client that is used.
type Server interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	QueryWorkflow(ctx context.Context, id, run, query string, args ...any) (converter.EncodedValue, error)
	SignalWorkflow(ctx context.Context, id, run, signal string, arg any) error
}

// State says what becomes of a conversation.
type State string

// The states.
const (
	// Same has the configuration already.
	Same State = "same"
	// Now takes it over at once: the next call of the model is made with it.
	Now State = "now"
	// Next takes it over when the turn that runs has ended.
	Next State = "next_turn"
	// Kept cannot take it over, or is not known.
	Kept State = "kept"
)

// Outcome is what becomes of a conversation, or would.
type Outcome struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	From  string `json:"from,omitempty"` // hashes of configurations
	To    string `json:"to"`
	// Changes are the settings that change.
	Changes []string `json:"changes,omitempty"`
	// Reasons say why it is kept.
	Reasons []string `json:"reasons,omitempty"`
	// Approvals wait; their grants hold unless a reason names them.
	Approvals []string `json:"approvals,omitempty"`
	// Stored is the hash of the configuration that it takes over when its turn has ended, if that is
	// another one.
	Stored string `json:"stored,omitempty"`
}

// Adoption takes a configuration over in conversations.
type Adoption struct {
	Server    Server
	Namespace string
	TaskQueue string
	Agent     contract.Agent // the new one
	// Tools returns the tools of the new configuration. It is called if an approval for a call of a
	// tool waits.
	Tools func(context.Context) (Tools, error)
	By    string
	// DryRun sends nothing.
	DryRun bool
	// Only, if not empty, are the IDs of the conversations.
	Only []string
	// Told is called for each conversation.
	Told func(Outcome)
}

const pageSize = 200

// Run looks at all running conversations of the agent, or those of Only.
func (a Adoption) Run(ctx context.Context) error {
	checker := checker{agent: a.Agent, tools: a.Tools}
	if len(a.Only) > 0 {
		for _, id := range a.Only {
			if err := a.one(ctx, &checker, contract.ConversationWorkflowID(id)); err != nil {
				return err
			}
		}
		return nil
	}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: a.Namespace, PageSize: pageSize,
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'", contract.WorkflowConversation, strings.ReplaceAll(a.TaskQueue, "'", `\'`)),
	}
	for {
		page, err := a.Server.ListWorkflow(ctx, request)
		if err != nil {
			return fmt.Errorf("list conversations: %w", err)
		}
		for _, info := range page.GetExecutions() {
			if err := a.one(ctx, &checker, info.GetExecution().GetWorkflowId()); err != nil {
				return err
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// one decides about a conversation. An error means that Temporal cannot be reached.
func (a Adoption) one(ctx context.Context, c *checker, workflowID string) error {
	id, known := contract.ConversationIDOf(workflowID)
	o := Outcome{ID: id, To: a.Agent.Hash(), State: Same}
	switch {
	case !known && len(a.Only) > 0:
		o.ID = strings.TrimPrefix(workflowID, contract.ConversationWorkflowID(""))
		a.keep(o, "it is no ID of a conversation")
		return nil
	case !known:
		return nil
	}
	found, err := a.look(ctx, workflowID)
	switch {
	case isGone(err):
		if len(a.Only) > 0 {
			a.keep(o, "there is no such conversation that runs")
		}
		return nil // it has ended meanwhile
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		a.keep(o, unread(err))
		return nil
	}
	if err := c.decide(ctx, &o, found); err != nil {
		return err
	}
	return a.carryOut(ctx, workflowID, o, found)
}

func (a Adoption) keep(o Outcome, reason string) {
	o.State, o.Reasons = Kept, []string{reason}
	a.Told(o)
}

// carryOut tells a conversation what has been decided, and says what it then knows.
func (a Adoption) carryOut(ctx context.Context, workflowID string, o Outcome, f found) error {
	if o.State == Same || o.State == Kept || a.DryRun {
		a.Told(o)
		return nil
	}
	if o.State == Now || !f.follows(o.To) {
		err := a.Server.SignalWorkflow(ctx, workflowID, "", adoption.SignalAdopt, adoption.Adopt{Agent: a.Agent, By: a.By, Approvals: f.approvals()})
		if isGone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("signal conversation %s: %w", o.ID, err)
		}
	}
	now, err := a.look(ctx, workflowID) // after the signal, which is before it in the history
	switch {
	case isGone(err):
		return nil
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		a.keep(o, "it was told, and whether it takes the file over is not known: "+unread(err))
	case now.follows(o.To):
		o.State, o.Stored = Next, ""
		a.Told(o)
	case now.next == nil && now.agent.Hash() == o.To:
		o.State, o.Stored = Now, ""
		a.Told(o)
	default:
		a.keep(o, "it was told, and has not noted it: a worker of a version that knows no adoption may have run it. Upgrade all workers and repeat the command")
	}
	return nil
}

// found is what a conversation says of itself.
type found struct {
	agent contract.Agent
	next  *contract.Agent // taken over when the turn has ended
	view  contract.ConversationView
}

// follows reports whether the configuration with a hash is taken over when the turn has ended.
func (f found) follows(hash string) bool { return f.next != nil && f.next.Hash() == hash }

func (f found) approvals() (uuids []string) {
	for _, p := range f.view.Pending {
		uuids = append(uuids, p.UUID)
	}
	return uuids
}

func (a Adoption) look(ctx context.Context, workflowID string) (f found, err error) {
	if err := a.query(ctx, workflowID, &f.agent, adoption.QueryAgent); err != nil {
		return f, err
	}
	if err := a.query(ctx, workflowID, &f.next, adoption.QueryNext); err != nil {
		return f, err
	}
	return f, a.query(ctx, workflowID, &f.view, contract.QueryConversation, contract.ConversationQuery{})
}

func (a Adoption) query(ctx context.Context, workflowID string, into any, name string, args ...any) error {
	v, err := a.Server.QueryWorkflow(ctx, workflowID, "", name, args...)
	if err != nil {
		return err
	}
	return v.Get(into)
}

func isGone(err error) bool {
	var gone *serviceerror.NotFound
	return errors.As(err, &gone)
}

// unread says why a conversation could not be asked.
func unread(err error) string {
	if strings.Contains(err.Error(), "unknown queryType ") { // the SDK has no type for it
		return "its worker is of a version that knows no adoption: upgrade all workers first"
	}
	return "no worker answers for it: " + err.Error()
}
