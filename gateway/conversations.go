package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// show answers with one conversation.
func (g *Gateway) show(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	conversation, err := g.present(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if !conversation.AsOf.IsZero() {
		c.Response().Header().Set(echo.HeaderLastModified, conversation.AsOf.Format(http.TimeFormat))
	}
	return c.JSON(http.StatusOK, turnReply{Conversation: conversation})
}

// requestReply is what became of an accepted request.
type requestReply struct {
	RequestID      string `json:"request_id"`
	ConversationID string `json:"conversation_id"`
	// Status is running, settled or refused.
	Status       string                 `json:"status"`
	Error        string                 `json:"error,omitempty"`
	Conversation *document.Conversation `json:"conversation,omitempty"`
	Result       *result                `json:"result,omitempty"`
}

// request answers with what became of a request, the Location of a 202.
func (g *Gateway) request(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	rid := c.Param("request_id")
	if !contract.IsUUID(rid) {
		return noRequest(rid)
	}
	view, err := g.Backend.Conversation(c.Request().Context(), id, rid)
	if err != nil {
		return err
	}
	if view.Request == nil {
		if err := g.decisionOnItsWay(c, rid); err != nil {
			return err
		}
		view.Request = &contract.Request{ID: rid}
	}
	return g.requestReply(c, view)
}

func noRequest(id string) *service.Error {
	return service.Errorf(contract.KindNotFound, "request not found: %s", service.Printable(id))
}

// decisionOnItsWay covers the moment in which an approval has been decided and
// its conversation has not heard of it yet.
func (g *Gateway) decisionOnItsWay(c echo.Context, requestID string) error {
	uuid := tidyUUID(c.QueryParam("approval"))
	if !contract.IsUUID(uuid) {
		return noRequest(requestID)
	}
	view, err := g.Backend.Approval(c.Request().Context(), uuid)
	switch {
	case service.IsKind(err, contract.KindNotFound):
		return noRequest(requestID)
	case err != nil:
		return err
	case view.Result == nil || view.Result.RequestID != requestID:
		return noRequest(requestID)
	}
	return nil
}

func (g *Gateway) requestReply(c echo.Context, view contract.ConversationView) error {
	ctx := c.Request().Context()
	reply := requestReply{RequestID: view.Request.ID, ConversationID: view.ID, Status: statusRunning}
	conversation, err := document.Render(ctx, g.Blobs, view)
	if err != nil {
		return err
	}
	reply.Conversation = &conversation
	if reply.Result, err = g.result(ctx, view.Request.Result); err != nil {
		return err
	}
	switch {
	case view.Request.Refused != "":
		reply.Status, reply.Error = statusRefused, refusalText(view.Request.Refused, reply.Result)
	case view.Request.Settled:
		reply.Status = statusSettled
	default:
		c.Response().Header().Set("Retry-After", "1")
	}
	return c.JSON(http.StatusOK, reply)
}

type listReply struct {
	Conversations any             `json:"conversations"`
	Summary       service.Summary `json:"summary"`
	NextCursor    string          `json:"next_cursor,omitempty"`
}

// list answers with a page of conversations, newest first.
func (g *Gateway) list(c echo.Context) error {
	q, err := listQuery(c)
	if err != nil {
		return err
	}
	whole, err := includesMessages(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var reply listReply
	var page service.Page[service.Item]
	both, bothCtx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { page, err = g.Backend.List(bothCtx, q); return err })
	both.Go(func() (err error) { reply.Summary, err = g.summary.get(bothCtx); return err })
	if err := both.Wait(); err != nil {
		return err
	}
	reply.Conversations, reply.NextCursor = orEmpty(page.Items), encodeCursor(page.Next)
	if whole {
		if reply.Conversations, err = g.wholeConversations(c, page.Items); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, reply)
}

const (
	maxReads   = 8 // side by side
	memberTime = 5 * time.Second
)

// wholeConversations reads every conversation of a page. Those that are gone by now are
// left out. One that cannot be read is there with its problem, and hides no others.
func (g *Gateway) wholeConversations(c echo.Context, items []service.Item) ([]document.Conversation, error) {
	found := make([]*document.Conversation, len(items))
	reads, ctx := errgroup.WithContext(c.Request().Context())
	reads.SetLimit(maxReads)
	for i, item := range items {
		reads.Go(func() error {
			d, err := g.member(ctx, item)
			found[i] = d
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	out := []document.Conversation{}
	for _, d := range found {
		if d != nil {
			out = append(out, *d)
		}
	}
	return out, nil
}

// member reads a conversation of a list; nil is one that is gone. It fails only when the
// request ends.
func (g *Gateway) member(ctx context.Context, item service.Item) (*document.Conversation, error) {
	read, cancel := context.WithTimeout(ctx, memberTime)
	defer cancel()
	d, err := g.whole(read, item.ID)
	switch {
	case err == nil:
		return &d, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case service.IsKind(err, contract.KindNotFound):
		return nil, nil
	}
	g.Logger.Error("a conversation cannot be read", "conversation", item.ID, "error", err)
	return new(troubled(item, problemOf(err))), nil
}

func (g *Gateway) whole(ctx context.Context, id string) (document.Conversation, error) {
	view, err := g.Backend.Conversation(ctx, id, "")
	if err != nil {
		return document.Conversation{}, err
	}
	return document.Render(ctx, g.Blobs, view)
}

// troubled is what can be shown of a conversation that cannot be read.
func troubled(item service.Item, problem string) document.Conversation {
	return document.Conversation{
		ID: item.ID, SessionID: item.SessionID, Status: item.Status, Messages: []document.Message{}, Agent: item.AgentName,
		CreatedAt: item.CreatedAt, UpdatedAt: item.UpdatedAt, Problem: problem,
	}
}

func problemOf(err error) string {
	var known *service.Error
	if errors.As(service.Explain(err), &known) {
		return known.Text
	}
	return "a part of the conversation cannot be read; the gateway's log has the details"
}
