package protocol

import (
	"errors"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The dialect of this project's predecessor shares its methods with 0.3. Its parts have a
// "type" where those of 0.3 have a "kind", and a taskId beside the message continues a task.
// Its replies have one artifact and a text as status message.

var (
	errNoText  = a2a.NewError(a2a.ErrInvalidParams, "No text part in message")
	errNoParts = a2a.NewError(a2a.ErrInvalidParams, "No text part in message: parts is empty")
)

type (
	oldPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	oldArtifact struct {
		Parts []oldPart `json:"parts"`
	}
	oldStatus struct {
		State   string `json:"state"`
		Message string `json:"message,omitempty"`
	}
	oldTask struct {
		ID       a2a.TaskID   `json:"id"`
		Status   oldStatus    `json:"status"`
		Artifact *oldArtifact `json:"artifact,omitempty"`
	}
)

// showsOld reports whether a request can only be of the old dialect.
func showsOld(method string, params any) bool {
	p, _ := params.(map[string]any)
	if method != methodSendV03 || p == nil {
		return false
	}
	if id := p["taskId"]; id != nil && id != "" {
		return true
	}
	message, _ := p["message"].(map[string]any)
	parts, ok := message["parts"].([]any)
	if ok && len(parts) == 0 && message["kind"] == nil && message["messageId"] == nil {
		return true
	}
	for _, part := range parts {
		fields, _ := part.(map[string]any)
		if _, typed := fields["type"].(string); typed && fields["kind"] == nil {
			return true
		}
	}
	return false
}

// mayBeOld reports whether a request to read a task may be of the old dialect. The metadata
// of the task then decides.
func mayBeOld(q request, h http.Header) bool {
	p, _ := q.params.(map[string]any)
	_, id := p["id"]
	return q.method == methodGetV03 && len(p) == 1 && id &&
		len(q.id) > 0 && q.id[0] != '"' && h.Get(a2a.SvcParamVersion) == ""
}

func isOld(v any) bool {
	task, ok := v.(*a2a.Task)
	return ok && task != nil && task.Metadata[MetadataDialect] == string(Old)
}

// readOld reads only the first text, and takes the task's ID only from the params.
func readOld(params any) (any, error) {
	p, _ := params.(map[string]any)
	id, ok := p["taskId"].(string)
	if !ok && p["taskId"] != nil {
		return nil, invalid("taskId", "must be a string")
	}
	said, err := firstText(p["message"])
	if err != nil {
		return nil, err
	}
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(said))
	message.TaskID = a2a.TaskID(id)
	return &a2a.SendMessageRequest{Message: message}, nil
}

var oldMessage = object(optional("parts", list(object(optional("type", text), optional("text", text)), 0)))

func firstText(message any) (string, error) {
	var m struct{ Parts []oldPart }
	if message == nil {
		return "", errNoText
	}
	if err := oldMessage.read(message, &m); err != nil {
		return "", err
	}
	if m.Parts != nil && len(m.Parts) == 0 {
		return "", errNoParts
	}
	for _, part := range m.Parts {
		if part.Type == "text" && part.Text != "" {
			return part.Text, nil
		}
	}
	return "", errNoText
}

func newOldTask(t *a2a.Task) oldTask {
	out := oldTask{ID: t.ID, Status: oldStatus{State: stateNameV03(t.Status.State)}}
	if t.Status.State == a2a.TaskStateRejected {
		out.Status.State = stateNameV03(a2a.TaskStateCompleted)
	}
	if t.Status.Message != nil {
		out.Status.Message = strings.Join(textsOf(t.Status.Message.Parts), "\n")
	}
	if said := oldAnswer(t, out.Status.Message); said != "" {
		out.Artifact = &oldArtifact{Parts: []oldPart{{"text", said}}}
	}
	return out
}

// oldAnswer joins the texts of all artifacts, one per line. The parts of an artifact are
// joined without a separator, because they are pieces of one text.
func oldAnswer(t *a2a.Task, otherwise string) string {
	var all []string
	for _, artifact := range t.Artifacts {
		if said := strings.Join(textsOf(artifact.Parts), ""); said != "" {
			all = append(all, said)
		}
	}
	if len(all) == 0 {
		return otherwise
	}
	return strings.Join(all, "\n")
}

func textsOf(parts a2a.ContentParts) []string {
	var all []string
	for _, part := range parts {
		if said := part.Text(); said != "" {
			all = append(all, said)
		}
	}
	return all
}

// describeOld uses the texts and the code that old clients know.
func describeOld(err error, params any) *rpcError {
	out := describe(err, Old)
	var field *fieldError
	switch {
	case errors.As(err, &field):
		out.Message = "Invalid params"
	case errors.Is(err, a2a.ErrTaskNotFound):
		p, _ := params.(map[string]any)
		id, _ := p["taskId"].(string)
		out.Code, out.Message = codeInvalidParams, "Task not found: "+id
	}
	return out
}
