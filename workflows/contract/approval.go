package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/contract/reminder"
	"agent-stop-and-go/workflows/contract/verdict"
)

// ApprovalInput starts an Approval, the workflow that waits for a decision.
// Its workflow ID is ApprovalWorkflowID(UUID).
type ApprovalInput struct {
	UUID           string   `json:"uuid"`
	ConversationID string   `json:"conversation_id"`
	SessionID      string   `json:"session_id,omitempty"`
	AgentName      string   `json:"agent_name,omitempty"`
	Owner          Identity `json:"owner,omitzero"` // of the conversation
	// NodePath is the path of the node that asks: child indices from the root.
	NodePath []int  `json:"node_path,omitempty"`
	Node     string `json:"node,omitempty"`
	Tool     string `json:"tool"`
	Server   string `json:"server,omitempty"`
	// Arguments are the final arguments of the call, ArgumentsSHA256 the hash of their
	// canonical JSON.
	Arguments       JSON   `json:"arguments"`
	ArgumentsSHA256 string `json:"arguments_sha256"`
	Description     string `json:"description"`
	Reason          Reason `json:"reason"`
	// Because is the ground of ReasonDestructive, Rule the rule's name and Policy the version of
	// the rules with GroundRule.
	Because Ground `json:"because,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Policy  string `json:"policy,omitempty"`
	// Call is the ID of the message with the call, if there is one.
	Call   string       `json:"call,omitempty"`
	Edit   []string     `json:"edit,omitempty"`   // arguments that may be changed; see package edit
	Basis  JSON         `json:"basis,omitzero"`   // as in Call
	Always *grant.Offer `json:"always,omitempty"` // what may be granted for later calls
	// Waits is set if a yes is judged again: see review.Input.
	Waits *verdict.Verdict `json:"waits,omitempty"`
	// RemoteTaskID and RemoteAgent are set if another agent asks, Origin if it describes the
	// call. RemoteAgent alone is the agent that a paused call delegates to.
	RemoteTaskID string        `json:"remote_task_id,omitempty"`
	RemoteAgent  string        `json:"remote_agent,omitempty"`
	Origin       *Origin       `json:"origin,omitempty"`
	CreatedAt    time.Time     `json:"created_at"`
	Timeout      time.Duration `json:"timeout,omitempty"`
	// Remind is when people are reminded of it.
	Remind reminder.Plan `json:"remind,omitempty"`
	// Schema is the schema of the answer to a question: a flat JSON Schema. Accepts describes
	// the accepted answers if the schema itself is not in history.
	Schema  JSON   `json:"schema,omitzero"`
	Accepts string `json:"accepts,omitempty"`
	// Approvers are the rules of who may decide; see package approvers. Without authentication
	// there are none.
	Approvers []string `json:"approvers,omitempty"`
	// Webhooks is set if the agent has web hooks for approvals; see package hooks.
	Webhooks bool             `json:"webhooks,omitempty"`
	Audited  bool             `json:"audited,omitempty"` // as in Call
	Carried  *ApprovalCarried `json:"carried,omitempty"` // of the previous run
	// Explanation is the whole text of the other agent or the tool server, if Description has
	// only its beginning.
	Explanation Text `json:"explanation,omitzero"`
	// Binding is the server and the tool of the call, nil if not known. Granted is the binding
	// of the earlier approval, with ReasonChanged.
	Binding *Binding    `json:"binding,omitempty"`
	Granted *Binding    `json:"granted,omitempty"`
	Login   *login.Need `json:"login,omitempty"` // what the call waits for, with ReasonLogin
	// Continues is what a delegation continues at the other agent, nil if it begins anew.
	Continues *delegation.Point `json:"continues,omitempty"`
}

// ApprovalCarried is the state that survives continue-as-new.
type ApprovalCarried struct {
	Problem    string         `json:"problem"`
	Ignored    int            `json:"ignored"`
	Deferrals  later.List     `json:"deferrals,omitempty"`
	Reminded   []time.Time    `json:"reminded,omitempty"`
	Reminders  int            `json:"reminders,omitempty"` // of the plan, that are over
	Judgements judgement.List `json:"judgements,omitempty"`
}

// Pending returns the approval as the API shows it while it waits.
func (in ApprovalInput) Pending() PendingApproval {
	return PendingApproval{
		AgentName: in.AgentName, Server: in.Server, Chain: in.Chain(), Because: in.Because, Rule: in.Rule, Policy: in.Policy, ExpiresAt: in.ExpiresAt(),
		UUID: in.UUID, ConversationID: in.ConversationID, ToolName: in.Tool, ToolArgs: in.Arguments,
		Description: in.Description, Reason: in.Reason, Digest: in.ArgumentsSHA256, Node: in.Node,
		NodePath:     in.NodePath,
		RemoteTaskID: in.RemoteTaskID, RemoteAgentName: in.RemoteAgent, CreatedAt: in.CreatedAt,
		Schema: in.Schema, Accepts: in.Accepts, Call: in.Call, Origin: in.Origin,
		Explanation: in.Explanation, Binding: in.Binding, Granted: in.Granted, Approvers: in.Approvers, Login: in.Login,
		Requester: in.Owner.Name(), Edit: in.Edit, Always: in.Always, Continues: in.Continues,
	}
}

// Chain names the agents from this one to the one whose call waits, if another agent asks.
func (in ApprovalInput) Chain() []string {
	switch {
	case in.Reason != ReasonRemote:
		return nil
	case in.Origin != nil && len(in.Origin.Chain) > 0:
		return append([]string{in.AgentName}, in.Origin.Chain...)
	}
	return []string{in.AgentName, in.RemoteAgent}
}

// ExpiresAt returns when the approval expires, nil if it has no timeout.
func (in ApprovalInput) ExpiresAt() *time.Time {
	if in.Timeout <= 0 {
		return nil
	}
	at := in.CreatedAt.Add(in.Timeout)
	return &at
}

// Answered reports whether the approval needs content, here or for the agent that asks.
func (in ApprovalInput) Answered() bool { return in.Pending().Answered() }

// Answered reports whether the approval needs content, here or for the agent that asks.
func (p PendingApproval) Answered() bool {
	return p.Reason.Answered() || p.Reason == ReasonRemote && !p.Schema.IsZero() && !p.doubtful()
}

// TakesContent reports whether the answer may have content, which some approvals do not
// require.
func (p PendingApproval) TakesContent() bool { return p.Answered() || !p.Schema.IsZero() }

// doubtful reports whether the approval is about a call of unknown outcome, here or at another
// agent.
func (p PendingApproval) doubtful() bool {
	return p.Reason == ReasonUnknownOutcome || p.Origin != nil && p.Origin.Reason == ReasonUnknownOutcome
}

// Paused reports whether a switch pauses the call, here or at another agent, so that it cannot
// be approved.
func (p PendingApproval) Paused() bool {
	return p.Reason == ReasonPaused || p.Origin != nil && p.Origin.Reason == ReasonPaused
}

// NeedsLogin reports whether the call waits until somebody has logged in, here or at another
// agent, so that it cannot be approved.
func (p PendingApproval) NeedsLogin() bool {
	return p.Reason == ReasonLogin || p.Origin != nil && p.Origin.Reason == ReasonLogin
}

// Question reports whether a message to the conversation may be the answer.
func (p PendingApproval) Question() bool {
	remote := p.Reason == ReasonRemote && p.Origin != nil && p.Origin.Reason == ReasonQuestion
	return p.Reason == ReasonQuestion || remote && p.Answered()
}

// AsksRequester reports whether whoever sent the message is asked: for data, to execute a call,
// or to log in.
func (p PendingApproval) AsksRequester() bool {
	return p.Question() || p.Reason == ReasonClientTool || p.NeedsLogin()
}

// PendingApproval is the "pending_approval" of the API and of the file. The fields after
// created_at are additions.
type PendingApproval struct {
	UUID            string       `json:"uuid"`
	ConversationID  string       `json:"conversation_id"`
	ToolName        string       `json:"tool_name"`
	ToolArgs        JSON         `json:"tool_args"`
	Description     string       `json:"description"`
	RemoteTaskID    string       `json:"remote_task_id,omitempty"`
	RemoteAgentName string       `json:"remote_agent_name,omitempty"`
	CreatedAt       time.Time    `json:"created_at"`
	Reason          Reason       `json:"reason,omitempty"`
	Digest          string       `json:"tool_args_sha256,omitempty"`
	Node            string       `json:"node,omitempty"`
	NodePath        []int        `json:"node_path,omitempty"`
	Schema          JSON         `json:"schema,omitzero"`
	Accepts         string       `json:"accepts,omitempty"`
	Call            string       `json:"call,omitempty"`
	Origin          *Origin      `json:"origin,omitempty"`
	Explanation     Text         `json:"explanation,omitzero"`
	Binding         *Binding     `json:"binding,omitempty"`
	Granted         *Binding     `json:"granted,omitempty"`
	Approvers       []string     `json:"approvers,omitempty"`
	Edit            []string     `json:"edit,omitempty"`   // as in ApprovalInput
	Always          *grant.Offer `json:"always,omitempty"` // as in ApprovalInput
	// Login is what the call waits for, with ReasonLogin.
	Login *login.Need `json:"login,omitempty"`
	// Continues is as in ApprovalInput.
	Continues *delegation.Point `json:"continues,omitempty"`

	// AgentName, Server, Chain, Because, Rule, Policy, Requester and ExpiresAt are as in Card.
	AgentName string     `json:"agent_name,omitempty"`
	Server    string     `json:"server,omitempty"`
	Chain     []string   `json:"chain,omitempty"`
	Because   Ground     `json:"because,omitempty"`
	Requester Name       `json:"requester,omitzero"`
	Rule      string     `json:"rule,omitempty"`
	Policy    string     `json:"policy,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// Origin is the call behind an approval that another agent asks for, as that agent describes
// it. It is shown to people; the decision is sent to the other agent.
type Origin struct {
	// Chain names the agents from the one that was delegated to, to the one whose call
	// waits.
	Chain     []string `json:"chain"`
	UUID      string   `json:"uuid,omitempty"` // of the approval at that agent
	Tool      string   `json:"tool,omitempty"`
	Arguments JSON     `json:"arguments,omitzero"`
	Digest    string   `json:"arguments_sha256,omitempty"`
	Reason    Reason   `json:"reason,omitempty"`
	// Description is the last agent's description of the call.
	Description string `json:"description,omitempty"`
	// Schema is the schema of the answer if it needs content. Accepts describes the accepted
	// answers if the schema itself is not in history.
	Schema  JSON   `json:"schema,omitzero"`
	Accepts string `json:"accepts,omitempty"`
}

// Decision is how an approval ended.
type Decision string

// The decisions.
const (
	Approved  Decision = "approved"
	Rejected  Decision = "rejected"
	Expired   Decision = "expired"
	Cancelled Decision = "cancelled"
	// Terminated is the decision of an approval whose workflow ended without one, usually
	// because an operator terminated it.
	Terminated Decision = "terminated"
)

// DecideSignal decides an approval (signal "decide" of the approval's workflow). People type
// it, so the workflow receives raw JSON, which package answer parses; the gateway sends this
// type.
type DecideSignal struct {
	RequestID string `json:"request_id,omitempty"`
	Approved  bool   `json:"approved"`
	// By is the subject of Identity. Without authentication it is the name that the caller
	// claims, or "".
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Via    string `json:"via,omitempty"` // rest, a2a; "signal" when absent
	// Chain names the agents through which the decision came, the nearest last.
	Chain []string `json:"chain,omitempty"`
	// Credential is the sealed bearer token of the caller who decided.
	Credential string `json:"credential,omitempty"`
	// Content is the answer to a question, Edit the changes of the arguments (package edit).
	Content JSON            `json:"content,omitzero"`
	Edit    json.RawMessage `json:"edit,omitempty"`
	Always  *grant.Choice   `json:"always,omitempty"` // of what is offered, for later calls
	// OnBehalfOf is the name that a caller with an Identity claims to act for.
	OnBehalfOf string `json:"on_behalf_of,omitempty"`
	// Identity is the caller, with the scopes and groups that allowed the decision. Proof proves
	// it; see package proof.
	Identity Identity `json:"identity,omitzero"`
	Proof    string   `json:"proof,omitempty"`
	// For is by which deputy the caller decides in the place of somebody else, if so.
	For  *deputy.Deputy `json:"for,omitempty"`
	Echo JSON           `json:"echo,omitzero"` // as in MessageSignal
}

// QuestionSignal is a question of a tool server (signal "question"). The activity that makes
// the call sends it to its own workflow, and then waits for the Approval with that UUID.
type QuestionSignal struct {
	UUID string `json:"uuid"`
	// Call is the idempotency key of the call, Attempt the number of the attempt. The answer to
	// a question of an earlier attempt is not used.
	Call    string `json:"call"`
	Attempt int32  `json:"attempt,omitempty"`
	Message Text   `json:"message"`
	// Schema has at most MaxQuestionSchema bytes. Accepts describes the accepted answers if the
	// schema itself is not in history.
	Schema  JSON   `json:"schema,omitzero"`
	Accepts string `json:"accepts,omitempty"`
	// Reminder is that of the approval with the UUID, from its workflow. All else is empty then.
	Reminder *reminder.Reminder `json:"reminder,omitempty"`
	// Judgement is one of the approval with the UUID, in the same way.
	Judgement *judgement.Judgement `json:"judgement,omitempty"`
}

// MaxQuestionSchema is the maximum size of the schema of an answer, in bytes.
const MaxQuestionSchema = 64 << 10

// MaxQuestionTime is how long the questions of one call may wait in total.
const MaxQuestionTime = 24 * time.Hour

// ApprovalResult is the result of an Approval: the audit record.
type ApprovalResult struct {
	UUID            string    `json:"uuid"`
	ConversationID  string    `json:"conversation_id"`
	Tool            string    `json:"tool"`
	ArgumentsSHA256 string    `json:"arguments_sha256,omitempty"`
	Decision        Decision  `json:"decision"`
	By              string    `json:"by,omitempty"`
	Reason          string    `json:"reason,omitempty"`
	Via             string    `json:"via,omitempty"`
	Chain           []string  `json:"chain,omitempty"` // of agents, as in DecideSignal
	RequestID       string    `json:"request_id,omitempty"`
	RequestedAt     time.Time `json:"requested_at"`
	DecidedAt       time.Time `json:"decided_at"`
	// Credential is the sealed token that came with the decision. The call uses it if the
	// agent's CallAs says so; nothing else does.
	Credential string `json:"credential,omitempty"`
	// Content is the answer to a question. Messages and documents do not contain it.
	Content JSON       `json:"content,omitzero"`
	Outcome RunOutcome `json:"outcome,omitempty"` // the answer about a call of unknown outcome
	// OnBehalfOf, Identity and For are those of the DecideSignal.
	OnBehalfOf string         `json:"on_behalf_of,omitempty"`
	Identity   Identity       `json:"identity,omitzero"`
	For        *deputy.Deputy `json:"for,omitempty"`
	Revision   *Revision      `json:"revision,omitempty"`
	Always     *grant.Given   `json:"always,omitempty"` // the standing grant that came with it
	// Policy is the version of the rules under which it was decided, if it was judged by any.
	Policy string `json:"policy,omitempty"`
	Echo   JSON   `json:"echo,omitzero"` // of the DecideSignal
}

// Public returns the record without the credential and the echo, which are for the conversation,
// and the answer to a question, which is for the server that asked.
func (r ApprovalResult) Public() ApprovalResult {
	r.Credential, r.Content, r.Echo = "", JSON{}, JSON{}
	return r
}

// Resolution returns the content of an approved answer about a call of unknown outcome.
func (r ApprovalResult) Resolution() UnknownOutcomeAnswer { return resolution(r.Content) }

// Agrees reports whether an approval ended with the same decision as the signal's; for a call
// of unknown outcome also with the same answer.
func (r ApprovalResult) Agrees(s DecideSignal) bool {
	if (r.Decision == Approved) != s.Approved {
		return false
	}
	return !s.Approved || r.agreesOn(s.Edit) && (r.Outcome == OutcomeRan) == (resolution(s.Content).Outcome == OutcomeRan)
}

// resolution parses content of UnknownOutcomeSchema; other content gives a zero value.
func resolution(content JSON) (a UnknownOutcomeAnswer) {
	if json.Unmarshal(content.Raw, &a) != nil || a.Outcome != OutcomeRan && a.Outcome != OutcomeNotRun {
		return UnknownOutcomeAnswer{}
	}
	return a
}

// maxReason bounds the shown part of a reason, in characters.
const maxReason = 2000

// ReasonText returns a person's reason, with the person's name; empty without a reason.
func (r ApprovalResult) ReasonText() string {
	why := strings.TrimSpace(r.Reason)
	if why == "" {
		return ""
	}
	if text := []rune(why); len(text) > maxReason {
		why = string(text[:maxReason]) + "…"
	}
	if by := r.ShownBy(); by != "" {
		return fmt.Sprintf("Reason (%s): %s", by, why)
	}
	return "Reason: " + why
}

// ShownBy returns the name of the person who decided, and in whose place, in one line.
func (r ApprovalResult) ShownBy() string {
	by := r.By
	if r.For != nil {
		by += " for " + r.For.From.Subject
	}
	return fmt.Sprintf("%.200s", strings.Join(strings.Fields(by), " "))
}

// ApprovalView is what the query "approval" of an Approval returns.
type ApprovalView struct {
	Pending PendingApproval `json:"pending"`
	// Result is nil while the approval waits.
	Result *ApprovalResult `json:"result,omitempty"`
	// Problem is why the last signal was not accepted as a decision.
	Problem string `json:"problem,omitempty"`
	Ignored int    `json:"ignored,omitempty"` // counts such signals
	// Deferrals say who has put the approval off, Reminded when people were reminded of it.
	Deferrals  later.List     `json:"deferrals,omitempty"`
	Reminded   []time.Time    `json:"reminded,omitempty"`
	Judgements judgement.List `json:"judgements,omitempty"` // since the rules have changed
}
