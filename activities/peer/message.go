package peer

import (
	"encoding/json"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
)

// Message starts a task with Text. With a TaskID it is about that task: it asks for its state,
// answers it with a Decision, or ends it with Cancel.
type Message struct {
	Peer      contract.Peer
	MessageID string
	Text      string
	TaskID    string
	ContextID string
	// Continues is what the task that is started continues. An agent that does not know it any
	// more gets the message without it.
	Continues *delegation.Point
	Decision  contract.Decision
	// Renews means that the Decision is a yes to a task that waits for the Bearer.
	Renews bool
	// Asked is the structured question of the task, if it had one. Content is the answer to a
	// question, By the person who decided, and Reason why.
	Asked   *contract.Origin
	Content json.RawMessage
	By      string
	Reason  string
	Cancel  bool
	// Question is the text that was decided on, if the task's question has no ID.
	Question string
	// Repeated means that an earlier attempt ended without a report, so the message may have
	// arrived.
	Repeated bool
	// Destructive means that the message must not be carried out twice.
	Destructive bool
	// Chain names the agents that have delegated the work, ours last.
	Chain []string
	// Bearer and SessionID become headers.
	Bearer    string
	SessionID string
}

// Reply is the state of the task.
type Reply struct {
	State     contract.TaskState
	TaskID    string
	ContextID string
	// Text is the result, or the agent's message about the state.
	Text string
	// Files are the files of the result.
	Files []File
	// Asked is the structured question of a task with TaskInputRequired, if it has one.
	Asked *contract.ApprovalRequest
	// Anew means that the agent did not know any more what the task was to continue.
	Anew bool
	// Challenges are the WWW-Authenticate headers of an agent that has refused the request
	// because of its token: the State is TaskAuthRequired, and there is no task.
	Challenges []string
}

// File is a file of a result: its Data, or a URL to download it from.
type File struct {
	Name     string
	MIMEType string
	Data     []byte
	URL      string
}

// Error is the error of a message that was not delivered, or not accepted.
type Error struct {
	// Kind is KindPeerUnavailable or KindPeerFailed, or KindOutcomeUnknown for a
	// destructive message that may have been carried out.
	Kind contract.Kind
	// Message is one plain sentence.
	Message string
	// RetryAfter is the wait that the agent asked for, or zero.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return e.Message }
