package gateway

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/agui/endpoint"
	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/serverlogin"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/search"
	"agent-stop-and-go/gateway/service/shortid"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// rest has the REST handlers of conversations and approvals.
type rest struct {
	service *service.Service
	search  *search.Searcher
	events  *endpoint.Endpoint // for replies as streams of events
	chats   *command.Interpreter
	server  *serverlogin.Endpoint
	logger  *slog.Logger
}

// show replies with one conversation.
func (h *rest) show(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	part, err := partOf(c)
	if err != nil {
		return err
	}
	conversation, err := h.service.Document(c.Request().Context(), id, part)
	if err != nil {
		return err
	}
	if !conversation.AsOf.IsZero() {
		c.Response().Header().Set(echo.HeaderLastModified, conversation.AsOf.Format(http.TimeFormat))
	}
	return c.JSON(http.StatusOK, service.Reply{Conversation: conversation})
}

// tree replies with the path of the conversation's last turn through the agent's tree.
func (h *rest) tree(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	tree, err := h.service.Tree(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, tree)
}

// requestReply is the status and the result of an accepted request.
type requestReply struct {
	RequestID      string `json:"request_id"`
	ConversationID string `json:"conversation_id"`
	// Status is running, settled or refused.
	Status       string                 `json:"status"`
	Error        string                 `json:"error,omitempty"`
	Conversation *document.Conversation `json:"conversation,omitempty"`
	Result       *service.Result        `json:"result,omitempty"`
}

// request replies with the status and the result of a request. Its URL is the Location of a
// 202.
func (h *rest) request(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	rid := c.Param("request_id")
	if !contract.IsUUID(rid) {
		return service.NoRequest(rid)
	}
	whole, err := includesMessages(c)
	if err != nil {
		return err
	}
	view, err := h.service.Conversation(c.Request().Context(), id, rid)
	if err != nil {
		return err
	}
	if view.Request == nil {
		if err := h.decisionOnItsWay(c, rid); err != nil {
			return err
		}
		view.Request = &contract.Request{ID: rid}
	}
	return h.requestReply(c, view, whole)
}

// decisionOnItsWay returns nil if the request is a decision that its approval has recorded
// and the conversation has not received yet.
func (h *rest) decisionOnItsWay(c echo.Context, requestID string) error {
	uuid := request.TidyUUID(c.QueryParam("approval"))
	if !contract.IsUUID(uuid) {
		return service.NoRequest(requestID)
	}
	view, err := h.service.Approval(c.Request().Context(), uuid)
	switch {
	case service.IsKind(err, contract.KindNotFound):
		return service.NoRequest(requestID)
	case err != nil:
		return err
	case view.Result == nil || view.Result.RequestID != requestID:
		return service.NoRequest(requestID)
	}
	return nil
}

func (h *rest) requestReply(c echo.Context, view contract.ConversationView, whole bool) error {
	ctx := c.Request().Context()
	reply := requestReply{RequestID: view.Request.ID, ConversationID: view.ID, Status: statusRunning}
	conversation, err := h.service.Render(ctx, view, service.Part{Whole: whole})
	if err != nil {
		return err
	}
	reply.Conversation = &conversation
	if reply.Result, err = h.service.Result(ctx, view.Request.Result); err != nil {
		return err
	}
	switch {
	case view.Request.Refused != "":
		reply.Status, reply.Error = statusRefused, service.RefusalText(view.Request.Refused, reply.Result)
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
	Search        *searchReply    `json:"search,omitempty"`
}

// searchReply says how far a search went.
type searchReply struct {
	Searched int `json:"searched"`
	Texts    int `json:"texts"`
}

// list replies with a page of conversations, newest first.
func (h *rest) list(c echo.Context) error {
	q, err := listQuery(c)
	if err != nil {
		return err
	}
	if q.Prefix, err = idPrefix(c); err != nil {
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
	both.Go(func() (err error) {
		if c.QueryParams().Has("q") {
			page, reply.Search, err = h.find(bothCtx, c.QueryParam("q"), q)
			return err
		}
		page, err = h.service.List(bothCtx, q)
		return err
	})
	both.Go(func() (err error) { reply.Summary, err = h.service.Summary(bothCtx); return err })
	if err := both.Wait(); err != nil {
		return err
	}
	shortid.Set(page.Items, reply.Summary.Total)
	reply.Conversations, reply.NextCursor = orEmpty(page.Items), request.EncodeCursor(page.Next)
	if whole {
		if reply.Conversations, err = h.service.Documents(ctx, page.Items); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, reply)
}

// find returns a page of the conversations with these words.
func (h *rest) find(ctx context.Context, words string, q service.ListQuery) (page service.Page[service.Item], _ *searchReply, err error) {
	r, err := h.search.Search(ctx, words, q)
	return service.Page[service.Item]{Items: r.Found, Next: r.Next}, &searchReply{r.Searched, r.Texts}, err
}
