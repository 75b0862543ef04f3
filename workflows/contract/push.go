package contract

import "time"

// Versions of A2A for notifications.
const (
	PushProtocol1  = "1.0"
	PushProtocol03 = "0.3"
)

// MaxPushConfigs bounds the webhooks of a task. A signal that sets another one is ignored.
const MaxPushConfigs = 10

// PushConfig is a webhook that is called with the states of a task (signal "set"). It replaces
// one with the same ID.
type PushConfig struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	// Token and Credentials are sealed for PushSeal (package credential).
	Token       string `json:"token,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Credentials string `json:"credentials,omitempty"`
	// Protocol is PushProtocol1, the default, or PushProtocol03.
	Protocol string `json:"protocol,omitempty"`
}

// PushDelete deletes a webhook (signal "delete").
type PushDelete struct {
	ID string `json:"id"`
}

// PushState is a new state of a task (signal "task"). States are sent in order. The last one
// may be repeated.
type PushState struct {
	State TaskState `json:"state"`
	// Version is the version of the conversation.
	Version   int64     `json:"version"`
	ContextID string    `json:"context_id,omitempty"`
	At        time.Time `json:"at"`
}

// PushInput starts a Push. The workflow ID is PushWorkflowID(ConversationID).
type PushInput struct {
	ConversationID string `json:"conversation_id"`
	// Coming means that the conversation starts later and signals its state by itself.
	Coming bool `json:"coming,omitempty"`
	// Carried is the state of the previous run.
	Carried *PushCarried `json:"carried,omitempty"`
}

// PushCarried is the state that survives continue-as-new.
type PushCarried struct {
	Targets []PushTarget `json:"targets,omitempty"`
	// Last is the last state of the task.
	Last *PushState `json:"last,omitempty"`
	// Gone means that the conversation's workflow has ended and sends no more states.
	Gone bool `json:"gone,omitempty"`
	// Seq counts notifications.
	Seq int `json:"seq,omitempty"`
	// EndsAt is the time at which the workflow ends unless there is a new state.
	EndsAt time.Time `json:"ends_at,omitzero"`
}

// PushTarget is a webhook and its undelivered notifications, oldest first.
type PushTarget struct {
	Config PushConfig `json:"config"`
	Queue  []PushItem `json:"queue,omitempty"`
	// Delivered and Failed are the latest ones.
	Delivered *PushOutcome `json:"delivered,omitempty"`
	Failed    *PushOutcome `json:"failed,omitempty"`
}

// PushItem is one notification of one webhook. ID is the same in every attempt.
type PushItem struct {
	ID    string    `json:"id"`
	State PushState `json:"news"`
	Since time.Time `json:"since"`
}

// PushOutcome is the outcome of a notification. Why is empty if it was delivered.
type PushOutcome struct {
	State TaskState `json:"state"`
	At    time.Time `json:"at"`
	Why   string    `json:"why,omitempty"`
}

// PushView is the answer to the query "push_configs", in the order in which the webhooks were
// set.
type PushView struct {
	Configs []PushConfig `json:"configs"`
	// State is the last state of the task, empty until there is one.
	State TaskState `json:"state,omitempty"`
	// Long means that the run is about to continue as new and should get no more signals before
	// that.
	Long bool `json:"long,omitempty"`
}

// PushResult is the result of a Push workflow.
type PushResult struct {
	ConversationID string `json:"conversation_id"`
	// Notifications counts the notifications that were to be delivered.
	Notifications int `json:"notifications"`
}

// NotifyInput delivers one notification to one webhook.
type NotifyInput struct {
	ID             string     `json:"id"`
	ConversationID string     `json:"conversation_id"`
	Config         PushConfig `json:"config"`
	State          PushState  `json:"news"`
}

// NotifyResult is the webhook's answer. Gone means that it wants no more notifications.
type NotifyResult struct {
	Status int  `json:"status"`
	Gone   bool `json:"gone,omitempty"`
}
