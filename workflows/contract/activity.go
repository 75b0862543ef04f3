package contract

// GenerateInput asks a model for the next reply.
type GenerateInput struct {
	ConversationID string     `json:"conversation_id"`
	Model          string     `json:"model"`
	Prompt         Text       `json:"prompt,omitzero"`
	Transcript     Transcript `json:"transcript"`
	// Before is what the model sees before Transcript. It is not folded.
	Before *Transcript `json:"before,omitempty"`
	// Values replace the placeholders in the prompt.
	Values State `json:"values,omitempty"`
	// Tools are the names of the servers and tools on offer; nil means all.
	Tools []string `json:"tools,omitzero"`
	// Peers are offered as tools, and so is ToolExitLoop when ExitLoop is set.
	Peers    []Peer `json:"peers,omitempty"`
	ExitLoop bool   `json:"exit_loop,omitempty"`
	// ClientTools are the Tools of the message. They are offered too.
	ClientTools JSON `json:"client_tools,omitzero"`
	// Draft names the reply while it is being made, and Node who asks for it. Both are
	// for those who listen.
	Draft string `json:"draft,omitempty"`
	Node  string `json:"node,omitempty"`
	// Digest stands in for the oldest of the messages.
	Digest *Digest `json:"digest,omitempty"`
	// Schema is the JSON Schema that the reply's text must fit, if there is one.
	Schema JSON `json:"schema,omitzero"`
	// Repair is an earlier reply that did not fit, which is to be mended.
	Repair *Repair `json:"repair,omitempty"`
}

// Repair is a reply that does not fit its schema.
type Repair struct {
	Text    Text   `json:"text"`
	Problem string `json:"problem"`
	// Overrun: the reply asked for too much, and was not carried out.
	Overrun bool `json:"overrun,omitempty"`
}

