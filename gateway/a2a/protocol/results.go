package protocol

import (
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// instant is a time in the format of A2A: UTC, with milliseconds.
type instant time.Time

func (t instant) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// status replaces the SDK's status, which has no fixed time format.
type status[M any] struct {
	State     string   `json:"state"`
	Message   *M       `json:"message,omitempty"`
	Timestamp *instant `json:"timestamp,omitempty"`
}

// The SDK's types, with fields that replace members encoded differently.
type (
	taskV10 struct {
		*a2a.Task
		Status    status[a2a.Message] `json:"status"`
		History   []*a2a.Message      `json:"history,omitempty"`
		Artifacts []*a2a.Artifact     `json:"artifacts,omitempty"`
		Metadata  map[string]any      `json:"metadata,omitempty"`
	}
	statusUpdateV10 struct {
		*a2a.TaskStatusUpdateEvent
		Status status[a2a.Message] `json:"status"`
	}
	artifactUpdateV10 struct {
		*a2a.TaskArtifactUpdateEvent
		Artifact *a2a.Artifact `json:"artifact"`
	}
)

// streamV10 is 1.0's StreamResponse. Exactly one member is set.
type streamV10 struct {
	Task           *taskV10           `json:"task,omitempty"`
	Message        *a2a.Message       `json:"message,omitempty"`
	StatusUpdate   *statusUpdateV10   `json:"statusUpdate,omitempty"`
	ArtifactUpdate *artifactUpdateV10 `json:"artifactUpdate,omitempty"`
}

type page[T any] struct {
	Tasks         []T    `json:"tasks"`
	TotalSize     int    `json:"totalSize"`
	PageSize      int    `json:"pageSize"`
	NextPageToken string `json:"nextPageToken"`
}

// result converts a Handler's result to the JSON form of a dialect.
func result(d Dialect, v any) (any, error) {
	switch v := v.(type) {
	case *a2a.AgentCard:
		return document(d, v)
	case Event:
		return eventOf(d, v.Event)
	case *a2a.Task:
		switch d {
		case V10:
			return newTaskV10(v), nil
		case Old:
			return newOldTask(v), nil
		}
		return newTaskV03(v), nil
	}
	if d == V10 {
		return resultV10(v)
	}
	return resultV03(v)
}

func resultV10(v any) (any, error) {
	switch v := v.(type) {
	case *a2a.ListTasksResponse:
		return page[*taskV10]{each(v.Tasks, newTaskV10), v.TotalSize, v.PageSize, v.NextPageToken}, nil
	case *a2a.ListTaskPushConfigResponse:
		return a2a.ListTaskPushConfigResponse{Configs: nonNil(v.Configs), NextPageToken: v.NextPageToken}, nil
	case *a2a.PushConfig, noResult:
		return v, nil
	}
	return nil, fmt.Errorf("nothing writes a %T in 1.0", v)
}

func resultV03(v any) (any, error) {
	switch v := v.(type) {
	case *a2a.ListTasksResponse:
		return page[*taskV03]{each(v.Tasks, newTaskV03), v.TotalSize, v.PageSize, v.NextPageToken}, nil
	case *a2a.ListTaskPushConfigResponse:
		return nonNil(a2av0.FromV1PushConfigs(v.Configs)), nil
	case *a2a.PushConfig:
		return a2av0.FromV1PushConfig(v), nil
	case noResult:
		return nil, nil
	}
	return nil, fmt.Errorf("nothing writes a %T in 0.3", v)
}

func eventOf(d Dialect, event a2a.Event) (any, error) {
	if task, ok := event.(*a2a.Task); ok && d != V10 {
		return result(d, task)
	}
	if d == V10 {
		return eventV10(event)
	}
	return eventV03(event)
}

func eventV10(event a2a.Event) (any, error) {
	switch e := event.(type) {
	case *a2a.Task:
		return streamV10{Task: newTaskV10(e)}, nil
	case *a2a.Message:
		return streamV10{Message: withParts(e)}, nil
	case *a2a.TaskStatusUpdateEvent:
		now := newStatus(e.Status, string(e.Status.State), withParts(e.Status.Message))
		return streamV10{StatusUpdate: &statusUpdateV10{e, now}}, nil
	case *a2a.TaskArtifactUpdateEvent:
		return streamV10{ArtifactUpdate: &artifactUpdateV10{e, artifactWithParts(e.Artifact)}}, nil
	}
	return nil, fmt.Errorf("nothing writes an event %T", event)
}

func newTaskV10(t *a2a.Task) *taskV10 {
	out := &taskV10{Task: t, Metadata: publicMetadata(t.Metadata)}
	out.Status = newStatus(t.Status, string(t.Status.State), withParts(t.Status.Message))
	if len(t.History) > 0 {
		out.History = each(t.History, withParts)
	}
	if len(t.Artifacts) > 0 {
		out.Artifacts = each(t.Artifacts, artifactWithParts)
	}
	return out
}

func newStatus[M any](s a2a.TaskStatus, state string, message *M) status[M] {
	out := status[M]{State: state, Message: message}
	if s.Timestamp != nil {
		t := instant(*s.Timestamp)
		out.Timestamp = &t
	}
	return out
}

// withParts replaces nil parts, which the SDK encodes as null.
func withParts(m *a2a.Message) *a2a.Message {
	if m == nil || m.Parts != nil {
		return m
	}
	out := *m
	out.Parts = a2a.ContentParts{}
	return &out
}

func artifactWithParts(a *a2a.Artifact) *a2a.Artifact {
	if a == nil || a.Parts != nil {
		return a
	}
	out := *a
	out.Parts = a2a.ContentParts{}
	return &out
}

// publicMetadata returns metadata without our internal key.
func publicMetadata(m map[string]any) map[string]any {
	if _, ok := m[MetadataDialect]; !ok {
		return m
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		if k != MetadataDialect {
			out[k] = v
		}
	}
	return out
}

func each[T, R any](in []T, f func(T) R) []R {
	out := make([]R, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// nonNil returns an empty list for nil, which would be encoded as null.
func nonNil[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
