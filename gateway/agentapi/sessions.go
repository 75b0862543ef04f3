package agentapi

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// listed is how many sessions a list has, the newest.
const listed = 50

// sessionReply is a session of a list. HistoryLength counts the messages of its record.
type sessionReply struct {
	ClientID      string `json:"client_id"`
	ShorthandID   int    `json:"shorthand_id,omitempty"`
	Model         string `json:"model"`
	HistoryLength int    `json:"history_length"`
	// ConversationID and Title are not of MCP Agent.
	ConversationID string `json:"conversation_id"`
	Title          string `json:"title,omitempty"`
}

// sessions lists the sessions of the caller that have not ended, or the one of a client_id.
func (e *Endpoint) sessions(c echo.Context) error {
	ctx, caller := c.Request().Context(), request.From(c.Request().Context()).Caller
	var list []sessionReply
	var err error
	if client := c.QueryParam("client_id"); client != "" {
		list, err = e.one(ctx, caller, client)
	} else {
		list, err = e.list(ctx, caller)
	}
	if err == nil {
		err = e.number(ctx, caller, list)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"sessions": list})
}

// one returns the session of a client_id, if there is one.
func (e *Endpoint) one(ctx context.Context, caller service.Caller, client string) ([]sessionReply, error) {
	s, err := e.find(ctx, caller, client)
	if isGone(err) || err == nil && !s.exists {
		return []sessionReply{}, nil
	}
	if err != nil {
		return nil, err
	}
	if s.fixed {
		client = e.clientOf(caller, service.Item{ID: s.id, SessionID: s.view.SessionID})
	}
	return []sessionReply{e.replyOf(client, s.view)}, nil
}

func (e *Endpoint) replyOf(client string, v contract.ConversationView) sessionReply {
	r := sessionReply{ClientID: client, Model: v.Model, HistoryLength: v.Transcript.Len(), ConversationID: v.ID}
	if r.Model == "" {
		r.Model = e.Model
	}
	if v.Title != nil {
		r.Title = v.Title.Text
	}
	return r
}

// list returns the newest sessions. What has ended since it was listed is left out.
func (e *Endpoint) list(ctx context.Context, caller service.Caller) ([]sessionReply, error) {
	items, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	replies, errs := make([]*sessionReply, len(items)), make([]error, len(items))
	var all sync.WaitGroup
	room := make(chan struct{}, 8)
	for i, item := range items {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			view, err := e.Service.Conversation(ctx, item.ID, "")
			if errs[i] = err; err == nil && view.Status != contract.StatusCompleted {
				r := e.replyOf(e.clientOf(caller, item), view)
				replies[i] = &r
			}
		})
	}
	all.Wait()
	out := []sessionReply{}
	for i, r := range replies {
		switch {
		case errs[i] != nil && !isGone(errs[i]):
			return nil, errs[i]
		case r != nil:
			out = append(out, *r)
		}
	}
	return out, nil
}

// open lists the conversations of the caller that take messages.
func (e *Endpoint) open(ctx context.Context) ([]service.Item, error) {
	var items []service.Item
	for _, status := range []contract.Status{contract.StatusActive, contract.StatusWaitingApproval} {
		page, err := e.Service.List(ctx, service.ListQuery{Limit: listed, Status: status})
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
	}
	slices.SortStableFunc(items, func(a, b service.Item) int { return b.CreatedAt.Compare(a.CreatedAt) })
	items = slices.CompactFunc(items, func(a, b service.Item) bool { return a.ID == b.ID })
	return items[:min(len(items), listed)], nil
}

// number sets the numbers of sessions. The oldest gets the lowest. While numbers are unavailable there are
// none.
func (e *Endpoint) number(ctx context.Context, caller service.Caller, list []sessionReply) error {
	if e.Numbers == nil {
		return nil
	}
	var ids []string
	for _, s := range slices.Backward(list) {
		ids = append(ids, s.ConversationID)
	}
	numbers, err := e.Numbers.Of(ctx, caller, ids)
	if service.IsKind(err, service.KindUnavailable) {
		e.Logger.Warn("sessions are listed without numbers", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	for i, s := range list {
		list[i].ShorthandID = numbers[s.ConversationID]
	}
	return nil
}

// remove deletes a session, unless an approval waits.
func (e *Endpoint) remove(c echo.Context) (client string, err error) {
	ctx, call := c.Request().Context(), request.From(c.Request().Context())
	s, err := e.find(ctx, call.Caller, c.Param("client_id"))
	switch {
	case isGone(err), err == nil && !s.exists:
		return "", noSession()
	case err != nil:
		return "", err
	}
	call.ConversationID = s.id
	if client = s.client; s.fixed {
		client = e.clientOf(call.Caller, service.Item{ID: s.id, SessionID: s.view.SessionID})
	}
	_, err = e.Service.Delete(ctx, call.Caller, s.id, false)
	return client, err
}

func (e *Endpoint) apiDelete(c echo.Context) error {
	client, err := e.remove(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "deleted", "client_id": client})
}

func (e *Endpoint) shellDelete(c echo.Context) error {
	client, err := e.remove(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "OK", "deleted": client})
}

// models lists the models that people may choose, or that of the agent.
func (e *Endpoint) models() []string {
	if names := e.Service.Models(); len(names) > 0 {
		return names
	}
	return []string{e.Model}
}

func (e *Endpoint) apiHealth(c echo.Context) error {
	summary, err := e.Service.Summary(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"status": "ok", "sessions": summary.Active + summary.WaitingApproval, "models": e.models()})
}

// shellHealth replies like MCP Agent. No switch of this API opens a gate.
func (e *Endpoint) shellHealth(c echo.Context) error {
	none := struct{}{}
	return c.JSON(http.StatusOK, map[string]any{"status": "healthy", "models": e.models(), "autoAIdb": none, "autogate": none, "autoAISysPrompt": none})
}
