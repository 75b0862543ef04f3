package contract

import (
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/toolchoice"
	"agent-stop-and-go/workflows/contract/verdict"
)

// GenerateInput asks a model for the next reply.
type GenerateInput struct {
	ConversationID string     `json:"conversation_id"`
	Model          string     `json:"model"`
	Prompt         Text       `json:"prompt,omitzero"`
	Transcript     Transcript `json:"transcript"`
	// Before are messages that the model sees before Transcript. They are not offloaded.
	Before *Transcript `json:"before,omitempty"`
	// Values replace the placeholders in the prompt.
	Values State `json:"values,omitempty"`
	// Tools are the names of the servers and tools on offer; nil means all.
	Tools []string `json:"tools,omitzero"`
	// Peers are offered as tools, and so is ToolExitLoop when ExitLoop is set.
	Peers    []Peer `json:"peers,omitempty"`
	ExitLoop bool   `json:"exit_loop,omitempty"`
	// ClientTools are the Tools of the message. They are offered too.
	ClientTools JSON              `json:"client_tools,omitzero"`
	ToolChoice  toolchoice.Choice `json:"tool_choice,omitzero"` // what is demanded of the reply
	// For subscribers: the reply while it is generated, and the node that asks for it.
	DraftID string `json:"draft,omitempty"`
	Node    string `json:"node,omitempty"`
	// Summary replaces the oldest messages.
	Summary *Summary `json:"digest,omitempty"`
	// Schema is the JSON Schema that the reply's text must fit, if there is one.
	Schema JSON `json:"schema,omitzero"`
	// Repair is an earlier reply that did not fit and is to be corrected.
	Repair *Repair `json:"repair,omitempty"`
	// Transferred replaces the model: its calls are the reply (package transfer).
	Transferred JSON `json:"transferred,omitzero"`
	// Facts are what rules know of the calls of the reply; nil in older histories.
	Facts *verdict.Facts `json:"facts,omitempty"`
}

// Repair is a reply that does not fit its schema.
type Repair struct {
	Text    Text   `json:"text"`
	Problem string `json:"problem"`
	// Overrun is set if the reply had too many calls, which were not carried out.
	Overrun bool `json:"overrun,omitempty"`
}

