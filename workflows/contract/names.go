package contract

// Registered names. People type the signals and queries, so they are
// imperatives and nouns; see `temporal workflow signal --name decide`.
const (
	WorkflowConversation = "Conversation"
	WorkflowApproval     = "Approval"
	WorkflowCatalogue    = "Catalogue"
	WorkflowSequential   = "Sequential"
	WorkflowParallel     = "Parallel"
	WorkflowLoop         = "Loop"
	WorkflowPush         = "Push"
	WorkflowDelivery     = "Delivery"

	SignalMessage = "message"
	SignalCancel  = "cancel"
	SignalClose   = "close"
	SignalDecide  = "decide"
	SignalReport  = "report" // from nodes to their conversation
	// SignalQuestion comes from the activity that calls a tool.
	SignalQuestion = "question"
	// SignalFollow asks a conversation to signal its states to PushWorkflowID, the current one
	// at once. It has no argument.
	SignalFollow = "follow"
	// The signals of a Push; SignalTask comes from its conversation.
	SignalSet    = "set"
	SignalDelete = "delete"
	SignalTask   = "task"

	QueryConversation = "conversation"
	QueryPending      = "pending"
	QueryApproval     = "approval"
	QueryTree         = "tree"
	QueryPushConfigs  = "push_configs"

	UpdateAwaitSettled = "await_settled"
	// UpdateDecide decides an Approval. Its argument is a DecideSignal, its result the
	// ApprovalResult without credential and content. It is refused with KindDecided if another
	// decision counts, with KindInvalid if the approval does not take the answer, and with
	// KindForbidden if its identity is not proven or may not decide.
	UpdateDecide = "decide"
)

// DefaultTaskQueue is where workflows and activities run unless the
// configuration names another.
const DefaultTaskQueue = "agent-stop-and-go"

// Search attributes. None of them ever holds text that a user wrote.
const (
	AttrAgentName          = "AgentName"
	AttrConversationID     = "ConversationId"
	AttrConversationStatus = "ConversationStatus"
	AttrSessionID          = "SessionId"
	AttrToolName           = "ToolName"
	AttrPendingSince       = "PendingSince"
	AttrConfigHash         = "ConfigHash"
	// AttrAgentOwner is the Key of the conversation's owner, also of an Approval. It is absent
	// if the owner is not known.
	AttrAgentOwner = "AgentOwner"
	// AttrAgentGroups is the GroupKeys of the conversation's owner, also of an Approval: a list. It
	// is absent without groups that share conversations.
	AttrAgentGroups = "AgentGroups"
	// Search attributes of tasks.
	AttrContextID = "ContextId"
	AttrTaskState = "TaskState"
)

// MemoCreatedAt is the memo key with the time a conversation was created
// (RFC 3339). A continued run starts later than its conversation did.
const MemoCreatedAt = "created_at"

// The memo keys of a conversation in lists: its Title, and the time of its last change (RFC
// 3339), to the minute. A run's start and end count as changes too.
const (
	MemoTitle     = "title"
	MemoUpdatedAt = "updated_at"
)

// MemoCard is the memo key of an Approval with its Card.
const MemoCard = "card"

// MemoSchema is the memo key of an Approval that is a question: the schema of its answer.
const MemoSchema = "schema"

// MemoApprovers is the memo key of an Approval with the rules of who may decide it; see package
// approvers.
const MemoApprovers = "approvers"

// MemoCallAs is the memo key of an Approval with the agent's CallAs, which says whether a token
// that comes with the decision is used. Approvals opened by older workers have none.
const MemoCallAs = "call_as"

// LogDecision is the message of the log line about the end of an approval. Log filters for
// Temporal's messages let it pass.
const LogDecision = "approval decided"

// Activity names an activity and fixes the types of its input and result. Workflows call by
// this reference and the worker binds it to a method, so a wrong signature does not compile on
// either side.
type Activity[In, Out any] struct{ Name string }

// The activities.
var (
	ActivityGenerate  = Activity[GenerateInput, GenerateResult]{"generate"}
	ActivitySummarize = Activity[SummarizeInput, SummarizeResult]{"digest"}
	ActivityCallTool  = Activity[CallToolInput, CallToolResult]{"call_tool"}
	ActivityListTools = Activity[ListToolsInput, CatalogueResult]{"list_tools"}
	ActivityDelegate  = Activity[DelegateInput, DelegateResult]{"delegate"}
	ActivityCompose   = Activity[ComposeInput, ComposeResult]{"compose"}
	ActivityOffload   = Activity[OffloadInput, OffloadResult]{"fold"}
	ActivityExport    = Activity[ExportInput, ExportResult]{"export_conversation"}
	ActivityNotify    = Activity[NotifyInput, NotifyResult]{"notify"}

	ActivityWithdraw   = Activity[WithdrawInput, WithdrawResult]{"withdraw"}
	ActivityReadAnswer = Activity[ReadAnswerInput, ReadAnswerResult]{"read_answer"}
)

// IdempotencyMetaKey is the key in a tool call's MCP `_meta` with the call's idempotency key.
const IdempotencyMetaKey = "agent-stop-and-go/idempotency-key"

// IdempotencyCapability is the experimental MCP capability with which a server declares that it
// runs a call once for each idempotency key.
const IdempotencyCapability = "agent-stop-and-go/idempotency"

// IdempotentMessages is the A2A extension with which an agent declares on its card that it
// handles a message once for each message ID, and one answer to each request.
const IdempotentMessages = "urn:agent-stop-and-go:idempotent-messages:v1"

// ApprovalParts is the A2A extension with which an agent declares on its card that its tasks
// ask with an ApprovalRequest in a data part and are answered with one.
const ApprovalParts = "urn:agent-stop-and-go:approval-parts:v1"
