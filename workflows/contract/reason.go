package contract

// Reason says why a call waits for a human.
type Reason string

// The reasons.
const (
	// ReasonDestructive means that the tool may change or destroy data, or that a rule asks.
	ReasonDestructive Reason = "destructive"
	// ReasonUnknownOutcome means that a destructive call was sent and its answer lost.
	// Approving runs it again, rejecting continues without a result. Approving with content of
	// UnknownOutcomeSchema may say instead that it did run.
	ReasonUnknownOutcome Reason = "unknown_outcome"
	// ReasonNotReached means that an approved call repeatedly did not reach its server.
	// Approving tries again, rejecting continues without a result.
	ReasonNotReached Reason = "not_reached"
	// ReasonChanged means that the server or the tool of an approved call has changed.
	// Approving makes the call there, rejecting continues without a result.
	ReasonChanged Reason = "changed"
	// ReasonRemote means that an agent that work was delegated to asks for an approval.
	ReasonRemote Reason = "remote"
	// ReasonQuestion means that the tool server asks a question during the call. Package answer
	// parses the answer.
	ReasonQuestion Reason = "question"
	// ReasonLimit means that a limit of the agent is reached. Approving grants the same amount
	// again, repeatedly if needed; rejecting ends the turn. The tool is ToolGoOn, and nothing
	// is called.
	ReasonLimit Reason = "limit"
	// ReasonPaused means that a switch pauses the call; see package switches. The approval ends
	// by itself after the resume. It can be rejected, and not approved.
	ReasonPaused Reason = "paused"
	// ReasonLogin means that the call needs a token which only a person can get; see package
	// login. The approval ends when the person has logged in. It can be rejected, and approved
	// in no other way.
	ReasonLogin Reason = "login"
	// ReasonClientTool means that the sender of the message has to execute the call. Its result
	// is the content of the answer (package clienttool); rejecting tells the model that it was not executed.
	ReasonClientTool Reason = "client_tool"
)

// UnknownOutcomeSchema is the Schema of an approval with ReasonUnknownOutcome. The content of
// its answer is an optional UnknownOutcomeAnswer.
const UnknownOutcomeSchema = `{"type":"object","properties":{"outcome":{"type":"string","enum":["ran","not_run"]},"result":{"type":"string"}},"dependentRequired":{"result":["outcome"]}}`

// UnknownOutcomeAnswer is a person's answer about a call whose own answer was lost.
type UnknownOutcomeAnswer struct {
	// Outcome "" means OutcomeNotRun: approving alone runs the call again.
	Outcome RunOutcome `json:"outcome,omitempty"`
	// Result is the known part of the call's result; for OutcomeRan.
	Result string `json:"result,omitempty"`
}

// RunOutcome is whether a call ran.
type RunOutcome string

// The outcomes.
const (
	OutcomeRan    RunOutcome = "ran"
	OutcomeNotRun RunOutcome = "not_run"
)

// RepeatsGrant reports whether the approval is about a call that has been approved before.
func (r Reason) RepeatsGrant() bool {
	return r == ReasonUnknownOutcome || r == ReasonNotReached || r == ReasonChanged
}

// Answered reports whether an approval with this reason needs content besides the decision.
func (r Reason) Answered() bool { return r == ReasonQuestion || r == ReasonClientTool }

// ToolGoOn is the tool that an approval with ReasonLimit names.
const ToolGoOn = "go_on"