// GenerateResult is a model's reply. At least one of Text and Calls is set.
type GenerateResult struct {
	Text  Text   `json:"text,omitzero"`
	Calls []Call `json:"calls,omitempty"`
	// Model is the model that answered, by the provider's own name.
	Model string `json:"model,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	// Finish is the reason why the model stopped: stop, tool_calls, length, refusal.
	Finish string `json:"finish,omitempty"`
	// Offloaded is set if the activity moved messages to the blob store: the first Count
	// messages of the input's tail are now part of Head.
	Offloaded *Offloaded `json:"folded,omitempty"`
	// DraftID is the input's; replies older than the model and usage of messages have none.
	DraftID string `json:"draft,omitempty"`
	// Native is the reply in the form that the provider requires back, if any.
	Native *Native `json:"native,omitempty"`
	// Misfit is why the text does not fit the input's Schema.
	Misfit string `json:"misfit,omitempty"`
	// Overrun says why the reply asks for more than one reply may. Its calls are omitted.
	Overrun string `json:"overrun,omitempty"`
	// NeedsSummary says which of the oldest messages are to be summarized, if the messages do not
	// fit the model. It was not called, and all other fields are empty.
	NeedsSummary *Summary `json:"overlong,omitempty"`
}

// SummarizeInput asks the model to summarize a conversation's oldest messages.
type SummarizeInput struct {
	ConversationID string      `json:"conversation_id"`
	Model          string      `json:"model"`
	Transcript     Transcript  `json:"transcript"`
	Before         *Transcript `json:"before,omitempty"`
	// Earlier is the previous summary, which the new one includes.
	Earlier *Summary `json:"earlier,omitempty"`
	// Wanted says which messages the summary is to replace.
	Wanted Summary `json:"wanted"`
}

// SummarizeResult is the summary, and the usage of the call.
type SummarizeResult struct {
	Summary Summary `json:"digest"`
	Model   string  `json:"model,omitempty"`
	Usage   Usage   `json:"usage,omitzero"`
}

// Offloaded says which messages of a tail are now in a new head.
type Offloaded struct {
	Head  Head `json:"head"`
	Count int  `json:"count"`
}

// Call is a tool call of a model, with data about the tool. The arguments are final: coerced,
// validated, and shown to people.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments JSON   `json:"arguments"`
	// SHA256 is the digest of the canonical arguments.
	SHA256 string `json:"arguments_sha256,omitempty"`
	Server string `json:"server,omitempty"`
	// Wording selects the sentences that describe the call, for a server of ours.
	Wording Wording `json:"wording,omitempty"`
	// Binding is the target of a destructive call; nil in older histories.
	Binding *Binding `json:"binding,omitempty"`
	// Peer is the agent that the call delegates to, if it does.
	Peer *Peer `json:"peer,omitempty"`
	// Exit means that the call leaves the loop; no tool is called.
	Exit bool `json:"exit,omitempty"`
	// Client means that the sender of the message makes the call.
	Client bool `json:"client,omitempty"`
	// Destructive tools wait for an approval, unless Verdict says otherwise, and are never called
	// twice.
	Destructive bool `json:"destructive,omitempty"`
	// Because is why a person is asked before a destructive call; empty in older histories.
	Because Ground `json:"because,omitempty"`
	// MayAsk means that the server may ask a person during the call.
	MayAsk  bool `json:"may_ask,omitempty"`
	Audited bool `json:"audited,omitempty"` // its events go to the audit log
	// Unknown means that no such tool was on offer.
	Unknown bool `json:"unknown,omitempty"`
	// Problem is why the arguments cannot be used. It is reported to the model.
	Problem string `json:"problem,omitempty"`
	// Verdict is what the agent's rules say; nil if none is about the call.
	Verdict  *verdict.Verdict `json:"verdict,omitempty"`
	Preview  string           `json:"preview,omitempty"`  // what the call would change, as its server says
	Basis    JSON             `json:"basis,omitzero"`     // a verdict.Basis, if rules may judge the call again
	Approval string           `json:"approval,omitempty"` // as in package transfer, and Task too
	Task     string           `json:"task,omitempty"`
}

// CallToolInput calls a tool of an MCP server.
type CallToolInput struct {
	ConversationID string `json:"conversation_id"`
	SessionID      string `json:"session_id,omitempty"`
	Server         string `json:"server"`
	Tool           string `json:"tool"`
	Arguments      JSON   `json:"arguments"`
	// SHA256 must match the arguments, else the call is refused.
	SHA256 string `json:"arguments_sha256"`
	// IdempotencyKey is the same in every attempt at this call.
	IdempotencyKey string `json:"idempotency_key"`
	Destructive    bool   `json:"destructive,omitempty"`
	MayAsk         bool   `json:"may_ask,omitempty"`
	// Agent is the name of the agent, for a destructive call.
	Agent string `json:"agent,omitempty"`
	// Claim identifies a destructive call independently of what the run did before it, so that
	// it stays the same after a reset. "" means IdempotencyKey.
	Claim    string `json:"claim,omitempty"`
	Rule     string `json:"rule,omitempty"` // that lets a destructive call run
	Policy   string `json:"policy,omitempty"`
	Standing string `json:"standing,omitempty"` // the standing grant that lets it run
	// Grant is the approval by which a call of unknown outcome is repeated. A destructive call
	// is made once without, and once for each.
	Grant string `json:"grant,omitempty"`
	// Rate is for the rate limits of the agent.
	Rate rates.Passage `json:"rate,omitzero"`
	// Binding is the approved target. If the call would go elsewhere now, it is not made and
	// fails with KindChanged. Nil means no binding.
	Binding *Binding `json:"binding,omitempty"`
	// Tools (of the node) and Basis (as in Call) bound what a tool of the agent itself may call.
	Tools []string `json:"tools,omitzero"`
	Basis JSON     `json:"basis,omitzero"`
}

// CallToolResult is a tool's answer. A tool that answers with an error is a
// result too, with IsError set.
type CallToolResult struct {
	Text    Text `json:"text"`
	IsError bool `json:"is_error,omitempty"`
	// Media are the binary parts that the text refers to.
	Media []Media `json:"media,omitempty"`
	// Links are files that the text names and that were not fetched.
	Links []Link `json:"links,omitempty"`
	// AuthRequired names the server that requires the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
	// Login is set if the call was not made, and may be made after a login.
	Login *login.Need `json:"login,omitempty"`
	// Note is for people, about the circumstances of the call.
	Note  string `json:"note,omitempty"`
	Usage Usage  `json:"usage,omitzero"` // of models that the call has asked
	Used  string `json:"used,omitempty"` // the tool that a tool of the agent itself has called
}

// DelegateInput sends a message to another agent or about one of its tasks: without TaskID it
// starts a task, with TaskID alone it asks for the task's state, with a Decision it answers the
// task's question, with Cancel it cancels the task.
type DelegateInput struct {
	ConversationID string `json:"conversation_id"`
	SessionID      string `json:"session_id,omitempty"`
	Peer           Peer   `json:"peer"`
	// Chain names the agents that have delegated the work, the sender last.
	Chain []string `json:"chain,omitempty"`
	// MessageID is the same in every attempt: the idempotency key.
	MessageID string `json:"message_id"`
	// Arguments are {"message": "…"}; SHA256 must match them.
	Arguments JSON   `json:"arguments,omitzero"`
	SHA256    string `json:"arguments_sha256,omitempty"`
	// TaskID and ContextID are the IDs of the other agent.
	TaskID    string `json:"task_id,omitempty"`
	ContextID string `json:"context_id,omitempty"`
	// Continues is what the task that is started continues, if anything.
	Continues *delegation.Point `json:"continues,omitempty"`
	// Decision (Approved or Rejected) answers a waiting task. Asked is the structured question
	// of the task, if it has one; Question the text that was decided on if that has no ID;
	// Content the answer to a question; By and Reason who decided and why.
	Decision Decision `json:"decision,omitempty"`
	Asked    *Origin  `json:"asked,omitempty"`
	Question Text     `json:"question,omitzero"`
	Content  JSON     `json:"content,omitzero"`
	By       string   `json:"by,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	// Cancel ends the task.
	Cancel bool `json:"cancel,omitempty"`
	// Destructive means that the message may have an effect that must not happen twice.
	Destructive bool `json:"destructive,omitempty"`
	// Claim, Grant and Rate are as in CallToolInput; no claim means MessageID.
	Claim string        `json:"claim,omitempty"`
	Grant string        `json:"grant,omitempty"`
	Rate  rates.Passage `json:"rate,omitzero"`
}

