package protocol

import (
	"fmt"

	a2alegacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// The SDK's types without their methods, so that their members can be replaced.
type (
	plainTaskV03         a2alegacy.Task
	plainStatusUpdateV03 a2alegacy.TaskStatusUpdateEvent
)

type (
	taskV03 struct {
		Kind string `json:"kind"`
		plainTaskV03
		Status   status[a2alegacy.Message] `json:"status"`
		Metadata map[string]any            `json:"metadata,omitempty"`
	}
	statusUpdateV03 struct {
		Kind string `json:"kind"`
		plainStatusUpdateV03
		Status status[a2alegacy.Message] `json:"status"`
	}
)

// eventV03 converts all events but tasks, which result converts.
func eventV03(event a2a.Event) (any, error) {
	switch e := event.(type) {
	case *a2a.Message:
		return withPartsV03(a2av0.FromV1Message(e)), nil
	case *a2a.TaskStatusUpdateEvent:
		return newStatusUpdateV03(e), nil
	case *a2a.TaskArtifactUpdateEvent:
		return newArtifactUpdateV03(e), nil
	}
	return nil, fmt.Errorf("nothing writes an event %T", event)
}

func newTaskV03(t *a2a.Task) *taskV03 {
	old := a2av0.FromV1Task(t)
	each(old.History, withPartsV03)
	each(old.Artifacts, artifactWithPartsV03)
	return &taskV03{
		Kind: "task", plainTaskV03: plainTaskV03(*old), Metadata: publicMetadata(t.Metadata),
		Status: newStatus(t.Status, stateNameV03(t.Status.State), withPartsV03(old.Status.Message)),
	}
}

// newStatusUpdateV03 sets final on states that end the stream. The SDK does not set it for
// auth-required.
func newStatusUpdateV03(e *a2a.TaskStatusUpdateEvent) *statusUpdateV03 {
	old := a2av0.FromV1TaskStatusUpdateEvent(e)
	old.Final = old.Final || e.Status.State == a2a.TaskStateAuthRequired
	return &statusUpdateV03{
		Kind: "status-update", plainStatusUpdateV03: plainStatusUpdateV03(*old),
		Status: newStatus(e.Status, stateNameV03(e.Status.State), withPartsV03(old.Status.Message)),
	}
}

func newArtifactUpdateV03(e *a2a.TaskArtifactUpdateEvent) *a2alegacy.TaskArtifactUpdateEvent {
	old := a2av0.FromV1TaskArtifactUpdateEvent(e)
	artifactWithPartsV03(old.Artifact)
	return old
}

func stateNameV03(s a2a.TaskState) string {
	if state := a2av0.FromV1TaskState(s); state != "" {
		return string(state)
	}
	return "unknown"
}

// withPartsV03 replaces nil parts, which the conversions leave and the SDK encodes as null.
func withPartsV03(m *a2alegacy.Message) *a2alegacy.Message {
	if m != nil && m.Parts == nil {
		m.Parts = a2alegacy.ContentParts{}
	}
	return m
}

func artifactWithPartsV03(a *a2alegacy.Artifact) *a2alegacy.Artifact {
	if a != nil && a.Parts == nil {
		a.Parts = a2alegacy.ContentParts{}
	}
	return a
}
