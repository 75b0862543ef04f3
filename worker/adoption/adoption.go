package adoption

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
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
			if err := a.one(ctx, &checker, contract.ConversationWorkflowID(id), ""); err != nil {
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
			if err := a.one(ctx, &checker, info.GetExecution().GetWorkflowId(), hashOf(info)); err != nil {
				return err
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// hashOf returns the configuration of a conversation as the list has it, or "".
func hashOf(info *workflowpb.WorkflowExecutionInfo) (hash string) {
	p := info.GetSearchAttributes().GetIndexedFields()[contract.AttrConfigHash]
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &hash) != nil {
		return ""
	}
	return hash
}

// one decides about a conversation. An error means that Temporal cannot be reached.
func (a Adoption) one(ctx context.Context, c *checker, workflowID, listed string) error {
	id, known := contract.ConversationIDOf(workflowID)
	o := Outcome{ID: id, From: listed, To: a.Agent.Hash(), State: Same}
	if !known && len(a.Only) > 0 {
		o.ID, o.State, o.Reasons = strings.TrimPrefix(workflowID, contract.ConversationWorkflowID("")), Kept, []string{"it is no ID of a conversation"}
		a.Told(o)
	}
	if !known {
		return nil
	}
	if listed == o.To {
		a.Told(o)
		return nil
	}
	found, err := a.look(ctx, workflowID)
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		if len(a.Only) > 0 {
			o.State, o.Reasons = Kept, []string{"there is no such conversation that runs"}
			a.Told(o)
		}
		return nil // it has ended meanwhile
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		o.State, o.Reasons = Kept, []string{unread(err)}
	default:
		err = c.decide(ctx, &o, found)
	}
	if err != nil && o.State != Kept {
		return err
	}
	if (o.State == Now || o.State == Next) && !a.DryRun {
		if err := a.Server.SignalWorkflow(ctx, workflowID, "", adoption.SignalAdopt, adoption.Adopt{Agent: a.Agent, By: a.By}); err != nil {
			if !errors.As(err, &gone) {
				return fmt.Errorf("signal conversation %s: %w", id, err)
			}
			return nil
		}
	}
	a.Told(o)
	return nil
}

// found is what a conversation says of itself.
type found struct {
	agent contract.Agent
	view  contract.ConversationView
}

func (a Adoption) look(ctx context.Context, workflowID string) (f found, err error) {
	v, err := a.Server.QueryWorkflow(ctx, workflowID, "", adoption.QueryAgent)
	if err == nil {
		err = v.Get(&f.agent)
	}
	if err != nil {
		return f, err
	}
	v, err = a.Server.QueryWorkflow(ctx, workflowID, "", contract.QueryConversation, contract.ConversationQuery{})
	if err == nil {
		err = v.Get(&f.view)
	}
	return f, err
}

// unread says why a conversation could not be asked.
func unread(err error) string {
	if strings.Contains(err.Error(), "unknown queryType "+adoption.QueryAgent) { // the SDK has no type for it
		return "its worker is of a version that knows no adoption: upgrade all workers first"
	}
	return "no worker answers for it: " + err.Error()
}