// DelegateResult is the state of a remote task.
type DelegateResult struct {
	State     TaskState `json:"state"`
	TaskID    string    `json:"task_id,omitempty"`
	ContextID string    `json:"context_id,omitempty"`
	// Text is the result, or the agent's message about its state.
	Text Text `json:"text"`
	// Media are the files of the result.
	Media []Media `json:"media,omitempty"`
	// Asked is the structured question of a waiting task, if it has one.
	Asked *Origin `json:"asked,omitempty"`
	// Note is for people, about the circumstances of the call.
	Note string `json:"note,omitempty"`
	// NoEntry means that the agent requires a login before it reports the task's state. State
	// is TaskAuthRequired then.
	NoEntry bool `json:"no_entry,omitempty"`
	// Login is set if the message was not sent, and may be sent after a login. State is
	// TaskAuthRequired then.
	Login *login.Need `json:"login,omitempty"`
	// Anew means that the agent does not know any more what the task was to continue.
	Anew bool `json:"anew,omitempty"`
}

// DeliveryResult is the result of a Delivery: the state of the task after the message, or why
// the other agent did not receive it.
type DeliveryResult struct {
	State TaskState `json:"state,omitempty"`
	// Problem is empty if the agent received the message.
	Problem string `json:"problem,omitempty"`
}

// ComposeInput makes one text of a template with its placeholders replaced, or of several
// parts, one per line.
type ComposeInput struct {
	Template Text   `json:"template,omitzero"`
	Values   State  `json:"values,omitempty"`
	Parts    []Text `json:"parts,omitempty"`
	// Arguments asks for the text also as the arguments of a delegation.
	Arguments bool `json:"arguments,omitempty"`
	// Judged is the delegation with these arguments, which the agent's rules judge; nil in older
	// histories.
	Judged *verdict.Delegation `json:"judged,omitempty"`
}

// ComposeResult is the text, and if asked for as arguments of a delegation: {"message": text}
// with its SHA-256.
type ComposeResult struct {
	Text      Text   `json:"text"`
	Arguments JSON   `json:"arguments,omitzero"`
	SHA256    string `json:"arguments_sha256,omitempty"`
	// Verdict is that of the rules, if the input asks for it and one is about the delegation.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	Audited bool             `json:"audited,omitempty"` // as in Call
}

