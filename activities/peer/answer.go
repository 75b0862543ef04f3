package peer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// task is a task in every protocol. A message in place of a task is a completed task without an
// ID.
type task struct {
	ID        string     `json:"id"`
	ContextID string     `json:"contextId"`
	Status    status     `json:"status"`
	Artifacts []artifact `json:"artifacts"`
	Artifact  *artifact  `json:"artifact"` // in the old dialect
	History   []message  `json:"history"`
	anew      bool       // the message was to continue a task that the agent does not know
}

type status struct {
	State   state          `json:"state"`
	Message *statusMessage `json:"message"`
}

type message struct {
	Role       string   `json:"role"`
	TaskID     string   `json:"taskId"`
	ContextID  string   `json:"contextId"`
	Parts      []part   `json:"parts"`
	Extensions []string `json:"extensions"`
	Metadata   struct {
		// the value of hitlExtension; other metadata is neither read nor kept
		HITL json.RawMessage `json:"https://kagent.dev/extensions/hitl/v1"`
	} `json:"metadata"`
}

// statusMessage is a message, in the old dialect a text.
type statusMessage struct{ message }

// UnmarshalJSON implements json.Unmarshaler.
func (m *statusMessage) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &m.message)
	}
	var text string
	err := json.Unmarshal(data, &text)
	m.message = message{Role: "agent", Parts: []part{{Text: text}}}
	return err
}

type artifact struct {
	ID    string `json:"artifactId"`
	Parts []part `json:"parts"`
}

// part is a part in every protocol; its kind is given by the fields that are set. Data keeps
// the digits of numbers.
type part struct {
	Text      string          `json:"text"`
	Data      json.RawMessage `json:"data"`
	Raw       string          `json:"raw"` // base64
	URL       string          `json:"url"`
	Filename  string          `json:"filename"`
	MediaType string          `json:"mediaType"`
	File      *struct {       // in 0.3
		Name     string `json:"name"`
		MIMEType string `json:"mimeType"`
		Bytes    string `json:"bytes"`
		URI      string `json:"uri"`
	} `json:"file"`
	joined bool // to the text before it
}

// state is a task's state in the spelling of package contract.
type state contract.TaskState

// UnmarshalJSON implements json.Unmarshaler. States of 1.0 are converted to those of 0.3;
// unknown ones are kept.
func (s *state) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("read a state: %w", err)
	}
	word := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(text, "TASK_STATE_")), "_", "-")
	switch t := contract.TaskState(word); {
	case t == contract.TaskSubmitted:
		*s = state(contract.TaskWorking)
	case t.Over(), t.Running(), t == contract.TaskInputRequired, t == contract.TaskAuthRequired:
		*s = state(t)
	default:
		*s = state(clip(text, 100))
	}
	return nil
}

func (t *task) state() contract.TaskState { return contract.TaskState(t.Status.State) }

// running reports whether the task is still being worked on.
func (t *task) running() bool { return t.state().Running() }

// maxTaskID limits the IDs of tasks and contexts, which are sent with every message.
const maxTaskID = 512

func (t *task) check() error {
	if len(t.ID) > maxTaskID || len(t.ContextID) > maxTaskID {
		return fmt.Errorf("%w: an ID of more than %d bytes", errUnreadable, maxTaskID)
	}
	return nil
}

// mustBe returns an error if the task is not the requested one.
func (t *task) mustBe(id string) error {
	if t.ID != "" && t.ID != id {
		return fmt.Errorf("%w: it is about another task", errUnreadable)
	}
	return nil
}

// mustContinue is mustBe for the answer to a message; without an ID the message has started a
// task.
func (t *task) mustContinue(id string) error {
	if id == "" {
		return nil
	}
	return t.mustBe(id)
}

// event is an item of a stream or the result of a call: a task, a message, or an update of a
// task.
type event struct {
	task     *task
	message  *message
	status   *statusUpdate
	artifact *artifactUpdate
}

type statusUpdate struct {
	TaskID    string `json:"taskId"`
	ContextID string `json:"contextId"`
	Status    status `json:"status"`
}

type artifactUpdate struct {
	TaskID    string   `json:"taskId"`
	ContextID string   `json:"contextId"`
	Artifact  artifact `json:"artifact"`
	Append    bool     `json:"append"`
}

// UnmarshalJSON implements json.Unmarshaler. In 1.0 a key around it says what it is, in
// 0.3 its kind, and in the old dialect it is a task.
func (e *event) UnmarshalJSON(data []byte) error {
	var around struct {
		Kind           string          `json:"kind"`
		Task           *task           `json:"task"`
		Message        json.RawMessage `json:"message"`
		StatusUpdate   *statusUpdate   `json:"statusUpdate"`
		ArtifactUpdate *artifactUpdate `json:"artifactUpdate"`
		Status         json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(data, &around); err != nil {
		return err
	}
	e.task, e.status, e.artifact = around.Task, around.StatusUpdate, around.ArtifactUpdate
	switch {
	case around.Kind == "message":
		return json.Unmarshal(data, &e.message)
	case around.Kind == "status-update":
		return json.Unmarshal(data, &e.status)
	case around.Kind == "artifact-update":
		return json.Unmarshal(data, &e.artifact)
	case around.Kind == "task", len(around.Status) > 0:
		return json.Unmarshal(data, &e.task)
	case len(around.Message) > 0:
		return json.Unmarshal(around.Message, &e.message)
	}
	return nil
}

// add updates the task with an event. whole means that the event was a whole task or message.
// Events about another task are ignored.
func (t *task) add(e event) (whole bool) {
	switch id := e.taskID(); {
	case t.ID != "" && id != "" && id != t.ID:
		return false
	case e.task != nil:
		*t = *e.task
		return true
	case e.message != nil:
		m := *e.message
		*t = task{ID: m.TaskID, ContextID: m.ContextID, Artifacts: []artifact{{Parts: m.Parts}}}
		t.Status.State = state(contract.TaskCompleted)
		return true
	case e.status != nil:
		t.named(e.status.TaskID, e.status.ContextID)
		t.Status = e.status.Status
	case e.artifact != nil:
		t.named(e.artifact.TaskID, e.artifact.ContextID)
		t.put(*e.artifact)
	}
	return false
}

// taskID returns the ID of the task that an event refers to, or "".
func (e event) taskID() string {
	switch {
	case e.task != nil:
		return e.task.ID
	case e.message != nil:
		return e.message.TaskID
	case e.status != nil:
		return e.status.TaskID
	case e.artifact != nil:
		return e.artifact.TaskID
	}
	return ""
}

func (t *task) named(id, context string) {
	if id != "" {
		t.ID = id
	}
	if context != "" {
		t.ContextID = context
	}
	if t.Status.State == "" {
		t.Status.State = state(contract.TaskWorking)
	}
}

// put adds or replaces an artifact. Appended text continues the last text part.
func (t *task) put(u artifactUpdate) {
	i := slices.IndexFunc(t.Artifacts, func(a artifact) bool { return a.ID == u.Artifact.ID })
	switch {
	case i < 0:
		t.Artifacts = append(t.Artifacts, u.Artifact)
		return
	case !u.Append:
		t.Artifacts[i] = u.Artifact
		return
	}
	a, more := &t.Artifacts[i], u.Artifact.Parts
	if n := len(a.Parts); n > 0 && len(more) > 0 && a.Parts[n-1].isText() && more[0].isText() {
		more[0].joined = true
	}
	a.Parts = append(a.Parts, more...)
}
