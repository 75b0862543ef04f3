package task

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Source is the state of a conversation from which a task is made.
type Source struct {
	record.State
	Agent string
	// Media returns the URL of a file's bytes.
	Media func(contract.Media) string
}

// NewSource returns the source for a state. base is the gateway's public URL without a slash
// at the end.
func NewSource(s record.State, agent contract.Agent, base string) Source {
	return Source{State: s, Agent: agent.Name, Media: func(m contract.Media) string {
		return base + "/conversations/" + s.View.ID + "/media/" + m.SHA256
	}}
}

func (s Source) pending() []contract.PendingApproval { return s.Document.PendingApprovals }

// MetadataURI is the key, in the metadata of a file, of the URI that a tool server gave with
// the bytes. Clients may not be able to reach that URI.
const MetadataURI = "agent-stop-and-go/uri"

// Shape selects the parts and the form of a task.
type Shape struct {
	// History is the number of newest messages to include; nil includes all.
	History     *int
	NoArtifacts bool
	// HITL: waiting approvals are shown with the kagent extension.
	HITL bool
	// Plain: waiting approvals are shown as text only.
	Plain bool
	// Hint is shown to a client whose answer was not understood.
	Hint string
}

var states = map[contract.TaskState]a2a.TaskState{
	contract.TaskSubmitted:     a2a.TaskStateSubmitted,
	contract.TaskWorking:       a2a.TaskStateWorking,
	contract.TaskInputRequired: a2a.TaskStateInputRequired,
	contract.TaskAuthRequired:  a2a.TaskStateAuthRequired,
	contract.TaskCompleted:     a2a.TaskStateCompleted,
	contract.TaskFailed:        a2a.TaskStateFailed,
	contract.TaskCanceled:      a2a.TaskStateCanceled,
	contract.TaskRejected:      a2a.TaskStateRejected,
}

// StateNamed returns the state with an A2A 1.0 name; ok is false for an unknown name.
func StateNamed(name a2a.TaskState) (s contract.TaskState, ok bool) {
	for s, n := range states {
		if n == name {
			return s, true
		}
	}
	return "", false
}

// Task returns the whole task.
func (s Source) Task(o Shape) *a2a.Task {
	t := &a2a.Task{
		ID: s.id(), ContextID: s.context(), Status: s.status(o), History: s.history(o.History),
	}
	if !o.NoArtifacts {
		t.Artifacts = s.artifacts()
	}
	return t
}

func (s Source) id() a2a.TaskID { return a2a.TaskID(s.View.ID) }

// context is the conversation's context ID. A conversation without one is its own context.
func (s Source) context() string { return cmp.Or(s.View.ContextID, s.View.ID) }

func (s Source) status(o Shape) a2a.TaskStatus {
	state := s.View.TaskState()
	at := s.View.UpdatedAt
	status := a2a.TaskStatus{State: states[state], Timestamp: stamp(at)}
	waits := state == contract.TaskInputRequired || state == contract.TaskAuthRequired
	if waits && len(s.pending()) > 0 {
		status.Message = s.ask(o)
		return status
	}
	switch state {
	case contract.TaskAuthRequired, contract.TaskFailed, contract.TaskRejected, contract.TaskCanceled:
		if s.Response != "" {
			status.Message = s.say("status "+string(state), a2a.NewTextPart(s.Response))
		}
	}
	return status
}

func stamp(at time.Time) *time.Time {
	at = at.UTC()
	return &at
}

// say returns a message of the agent. Its ID is derived from subject, so the same subject
// always has the same ID.
func (s Source) say(subject string, parts ...*a2a.Part) *a2a.Message {
	return &a2a.Message{
		ID: contract.NameUUID(s.View.ID, subject), Role: a2a.MessageRoleAgent, Parts: parts, TaskID: s.id(), ContextID: s.context(),
	}
}

// history returns the newest messages of the user and the agent, including requests for
// approvals and decisions. Tool calls are internal and left out.
func (s Source) history(limit *int) []*a2a.Message {
	var out []*a2a.Message
	for _, m := range s.Messages {
		if shown := s.message(m); shown != nil {
			out = append(out, shown)
		}
	}
	if limit != nil && len(out) > *limit {
		out = slices.Clone(out[len(out)-*limit:])
	}
	return out
}

func (s Source) message(m contract.Message) *a2a.Message {
	if m.ToolCall != nil || m.Role != contract.RoleUser && m.Role != contract.RoleAssistant {
		return nil
	}
	out := &a2a.Message{ID: cmp.Or(m.DraftID, m.ID), Role: a2a.MessageRoleAgent, TaskID: s.id(), ContextID: s.context()}
	if m.Role == contract.RoleUser {
		out.Role = a2a.MessageRoleUser
	} else {
		out.ID = m.ID
	}
	if m.Content.Inline != "" {
		out.Parts = append(out.Parts, a2a.NewTextPart(m.Content.Inline))
	}
	out.Parts = append(out.Parts, s.files(m.Media)...)
	if len(out.Parts) == 0 {
		return nil
	}
	return out
}

func (s Source) files(media []contract.Media) []*a2a.Part {
	var parts []*a2a.Part
	for _, m := range media {
		p := a2a.NewFileURLPart(a2a.URL(s.Media(m)), m.MIMEType)
		p.Filename = m.FileName()
		if uri := m.URI(); uri != "" {
			p.Metadata = map[string]any{MetadataURI: uri}
		}
		parts = append(parts, p)
	}
	return parts
}

// linkParts returns links as file parts. Nothing checks that the client can reach the URLs.
func linkParts(links []contract.Link) []*a2a.Part {
	var parts []*a2a.Part
	for _, l := range links {
		p := a2a.NewFileURLPart(a2a.URL(l.URI), l.MIMEType)
		p.Filename = l.FileName()
		parts = append(parts, p)
	}
	return parts
}

// artifacts returns the result of the last turn.
func (s Source) artifacts() []*a2a.Artifact {
	if a := s.artifact(); a != nil {
		return []*a2a.Artifact{a}
	}
	return nil
}

func (s Source) artifact() *a2a.Artifact {
	if s.View.TaskState() != contract.TaskCompleted {
		return nil
	}
	a := &a2a.Artifact{
		ID: a2a.ArtifactID(contract.NameUUID(s.View.ID, fmt.Sprintf("response %d", s.View.Last.Turn))), Name: "response",
	}
	if s.Response != "" {
		a.Parts = append(a.Parts, a2a.NewTextPart(s.Response))
	}
	if data, ok := object(s.Response); ok {
		a.Parts = append(a.Parts, a2a.NewDataPart(data))
	}
	a.Parts = append(a.Parts, s.toolFiles()...)
	if len(a.Parts) == 0 {
		a.Parts = a2a.ContentParts{a2a.NewTextPart("")}
	}
	return a
}

// object parses a response that is a JSON object, as agents with an output schema give.
func object(text string) (map[string]any, bool) {
	if !strings.HasPrefix(text, "{") {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var data map[string]any
	if dec.Decode(&data) != nil || dec.More() {
		return nil, false
	}
	return data, true
}

// toolFiles returns the files and links that tools returned in the last turn.
func (s Source) toolFiles() []*a2a.Part {
	var out []*a2a.Part
	for _, m := range slices.Backward(s.Messages) {
		if m.Role == contract.RoleUser && !m.Notice {
			break
		}
		if c := m.ToolCall; m.Role == contract.RoleTool && c != nil {
			out = slices.Concat(s.files(c.Media), linkParts(c.Links), out)
		}
	}
	return out
}
