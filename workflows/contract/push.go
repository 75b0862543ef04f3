package contract

import "time"

// Versions of A2A by which a webhook may want to be notified.
const (
	PushProtocol1  = "1.0"
	PushProtocol03 = "0.3"
)

// MaxPushConfigs is how many webhooks a task may notify. A signal that sets another
// one is ignored.
const MaxPushConfigs = 10

// PushConfig is a webhook that is told how a task fares (signal "set"). One with the ID
// of another takes its place.
type PushConfig struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	// Token and Credentials are sealed for PushSeal (package credential).
	Token       string `json:"token,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Credentials string `json:"credentials,omitempty"`
	// Protocol is PushProtocol1 or PushProtocol03; "" is the former.
	Protocol string `json:"protocol,omitempty"`
}

// PushDelete takes a webhook away (signal "delete").
type PushDelete struct {
	ID string `json:"id"`
}

// PushState is the state that a task has come to (signal "task"). States are told in
// order. The last one may be repeated.
type PushState struct {
	State TaskState `json:"state"`
	// Version is that of the conversation.
	Version   int64     `json:"version"`
	ContextID string    `json:"context_id,omitempty"`
	At        time.Time `json:"at"`
}

// PushInput starts a Push. The workflow ID is PushWorkflowID(ConversationID).
type PushInput struct {
	ConversationID string `json:"conversation_id"`
	// Coming: the conversation starts after this and tells its state by itself.
	Coming bool `json:"coming,omitempty"`
	// Carried is what a continued run takes over from the run before it.
	Carried *PushCarried `json:"carried,omitempty"`
}

// PushCarried is the state that survives continue-as-new.
type PushCarried struct {
	Targets []PushTarget `json:"targets,omitempty"`
	// Last is what the task has told last.
	Last *PushState `json:"last,omitempty"`
	// Gone: the conversation's workflow has ended and tells nothing any more.
	Gone bool `json:"gone,omitempty"`
	// Seq counts notifications.
	Seq int `json:"seq,omitempty"`
	// EndsAt is when the workflow ends unless there is news.
	EndsAt time.Time `json:"ends_at,omitzero"`
}

// PushTarget is a webhook and what it is still to be told, oldest first.
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

// PushOutcome is what a notification came to. Why is empty for one that arrived.
type PushOutcome struct {
	State TaskState `json:"state"`
	At    time.Time `json:"at"`
	Why   string    `json:"why,omitempty"`
}

// PushView is the answer to the query "push_configs", in the order in which they
// were set.
type PushView struct {
	Configs []PushConfig `json:"configs"`
	// State is what the task has told last. It is empty until the first news.
	State TaskState `json:"state,omitempty"`
	// Long: the run is about to continue as new. It needs no more signals before that.
	Long bool `json:"long,omitempty"`
}

// PushResult is what a Push workflow completes with.
type PushResult struct {
	ConversationID string `json:"conversation_id"`
	// Notifications counts those that were to be delivered.
	Notifications int `json:"notifications"`
}

// NotifyInput delivers one notification to one webhook.
type NotifyInput struct {
	ID             string     `json:"id"`
	ConversationID string     `json:"conversation_id"`
	Config         PushConfig `json:"config"`
	State          PushState  `json:"news"`
}

// NotifyResult is what the webhook answered. Gone: it wants no more notifications.
type NotifyResult struct {
	Status int  `json:"status"`
	Gone   bool `json:"gone,omitempty"`
}
