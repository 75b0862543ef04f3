package handler

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// protocolOf returns the protocol version for the notifications of a web hook.
func protocolOf(ctx context.Context) string {
	if protocol.CallOf(ctx).Dialect == protocol.V10 {
		return contract.PushProtocol1
	}
	return contract.PushProtocol03
}

// SetPush implements protocol.Handler.
func (h *Handler) SetPush(ctx context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	if !contract.IsUUID(string(c.TaskID)) {
		return nil, noTask(c.TaskID)
	}
	set, err := h.service.Webhooks().SetPush(ctx, string(c.TaskID), pushOf(ctx, c))
	if err != nil {
		return nil, h.failureOf(ctx, c.TaskID, err)
	}
	return clientPush(c.TaskID, set), nil
}

func pushOf(ctx context.Context, c *a2a.PushConfig) service.PushConfig {
	out := service.PushConfig{ID: c.ID, URL: c.URL, Token: c.Token, Protocol: protocolOf(ctx)}
	if c.Auth != nil {
		out.Scheme, out.Credentials = c.Auth.Scheme, c.Auth.Credentials
	}
	return out
}

// pushOfMessage returns the webhook in a message, or nil.
func pushOfMessage(ctx context.Context, req *a2a.SendMessageRequest) *service.PushConfig {
	if req.Config == nil || req.Config.PushConfig == nil {
		return nil
	}
	c := pushOf(ctx, req.Config.PushConfig)
	return &c
}

// clientPush returns a webhook as clients may see it, without secrets.
func clientPush(id a2a.TaskID, c service.PushConfig) *a2a.PushConfig {
	c = c.Redacted()
	out := &a2a.PushConfig{TaskID: id, ID: c.ID, URL: c.URL, Token: c.Token}
	if c.Scheme != "" {
		out.Auth = &a2a.PushAuthInfo{Scheme: c.Scheme, Credentials: c.Credentials}
	}
	return out
}

// failureOf is failure, with the error of a missing task if there is no such task.
func (h *Handler) failureOf(ctx context.Context, id a2a.TaskID, err error) error {
	if service.IsKind(err, contract.KindNotFound) {
		return noTask(id)
	}
	return h.failure(ctx, err)
}

func (h *Handler) pushes(ctx context.Context, id a2a.TaskID) ([]service.PushConfig, error) {
	if !contract.IsUUID(string(id)) {
		return nil, noTask(id)
	}
	list, err := h.service.Webhooks().PushConfigs(ctx, string(id))
	return list, h.failureOf(ctx, id, err)
}

// GetPush implements protocol.Handler. Without an ID it returns the first.
func (h *Handler) GetPush(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	list, err := h.pushes(ctx, req.TaskID)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if req.ID == "" || c.ID == req.ID {
			return clientPush(req.TaskID, c), nil
		}
	}
	return nil, noPush(req.ID)
}

func noPush(id string) error {
	return a2a.NewError(a2a.ErrTaskNotFound, "Push notification config not found: "+service.Printable(id))
}

// ListPush implements protocol.Handler. It returns a single page.
func (h *Handler) ListPush(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	list, err := h.pushes(ctx, req.TaskID)
	if err != nil {
		return nil, err
	}
	out := &a2a.ListTaskPushConfigResponse{Configs: []*a2a.PushConfig{}}
	for _, c := range list {
		out.Configs = append(out.Configs, clientPush(req.TaskID, c))
	}
	return out, nil
}

// DeletePush implements protocol.Handler. Deleting an unknown webhook is an error in 0.3
// only.
func (h *Handler) DeletePush(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	if protocol.CallOf(ctx).Dialect != protocol.V10 {
		if _, err := h.GetPush(ctx, &a2a.GetTaskPushConfigRequest{TaskID: req.TaskID, ID: req.ID}); err != nil {
			return err
		}
	}
	if !contract.IsUUID(string(req.TaskID)) {
		return noTask(req.TaskID)
	}
	return h.failureOf(ctx, req.TaskID, h.service.Webhooks().DeletePush(ctx, string(req.TaskID), req.ID))
}
