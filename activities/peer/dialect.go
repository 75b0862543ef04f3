package peer

import (
	"encoding/json"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"agent-stop-and-go/workflows/contract"
)

// verbs are the methods of a protocol.
type verbs struct{ send, stream, get, cancel, subscribe string }

var methods = map[Protocol]verbs{
	V1:  {"SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask"},
	V03: {"message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"},
	Old: {send: "message/send", get: "tasks/get"},
}

// historyLength is how many messages of a task are asked for: the last may be its result.
var historyLength = 10

// sending are the params that send a message. The answer to one that starts a task is
// wanted at once, which gives its ID; to one about a task it is wanted when that
// has been dealt with, as before that a task is still as it was.
func (x *exchange) sending(m *a2a.Message) any {
	req := &a2a.SendMessageRequest{
		Tenant: x.tenant, Message: m,
		Config: &a2a.SendMessageConfig{ReturnImmediately: m.TaskID == "", HistoryLength: &historyLength},
	}
	if x.protocol == V03 {
		return a2av0.FromV1SendMessageRequest(req)
	}
	return req
}

func (x *exchange) getting(id string) any {
	req := &a2a.GetTaskRequest{Tenant: x.tenant, ID: a2a.TaskID(id), HistoryLength: &historyLength}
	if x.protocol == V03 {
		return a2av0.FromV1GetTaskRequest(req)
	}
	return req
}

// naming are the params of methods that take nothing but a task: those of 0.3 are
// those of 1.0 without a tenant.
func (x *exchange) naming(id string) any {
	return &a2a.SubscribeToTaskRequest{Tenant: x.tenant, ID: a2a.TaskID(id)}
}

// message is one of the user's, about the task if there is one already.
func (x *exchange) message(text string) *a2a.Message {
	m := &a2a.Message{
		ID: x.m.MessageID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(text)},
		TaskID: a2a.TaskID(x.m.TaskID), ContextID: x.m.ContextID,
	}
	if len(x.m.Chain) > 0 {
		m.SetMeta(contract.MetaChain, x.m.Chain)
	}
	return m
}

// verdict is the message that answers what a task asked: the word, on which agents
// of others match, and the same for programs where the question had such a form.
func (x *exchange) verdict(now *task) (*a2a.Message, error) {
	m := x.message(string(x.m.Decision))
	if now != nil && now.ContextID != "" {
		m.ContextID = now.ContextID // an agent may refuse a message without it
	}
	by := clip(x.m.By, maxBy)
	if by != "" {
		m.SetMeta(contract.MetaBy, by)
	}
	if x.answerHITL(m, now) || x.m.Asked == nil || x.m.Asked.UUID == "" {
		return m, nil
	}
	data, err := toMap(contract.ApprovalAnswer{
		Type: contract.TypeApprovalAnswer, UUID: x.m.Asked.UUID, Approved: x.m.Decision == contract.Approved,
		By: by, Reason: x.m.Reason, Content: x.m.Content,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	m.Parts = append(m.Parts, a2a.NewDataPart(data))
	return m, nil
}

// toMap is v as the library of 0.3 wants data to be. The values stay as they are.
func toMap(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for key, value := range raw {
		out[key] = value
	}
	return out, nil
}