// ReadAnswerInput parses an answer to a question whose Schema is not in history. Signal is an
// answer from a "decide" signal, Message from a message of the conversation; one of them is
// set.
type ReadAnswerInput struct {
	Schema  JSON   `json:"schema"`
	Signal  string `json:"signal,omitempty"`
	Message string `json:"message,omitempty"`
}

// ReadAnswerResult is the answer. Problem says why it is invalid, and what is accepted.
type ReadAnswerResult struct {
	Answer  DecideSignal `json:"answer,omitzero"`
	Problem string       `json:"problem,omitempty"`
}

// OffloadInput is state of a workflow that is to be moved to the blob store.
type OffloadInput struct {
	Transcript Transcript `json:"transcript"`
	// Whole offloads the tail however short it is.
	Whole bool `json:"whole,omitempty"`
	// Texts are stored one by one.
	Texts []Text `json:"texts,omitempty"`
	// Nodes are stored together, after those of NodesBefore.
	Nodes       []NodeState `json:"nodes,omitempty"`
	NodesBefore *Blob       `json:"nodes_before,omitempty"`
}

// OffloadResult has the addresses. Offloaded is nil if the tail was short enough to stay.
type OffloadResult struct {
	Offloaded *Offloaded `json:"folded,omitempty"`
	Texts     []Text     `json:"texts,omitempty"`
	Nodes     *Blob      `json:"nodes,omitempty"`
}

// ListToolsInput asks a worker for a catalogue. The zero value asks for the tools.
type ListToolsInput struct {
	Kind   CatalogueKind `json:"want,omitempty"`
	Server string        `json:"server,omitempty"` // of WantSystemPrompt
	// Probe is a value that the gateway has put into its blob store. The worker looks for it in its own store.
	Probe *Blob `json:"probe,omitempty"`
}

// CatalogueResult is a catalogue of a worker, of the requested kind. Body holds a Catalogue, a
// ResourceCatalogue or a PromptCatalogue; a long one is in the blob store.
type CatalogueResult struct {
	Body JSON `json:"body"`
	// Store is nil if no Probe was given, or if the worker does not support it.
	Store *StoreCheck `json:"store,omitempty"`
}

// StoreCheck reports whether a worker and the gateway that asks share a blob store.
type StoreCheck struct {
	// Own is a value that the worker has put into its store, for the gateway to look for.
	Own Blob `json:"own"`
	// Probe is the gateway's value that the worker looked for (gateways that ask at the same
	// time share an answer). Problem says why it could not be read.
	Probe   Blob   `json:"probe"`
	Problem string `json:"problem,omitempty"`
}

// Catalogue lists the tools that a worker offers.
type Catalogue struct {
	Tools   []Tool        `json:"tools"`
	Servers []ServerState `json:"servers"`
	Model   ModelState    `json:"model"`
	// Problems keep the worker from running conversations as configured, besides servers that
	// are not ready. Notes do not.
	Problems []string `json:"problems,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// ErrorAuthentication is the Error of a server that serves only authenticated callers.
const ErrorAuthentication = "authentication is required"

// ServerState says whether a tool server answers, and if not, why.
type ServerState struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Error string `json:"error,omitempty"`
	Tools int    `json:"tools"`
	// Optional servers may be missing; nothing waits for them.
	Optional bool `json:"optional,omitempty"`
}

// ModelState is the model that answers, and what its users should know.
type ModelState struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

// ExportInput writes a conversation to its file.
type ExportInput struct {
	Conversation ConversationView `json:"conversation"`
	// Tree is for subscribers; it is not written to the file.
	Tree *TreeView `json:"tree,omitempty"`
}

// ExportResult says what was written. Skipped means that the file had a later version already.
type ExportResult struct {
	Bytes   int64 `json:"bytes,omitempty"`
	Skipped bool  `json:"skipped,omitempty"`
}

// WithdrawInput cancels children that the run before a reset has left running. The new run
// executes the activity.
type WithdrawInput struct {
	ConversationID string `json:"conversation_id"`
	// Child is the workflow ID of the only child to cancel; "" means all children that the
	// workflow does not wait for.
	Child string `json:"child,omitempty"`
}

// WithdrawResult names the workflows that were cancelled.
type WithdrawResult struct {
	Workflows []string `json:"workflows,omitempty"`
}