// GenerateResult is a model's reply. At least one of Text and Calls is set.
type GenerateResult struct {
	Text  Text   `json:"text,omitzero"`
	Calls []Call `json:"calls,omitempty"`
	// Model is the model that answered, by the provider's own name.
	Model string `json:"model,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	// Finish is why the model stopped: stop, tool_calls, length, refusal.
	Finish string `json:"finish,omitempty"`
	// Folded is set when the activity moved messages to the blob store: the
	// first Count messages of the input's tail are now part of Head.
	Folded *Folded `json:"folded,omitempty"`
	// Draft is the input's. Replies without one are of a time when messages did not
	// tell of the model and what it took.
	Draft string `json:"draft,omitempty"`
	// Native is the reply as the provider wants it back, where that matters.
	Native *Native `json:"native,omitempty"`
	// Misfit is why the text does not fit the input's Schema.
	Misfit string `json:"misfit,omitempty"`
	// Overrun says why the reply asks for more than one reply may. Its calls are left out.
	Overrun string `json:"overrun,omitempty"`
	// Overlong: the messages do not fit the model, which was not asked. The oldest of
	// them, as far as this says, need a Digest first. All else is empty then.
	Overlong *Digest `json:"overlong,omitempty"`
}

// DigestInput asks the model for a digest of a conversation's oldest messages.
type DigestInput struct {
	ConversationID string      `json:"conversation_id"`
	Model          string      `json:"model"`
	Transcript     Transcript  `json:"transcript"`
	Before         *Transcript `json:"before,omitempty"`
	// Earlier is the digest so far, which the new one takes in.
	Earlier *Digest `json:"earlier,omitempty"`
	// Wanted says which messages the digest is to stand for.
	Wanted Digest `json:"wanted"`
}

// DigestResult is the digest, and what the call took.
type DigestResult struct {
	Digest Digest `json:"digest"`
	Model  string `json:"model,omitempty"`
	Usage  Usage  `json:"usage,omitzero"`
}

// Folded says which messages of a tail a new head has taken up.
type Folded struct {
	Head  Head `json:"head"`
	Count int  `json:"count"`
}

// Call is a tool call that a model asks for, with what is known of the tool it
// names. The arguments are final: coerced, checked, and shown to the human.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments JSON   `json:"arguments"`
	// SHA256 is the digest of the canonical arguments.
	SHA256 string `json:"arguments_sha256,omitempty"`
	Server string `json:"server,omitempty"`
	// Wording is that of people's texts about the call, for a server of ours.
	Wording Wording `json:"wording,omitempty"`
	// Binding is where a destructive call goes, and nil in older histories.
	Binding *Binding `json:"binding,omitempty"`
	// Peer is the agent that the call delegates to, if it does.
	Peer *Peer `json:"peer,omitempty"`
	// Exit: the call leaves the loop, and nothing is called.
	Exit bool `json:"exit,omitempty"`
	// Client: the sender of the message makes the call.
	Client bool `json:"client,omitempty"`
	// Destructive tools wait for an approval and are never called twice.
	Destructive bool `json:"destructive,omitempty"`
	// MayAsk: the server may ask a person something while it carries out the call.
	MayAsk bool `json:"may_ask,omitempty"`
	// Unknown: no such tool was on offer.
	Unknown bool `json:"unknown,omitempty"`
	// Problem is why the arguments cannot be used. The model is told.
	Problem string `json:"problem,omitempty"`
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
	// Claim names a destructive call whatever came before it in the run, so that a run that
	// was reset gives it the same name. "" is the IdempotencyKey.
	Claim string `json:"claim,omitempty"`
	// Grant is the approval that has a call made again whose outcome was unknown. A
	// destructive call is made once without, and once for each.
	Grant string `json:"grant,omitempty"`
	// Binding is what was approved. The call is not made where it would go elsewhere by
	// now; it fails with KindChanged. Nil is bound to nothing.
	Binding *Binding `json:"binding,omitempty"`
}

// CallToolResult is a tool's answer. A tool that answers with an error is a
// result too, with IsError set.
type CallToolResult struct {
	Text    Text `json:"text"`
	IsError bool `json:"is_error,omitempty"`
	// Media is what the text only refers to.
	Media []Media `json:"media,omitempty"`
	// Links are the files that the text names and nobody has fetched.
	Links []Link `json:"links,omitempty"`
	// AuthRequired names the server that wants the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
	// Note tells people about the circumstances of the call.
	Note string `json:"note,omitempty"`
}

// DelegateInput sends a message to another agent, or is about the task that came
// of one: without TaskID it starts a task, with TaskID alone it asks how the task
// is, with a Decision it answers what the task asked, with Cancel it ends it.
type DelegateInput struct {
	ConversationID string `json:"conversation_id"`
	SessionID      string `json:"session_id,omitempty"`
	Peer           Peer   `json:"peer"`
	// Chain names the agents through which the work has come, the sender last.
	Chain []string `json:"chain,omitempty"`
	// MessageID is the same in every attempt: the idempotency key.
	MessageID string `json:"message_id"`
	// Arguments are {"message": "…"}; SHA256 must match them.
	Arguments JSON   `json:"arguments,omitzero"`
	SHA256    string `json:"arguments_sha256,omitempty"`
	// TaskID and ContextID are the other agent's.
	TaskID    string `json:"task_id,omitempty"`
	ContextID string `json:"context_id,omitempty"`
	// Decision (Approved or Rejected) answers a task that waits. Asked is what it
	// asked, where it said so in a form for programs, Question the text that was decided
	// on where that has no ID, Content the answer to a question, and By and Reason who
	// decided and what that person said.
	Decision Decision `json:"decision,omitempty"`
	Asked    *Origin  `json:"asked,omitempty"`
	Question Text     `json:"question,omitzero"`
	Content  JSON     `json:"content,omitzero"`
	By       string   `json:"by,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	// Cancel ends the task.
	Cancel bool `json:"cancel,omitempty"`
	// Destructive: the message may have an effect that must not come about twice.
	Destructive bool `json:"destructive,omitempty"`
	// Claim and Grant are those of CallToolInput; "" is the MessageID.
	Claim string `json:"claim,omitempty"`
	Grant string `json:"grant,omitempty"`
}

// DelegateResult is how a remote task is.
type DelegateResult struct {
	State     TaskState `json:"state"`
	TaskID    string    `json:"task_id,omitempty"`
	ContextID string    `json:"context_id,omitempty"`
	// Text is the result, or what the other agent says about its state.
	Text Text `json:"text"`
	// Media are the files of the result.
	Media []Media `json:"media,omitempty"`
	// Asked is what a task that waits wants to have decided, where it says so in a form
	// for programs.
	Asked *Origin `json:"asked,omitempty"`
	// Note tells people about the circumstances of the call.
	Note string `json:"note,omitempty"`
	// NoEntry: the agent wants a login before it says anything, and nothing was heard of
	// the task. The State is TaskAuthRequired then.
	NoEntry bool `json:"no_entry,omitempty"`
}

// DeliveryResult is what a Delivery completes with: how the task is that was told,
// or why the other agent was never told.
type DeliveryResult struct {
	State TaskState `json:"state,omitempty"`
	// Problem is empty when the agent was told.
	Problem string `json:"problem,omitempty"`
}

// ComposeInput makes one text of several: a template with its placeholders
// replaced, or parts a line each.
type ComposeInput struct {
	Template Text   `json:"template,omitzero"`
	Values   State  `json:"values,omitempty"`
	Parts    []Text `json:"parts,omitempty"`
	// Arguments asks for the text as the arguments of a delegation too.
	Arguments bool `json:"arguments,omitempty"`
}

