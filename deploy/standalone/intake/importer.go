package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/transfer"
	"agent-stop-and-go/workflows/record/transcript"
)

// State is what has become of a file, or would.
type State string

// The states.
const (
	Imported State = "imported"
	There    State = "there"   // an earlier import, or the agent itself, has the conversation
	Refused  State = "refused" // the file cannot be imported; nothing has been done
	Failed   State = "failed"  // the agent or its stores failed; the import can be repeated
)

// Outcome is what has become of a file.
type Outcome struct {
	File     string          `json:"file"`
	State    State           `json:"state"`
	ID       string          `json:"id,omitempty"`
	Status   contract.Status `json:"status,omitempty"`
	Messages int             `json:"messages,omitempty"`
	// Waits are the calls that wait for an approval.
	Waits []Wait   `json:"waits,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Place, Problem and Advice say why it was refused or failed.
	Place   string `json:"place,omitempty"`
	Problem string `json:"problem,omitempty"`
	Advice  string `json:"advice,omitempty"`
}

// Wait is a call that waits for an approval.
type Wait struct {
	Tool string `json:"tool"`
	// Approval is its UUID; "" is made when it opens.
	Approval string `json:"approval,omitempty"`
	// Task is the task of another agent that asks.
	Task string `json:"task,omitempty"`
}

// Starter starts conversations.
type Starter interface {
	Start(ctx context.Context, in service.StartInput) (service.StartResult, error)
	Signal(ctx context.Context, conversationID, signal string, payload any) error
}

// Finder finds workflows.
type Finder interface {
	// Exists reports whether there is a workflow with an ID, running or closed.
	Exists(ctx context.Context, workflowID string) (bool, error)
}

// Graves knows which conversations were deleted.
type Graves interface {
	Tombstone(ctx context.Context, conversationID string) (*deletion.Tombstone, error)
}

// Importer imports files into an agent.
type Importer struct {
	Agent contract.Agent
	Tools contract.Catalogue
	// Owner gets the conversations; zero is nobody.
	Owner  contract.Identity
	Start  Starter
	Find   Finder
	Graves Graves
	Store  transcript.Store
	Now    func() time.Time
	// DryRun only says what would be done.
	DryRun bool
	// DropApprovals leaves behind the approvals that cannot wait here.
	DropApprovals bool
	// DropQueued leaves behind messages that no turn had answered: a file has only their number.
	DropQueued bool

	seen      map[string]string // files by the IDs of their conversations
	approvals map[string]string // files by the UUIDs of their approvals
}

// Import imports a file wholly or not at all. Repeating it joins the conversation.
func (m *Importer) Import(ctx context.Context, path string) Outcome {
	out := Outcome{File: path}
	err := m.run(ctx, path, &out)
	var fault *Fault
	switch {
	case errors.As(err, &fault):
		out.State, out.Place, out.Problem, out.Advice = Refused, fault.Place, fault.Problem, fault.Advice
	case err != nil:
		out.State, out.Problem, out.Advice = Failed, err.Error(), "what is imported stays; repeat the command"
	}
	return out
}

func (m *Importer) run(ctx context.Context, path string, out *Outcome) error {
	f, err := Read(path)
	if err != nil {
		return err
	}
	d, err := m.draft(f)
	out.ID, out.Status, out.Messages, out.Notes = d.id, f.Status, len(f.Messages), d.notes
	if err != nil {
		return err
	}
	if d.waits == nil && f.Status == contract.StatusWaitingApproval {
		out.Status = contract.StatusActive
	}
	if m.seen == nil {
		m.seen = map[string]string{}
	}
	if other := m.seen[d.id]; other != "" {
		return &Fault{Place: "id", Problem: "it is the same conversation as in " + other, Advice: "give one file for each conversation"}
	}
	m.seen[d.id] = path
	if there, err := m.Find.Exists(ctx, contract.ConversationWorkflowID(d.id)); err != nil {
		return err
	} else if there {
		out.State = There
		return m.finish(ctx, d)
	}
	if err := m.check(ctx, d, out); err != nil {
		return err
	}
	if out.State = Imported; m.DryRun {
		return nil
	}
	in, err := d.input(ctx, m.Store, m.Agent, m.Owner, m.Now().UTC())
	if err != nil {
		return fmt.Errorf("store the conversation: %w", err)
	}
	started, err := m.Start.Start(ctx, in)
	if err != nil {
		return fmt.Errorf("start the conversation: %w", err)
	}
	if started.Existed {
		out.State = There
	}
	return m.finish(ctx, d)
}

// draft returns the conversation of a file, without approvals that cannot wait here if they are
// to be dropped.
func (m *Importer) draft(f File) (draft, error) {
	d, err := draftOf(f, "")
	if err == nil && d.waits != nil {
		err = m.offered(d.waits.Calls)
	}
	if f.Queued > 0 && !m.DropQueued {
		return d, &Fault{Place: "queued", Problem: fmt.Sprintf("%d messages wait for a turn, and the file has only their number", f.Queued), Advice: adviceQueued}
	}
	var fault *Fault
	if m.DropApprovals && errors.As(err, &fault) && fault.waits {
		return draftOf(f, fault.Problem)
	}
	return d, err
}

// offered refuses calls that this agent cannot make.
func (m *Importer) offered(calls []transfer.Call) error {
	for _, c := range calls {
		if problem := offered(c, m.Agent, m.Tools); problem != "" {
			return &Fault{Place: "pending_approval.tool_name", Problem: problem, Advice: "import it into an agent that has it, or " + adviceDrop, waits: true}
		}
	}
	return nil
}

const adviceQueued = "wait until they are answered and export the conversation again, or import it with --drop-queued and send them again"

// check refuses what cannot become a conversation of this agent.
func (m *Importer) check(ctx context.Context, d draft, out *Outcome) error {
	tomb, err := m.Graves.Tombstone(ctx, d.id)
	if err != nil {
		return err
	}
	if tomb != nil {
		return &Fault{Place: "id", Problem: fmt.Sprintf("conversation %s was deleted here", d.id), Advice: "what was deleted does not come back"}
	}
	if d.waits == nil {
		return nil
	}
	for _, c := range d.waits.Calls {
		if err := m.reserve(ctx, c.Approval, out.File); err != nil {
			return err
		}
		out.Waits = append(out.Waits, Wait{Tool: c.Name, Approval: c.Approval, Task: c.Task})
	}
	return nil
}

// reserve refuses the UUID of an approval that another conversation has. One that was imported just
// now may not have opened it yet.
func (m *Importer) reserve(ctx context.Context, uuid, path string) error {
	if uuid == "" {
		return nil
	}
	used, err := m.Find.Exists(ctx, contract.ApprovalWorkflowID(uuid))
	if err != nil {
		return err
	}
	problem := ""
	switch other := m.approvals[uuid]; {
	case other != "":
		problem = fmt.Sprintf("the conversation of %s has the approval %s, too", other, uuid)
	case used:
		problem = fmt.Sprintf("another conversation has the approval %s", uuid)
	}
	if problem != "" {
		return &Fault{Place: "pending_approval.uuid", Problem: problem, Advice: adviceDamaged}
	}
	if m.approvals == nil {
		m.approvals = map[string]string{}
	}
	m.approvals[uuid] = path
	return nil
}

// finish closes a conversation whose file says that it is completed, unless it has changed since.
func (m *Importer) finish(ctx context.Context, d draft) error {
	if d.file.Status != contract.StatusCompleted || m.DryRun {
		return nil
	}
	err := m.Start.Signal(ctx, d.id, contract.SignalClose, contract.CloseSignal{
		RequestID: contract.NameUUID(d.id, "imported-close"), Reason: "it was completed before it was imported", UnchangedSince: d.updatedAt(m.Now().UTC()),
	})
	if service.IsKind(err, contract.KindCompleted) {
		return nil
	}
	return err
}

// Workflows is a Finder that asks a Temporal server.
type Workflows struct{ Client client.Client }

// Exists implements Finder.
func (w Workflows) Exists(ctx context.Context, workflowID string) (bool, error) {
	_, err := w.Client.DescribeWorkflowExecution(ctx, workflowID, "")
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", workflowID, err)
	}
	return true, nil
}
