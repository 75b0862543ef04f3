package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/agentapi"
	"agent-stop-and-go/gateway/login"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/ollama"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/record/document"
)

const statusClientGone = 499

// statuses is the table from error kind to HTTP status. A kind that is not in it is an
// internal error: 500, a fixed text, and a log line.
var statuses = map[contract.Kind]int{
	contract.KindInvalid:      http.StatusBadRequest,
	contract.KindNotFound:     http.StatusNotFound,
	contract.KindForbidden:    http.StatusForbidden,
	contract.KindWaiting:      http.StatusConflict,
	contract.KindCompleted:    http.StatusConflict,
	deletion.KindDeleted:      http.StatusGone,
	contract.KindDecided:      http.StatusConflict,
	contract.KindDigest:       http.StatusConflict,
	contract.KindKeyReused:    http.StatusUnprocessableEntity,
	contract.KindTimeout:      http.StatusGatewayTimeout,
	service.KindUnavailable:   http.StatusServiceUnavailable,
	contract.KindTooLarge:     http.StatusRequestEntityTooLarge,
	contract.KindBusy:         http.StatusTooManyRequests,
	request.KindUnsupported:   http.StatusUnsupportedMediaType,
	request.KindUnprocessable: http.StatusUnprocessableEntity,
	KindUnauthenticated:       http.StatusUnauthorized,
	login.KindRefused:         http.StatusForbidden,
	KindMisdirected:           http.StatusMisdirectedRequest,
	KindForeignPage:           http.StatusForbidden,
	service.KindGone:          statusClientGone,
	service.KindLost:          http.StatusInternalServerError,
	service.KindNoSpace:       http.StatusInsufficientStorage,
	service.KindAmbiguous:     http.StatusConflict,
	offers.KindNoModel:        http.StatusNotFound,
	openai.KindModelFailed:    http.StatusBadRequest,
	ollama.KindNotOffered:     http.StatusNotImplemented,
}

type errorBody struct {
	Error        string                   `json:"error"`
	Conversation *document.Conversation   `json:"conversation,omitempty"`
	Result       *service.Result          `json:"result,omitempty"`
	Decision     *contract.ApprovalResult `json:"decision,omitempty"`
	Deletion     *deletion.Tombstone      `json:"deletion,omitempty"`
}

// fail writes an error. It is the only function that does.
func (g *Gateway) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if wait := retryAfter(err); wait > 0 && c.Path() == pathA2A && c.Request().Method == http.MethodPost {
		g.tasks.Refuse(c.Response(), c.Request(), protocol.TooMany(service.Explain(err).Error(), wait))
		return
	}
	status, body := render(err, c.Request())
	if status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout || status == http.StatusTooManyRequests {
		c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int(retryAfter(err).Seconds()))))
	}
	var reply any = body
	if g.openAIForm(c) {
		_, reply = openAIError(err, c.Request())
		openai.SetRetry(c.Response().Header(), status)
	}
	if g.ofAgentAPI(c) {
		reply = agentapi.ErrorBody(g.channelOf(c), body.Error)
	}
	if err := c.JSON(status, reply); err != nil {
		g.logger.Debug("write an error", "error", err)
	}
}

// openAIError returns an error as clients of OpenAI's API get it.
func openAIError(err error, r *http.Request) (int, openai.Error) {
	var e *service.Error
	var kind contract.Kind
	if errors.As(service.Explain(err), &e) {
		kind = e.Kind
	}
	status, body := render(err, r)
	reply := openai.NewError(status, kind, body.Error)
	reply.Mark(err)
	return status, reply
}

// retryAfter returns when to send a request again, or 0 if the error does not say that.
func retryAfter(err error) time.Duration {
	var e *service.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.RetryAfter
}

func render(err error, r *http.Request) (int, errorBody) {
	var e *service.Error
	var gone *service.Gone
	var refusal *service.Refusal
	var routing *echo.HTTPError
	err = service.Explain(err)
	switch {
	case errors.As(err, &gone):
		return http.StatusGone, errorBody{Error: gone.Cause.Text, Deletion: public(gone.Tombstone)}
	case errors.As(err, &refusal) && statuses[refusal.Cause.Kind] != 0:
		return statuses[refusal.Cause.Kind], errorBody{refusal.Cause.Text, refusal.Conversation, refusal.Result, refusal.Decision, nil}
	case errors.As(err, &e) && statuses[e.Kind] != 0:
		return statuses[e.Kind], errorBody{Error: e.Text}
	case errors.As(err, &routing) && routing.Code == http.StatusNotFound:
		return routing.Code, errorBody{Error: fmt.Sprintf("no such route: %s %s", r.Method, service.Printable(r.URL.Path))}
	case errors.As(err, &routing) && routing.Code == http.StatusMethodNotAllowed:
		return routing.Code, errorBody{Error: fmt.Sprintf("method %s is not allowed here", service.Printable(r.Method))}
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return statusClientGone, errorBody{Error: "the client went away"}
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, errorBody{Error: "no answer in time"}
	}
	return http.StatusInternalServerError, errorBody{Error: service.InternalText}
}