// ComposeResult is the text, and as arguments of a delegation if asked for:
// {"message": text} with its digest.
type ComposeResult struct {
	Text      Text   `json:"text"`
	Arguments JSON   `json:"arguments,omitzero"`
	SHA256    string `json:"arguments_sha256,omitempty"`
}

// ReadAnswerInput asks what somebody has answered to a question whose Schema is not
// in history. Signal is the answer as a "decide" signal has it, Message as a message of
// the conversation; one of them is set.
type ReadAnswerInput struct {
	Schema  JSON   `json:"schema"`
	Signal  string `json:"signal,omitempty"`
	Message string `json:"message,omitempty"`
}

// ReadAnswerResult is the answer. Problem is why it is none, and what is accepted.
type ReadAnswerResult struct {
	Answer  DecideSignal `json:"answer,omitzero"`
	Problem string       `json:"problem,omitempty"`
}

// FoldInput is what grows in a workflow and has to be moved to the blob store.
type FoldInput struct {
	Transcript Transcript `json:"transcript"`
	// Whole: the tail is folded however short it is.
	Whole bool `json:"whole,omitempty"`
	// Texts are stored one by one.
	Texts []Text `json:"texts,omitempty"`
	// Nodes are stored together, behind those of NodesBefore.
	Nodes       []NodeState `json:"nodes,omitempty"`
	NodesBefore *Blob       `json:"nodes_before,omitempty"`
}

// FoldResult says where it is now. Folded is nil when the tail was short enough
// to stay.
type FoldResult struct {
	Folded *Folded `json:"folded,omitempty"`
	Texts  []Text  `json:"texts,omitempty"`
	Nodes  *Blob   `json:"nodes,omitempty"`
}

// ListToolsInput asks a worker for what the gateway must know of it.
// Its zero value asks for the tools.
type ListToolsInput struct {
	Want Wanted `json:"want,omitempty"`
	// Probe is a value that the gateway has put into its blob store. The worker
	// looks for it in its own.
	Probe *Blob `json:"probe,omitempty"`
}

// CatalogueResult is what a worker offers: what was wanted, and what is missing.
// Body holds a Catalogue, a ResourceCatalogue or a PromptCatalogue; a long one
// lives in the blob store.
type CatalogueResult struct {
	Body JSON `json:"body"`
	// Store is nil when no Probe was given, and of a worker that knows of none.
	Store *StoreCheck `json:"store,omitempty"`
}

// StoreCheck reports whether a worker and the gateway that asks share a blob store.
type StoreCheck struct {
	// Own is a value that the worker has put into its store, for the gateway to
	// look for.
	Own Blob `json:"own"`
	// Probe is the gateway's value that the worker looked for: gateways that ask at
	// the same time share an answer. Problem says why it could not be read.
	Probe   Blob   `json:"probe"`
	Problem string `json:"problem,omitempty"`
}

// Catalogue is what a worker offers.
type Catalogue struct {
	Tools   []Tool        `json:"tools"`
	Servers []ServerState `json:"servers"`
	Model   ModelState    `json:"model"`
	// Problems keep the worker from running conversations as its configuration says,
	// beside servers that are not ready. Notes do not.
	Problems []string `json:"problems,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// ErrorAuthentication is the Error of a server that serves only callers who
// authenticate.
const ErrorAuthentication = "authentication is required"

// ServerState reports whether a tool server answers, and if not, why.
type ServerState struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Error string `json:"error,omitempty"`
	Tools int    `json:"tools"`
	// Optional servers may be missing: nobody waits for them.
	Optional bool `json:"optional,omitempty"`
}

// ModelState tells what model answers, and what its users should know.
type ModelState struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

// ExportInput writes a conversation to its file.
type ExportInput struct {
	Conversation ConversationView `json:"conversation"`
	// Tree is for those who watch; it is not written.
	Tree *TreeView `json:"tree,omitempty"`
}

// ExportResult tells what was written. Skipped means that a later version of
// the conversation was there already.
type ExportResult struct {
	Bytes   int64 `json:"bytes,omitempty"`
	Skipped bool  `json:"skipped,omitempty"`
}

// WithdrawInput ends what a workflow run has left that was reset. The activity is run by
// the workflow that came of the reset.
type WithdrawInput struct {
	ConversationID string `json:"conversation_id"`
	// Child is the workflow ID of the only child to be cancelled; "" is all children that
	// the workflow does not wait for.
	Child string `json:"child,omitempty"`
}

// WithdrawResult names the workflows that were cancelled.
type WithdrawResult struct {
	Workflows []string `json:"workflows,omitempty"`
}
