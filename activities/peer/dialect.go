package peer

import (
	"encoding/json"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"agent-stop-and-go/workflows/contract"
)

// methodNames has the JSON-RPC methods of a protocol.
type methodNames struct{ send, stream, get, cancel, subscribe string }

var methods = map[Protocol]methodNames{
	V1:  {"SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask"},
	V03: {"message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"},
	Old: {send: "message/send", get: "tasks/get"},
}

// historyLength is the number of a task's messages that are requested: the last may be its
// result.
var historyLength = 10

// sendParams returns the params to send a message. A message that starts a task is to be
// answered at once, to get the task's ID; one about a task is to be answered when it has been
// processed, because before that the task is unchanged.
func (x *session) sendParams(m *a2a.Message) any {
	req := &a2a.SendMessageRequest{
		Tenant: x.endpoint.tenant, Message: m,
		Config: &a2a.SendMessageConfig{ReturnImmediately: m.TaskID == "", HistoryLength: &historyLength},
	}
	if x.endpoint.protocol == V03 {
		return a2av0.FromV1SendMessageRequest(req)
	}
	return req
}

func (x *session) getParams(id string) any {
	req := &a2a.GetTaskRequest{Tenant: x.endpoint.tenant, ID: a2a.TaskID(id), HistoryLength: &historyLength}
	if x.endpoint.protocol == V03 {
		return a2av0.FromV1GetTaskRequest(req)
	}
	return req
}

// taskParams returns the params of methods that take only a task. Those of 0.3 equal those of
// 1.0 without a tenant.
func (x *session) taskParams(id string) any {
	return &a2a.SubscribeToTaskRequest{Tenant: x.endpoint.tenant, ID: a2a.TaskID(id)}
}

// newMessage returns a message of the user, about the task if there is one.
func (x *session) newMessage(text string) *a2a.Message {
	m := &a2a.Message{
		ID: x.msg.MessageID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(text)},
		TaskID: a2a.TaskID(x.msg.TaskID), ContextID: x.msg.ContextID,
	}
	if c := x.msg.Continues; c != nil && x.msg.TaskID == "" {
		m.ContextID = c.ContextID
		if c.TaskID != "" {
			m.ReferenceTasks = []a2a.TaskID{a2a.TaskID(c.TaskID)}
		}
	}
	if len(x.msg.Chain) > 0 {
		m.SetMeta(contract.MetaChain, x.msg.Chain)
	}
	return m
}

// decisionMessage answers a task's question: with the word that other agents match on, and with
// a structured answer if the question was structured.
func (x *session) decisionMessage(now *task) (*a2a.Message, error) {
	m := x.newMessage(string(x.msg.Decision))
	if now != nil && now.ContextID != "" {
		m.ContextID = now.ContextID // an agent may refuse a message without it
	}
	by := clip(x.msg.By, maxBy)
	if by != "" {
		m.SetMeta(contract.MetaBy, by)
	}
	if x.answerHITL(m, now) || x.msg.Asked == nil || x.msg.Asked.UUID == "" {
		return m, nil
	}
	data, err := toMap(contract.ApprovalAnswer{
		Type: contract.TypeApprovalAnswer, UUID: x.msg.Asked.UUID, Approved: x.msg.Decision == contract.Approved,
		By: by, Reason: x.msg.Reason, Content: x.msg.Content,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	m.Parts = append(m.Parts, a2a.NewDataPart(data))
	return m, nil
}

// toMap converts v to the type that the library requires for data in 0.3. Values are unchanged.
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
