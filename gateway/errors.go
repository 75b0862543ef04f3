package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/document"
)

// Kinds of failure that only HTTP knows.
const (
	KindUnavailable contract.Kind = "unavailable" // Temporal or all workers are away
	KindGone        contract.Kind = "client_gone" // nobody reads the answer
)

const statusClientGone = 499

// statuses is the one table from kind to HTTP status. What is not in it is a
// fault of ours: 500, a fixed text, and a log line.
var statuses = map[contract.Kind]int{
	contract.KindInvalid:   http.StatusBadRequest,
	contract.KindNotFound:  http.StatusNotFound,
	contract.KindWaiting:   http.StatusConflict,
	contract.KindCompleted: http.StatusConflict,
	contract.KindDecided:   http.StatusConflict,
	contract.KindKeyReused: http.StatusUnprocessableEntity,
	contract.KindTimeout:   http.StatusGatewayTimeout,
	KindUnavailable:        http.StatusServiceUnavailable,
	contract.KindTooLarge:  http.StatusRequestEntityTooLarge,
	contract.KindBusy:      http.StatusTooManyRequests,
	KindUnsupported:        http.StatusUnsupportedMediaType,
	KindUnprocessable:      http.StatusUnprocessableEntity,
	KindMisdirected:        http.StatusMisdirectedRequest,
	KindForeignPage:        http.StatusForbidden,
	KindGone:               statusClientGone,
	KindLost:               http.StatusInternalServerError,
	KindNoSpace:            http.StatusInsufficientStorage,
}

const internalText = "internal error; the gateway's log has the details"

// Error is a failure that the caller is told about.
type Error struct {
	Kind contract.Kind
	Text string // what the caller reads
	Err  error  // the cause, for the log only
	with details
}

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

// Errorf makes an Error. With %w the cause is kept for the log.
func Errorf(kind contract.Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Text: err.Error(), Err: errors.Unwrap(err)}
}

// because returns the error with a cause that only the log shows.
func (e *Error) because(err error) *Error {
	e.Err = err
	return e
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// isKind reports whether err is an Error of that kind.
func isKind(err error, kind contract.Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

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
	var e *Error
	var routing *echo.HTTPError
	err = explained(err)
	switch {
	case errors.As(err, &e) && statuses[e.Kind] != 0:
		return statuses[e.Kind], errorBody{e.Text, e.with}
	case errors.As(err, &routing) && routing.Code == http.StatusNotFound:
		return routing.Code, errorBody{Error: fmt.Sprintf("no such route: %s %s", r.Method, printable(r.URL.Path))}
	case errors.As(err, &routing) && routing.Code == http.StatusMethodNotAllowed:
		return routing.Code, errorBody{Error: fmt.Sprintf("method %s is not allowed here", printable(r.Method))}
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return statusClientGone, errorBody{Error: "the client went away"}
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, errorBody{Error: "no answer in time"}
	}
	return http.StatusInternalServerError, errorBody{Error: internalText}
}
