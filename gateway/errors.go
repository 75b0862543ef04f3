package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

const statusClientGone = 499

// statuses is the one table from kind to HTTP status. What is not in it is a
// fault of ours: 500, a fixed text, and a log line.
var statuses = map[contract.Kind]int{
	contract.KindInvalid:    http.StatusBadRequest,
	contract.KindNotFound:   http.StatusNotFound,
	contract.KindWaiting:    http.StatusConflict,
	contract.KindCompleted:  http.StatusConflict,
	contract.KindDecided:    http.StatusConflict,
	contract.KindKeyReused:  http.StatusUnprocessableEntity,
	contract.KindTimeout:    http.StatusGatewayTimeout,
	service.KindUnavailable: http.StatusServiceUnavailable,
	contract.KindTooLarge:   http.StatusRequestEntityTooLarge,
	contract.KindBusy:       http.StatusTooManyRequests,
	KindUnsupported:         http.StatusUnsupportedMediaType,
	KindUnprocessable:       http.StatusUnprocessableEntity,
	KindMisdirected:         http.StatusMisdirectedRequest,
	KindForeignPage:         http.StatusForbidden,
	service.KindGone:        statusClientGone,
	service.KindLost:        http.StatusInternalServerError,
	service.KindNoSpace:     http.StatusInsufficientStorage,
}

const internalText = "internal error; the gateway's log has the details"

// details are the other keys of an error's body.
type details struct {
	Conversation *document.Conversation   `json:"conversation,omitempty"`
	Result       *result                  `json:"result,omitempty"`
	Decision     *contract.ApprovalResult `json:"decision,omitempty"`
}

type errorBody struct {
	Error string `json:"error"`
	details
}

// detailed is an error with more keys in its body.
type detailed struct {
	*failure
	with details
}

// failure is a service.Error by a name that a method Error leaves room for.
type failure = service.Error

func (d *detailed) Unwrap() error { return d.failure }

// fail writes an error. It is the only place that does.
func (g *Gateway) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status, body := render(err, c.Request())
	if status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout || status == http.StatusTooManyRequests {
		c.Response().Header().Set("Retry-After", "1")
	}
	if err := c.JSON(status, body); err != nil {
		g.Logger.Debug("write an error", "error", err)
	}
}

func render(err error, r *http.Request) (int, errorBody) {
	var e *service.Error
	var more *detailed
	var routing *echo.HTTPError
	err = service.Explain(err)
	switch {
	case errors.As(err, &more) && statuses[more.Kind] != 0:
		return statuses[more.Kind], errorBody{more.Text, more.with}
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
	return http.StatusInternalServerError, errorBody{Error: internalText}
}
