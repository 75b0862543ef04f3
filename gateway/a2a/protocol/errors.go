package protocol

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
)

// codes is the table from errors to JSON-RPC codes. Errors that are not in it are internal
// errors.
var codes = []struct {
	err  error
	code int
}{
	{a2a.ErrParseError, -32700},
	{a2a.ErrInvalidRequest, -32600},
	{a2a.ErrMethodNotFound, -32601},
	{a2a.ErrInvalidParams, -32602},
	{a2a.ErrTaskNotFound, -32001},
	{a2a.ErrTaskNotCancelable, -32002},
	{a2a.ErrPushNotificationNotSupported, -32003},
	{a2a.ErrUnsupportedOperation, -32004},
	{a2a.ErrUnsupportedContentType, -32005},
	{a2a.ErrInvalidAgentResponse, -32006},
	{a2a.ErrExtendedCardNotConfigured, -32007},
	{a2a.ErrExtensionSupportRequired, -32008},
	{a2a.ErrVersionNotSupported, -32009},
	{a2a.ErrServerError, -32000},
	{a2a.ErrUnauthenticated, codeUnauthenticated},
	{a2a.ErrUnauthorized, codeUnauthorized},
	{a2a.ErrInternalError, codeInternal},
}

// The two codes for authentication are the SDK's: A2A leaves authentication to HTTP.
const (
	codeInvalidParams   = -32602
	codeInternal        = -32603
	codeUnauthenticated = -31401
	codeUnauthorized    = -31403
)

const internalText = "Internal error"

const (
	typeBadRequest = "type.googleapis.com/google.rpc.BadRequest"
	typeRetryInfo  = "type.googleapis.com/google.rpc.RetryInfo"
)

type rpcError struct {
	Code    int                   `json:"code"`
	Message string                `json:"message"`
	Data    []*errordetails.Typed `json:"data,omitempty"`
}

// httpError is an error with an HTTP status of its own. All others have status 200, as
// JSON-RPC clients expect.
type httpError struct {
	status int
	error
	retryAfter time.Duration // 0 if it is not known
}

func (e *httpError) Unwrap() error { return e.error }

// TooMany returns the error for a caller that has reached a limit. HTTP status and headers say
// so too, also for streams.
func TooMany(text string, retryAfter time.Duration) error {
	return &httpError{http.StatusTooManyRequests, later(text, retryAfter), retryAfter}
}

// unavailableTime is when to send a request again that the server could not serve.
const unavailableTime = time.Second

// Unavailable returns the error for a request that may succeed if it is sent again: what it
// asks for may have begun, so a message is sent with the same ID.
func Unavailable(text string) error { return later(text, unavailableTime) }

func later(text string, retryAfter time.Duration) error {
	err := a2a.NewError(a2a.ErrServerError, text)
	err.TypedDetails = []*errordetails.Typed{errordetails.NewTyped(typeRetryInfo, map[string]any{
		"retryDelay": fmt.Sprintf("%.0fs", retryAfter.Seconds()),
	})}
	return err
}

// fieldError is an error in one member of the params.
type fieldError struct{ field, text string }

func (e *fieldError) Error() string {
	if e.field == "" {
		return "Invalid params: " + e.text
	}
	return "Invalid params: " + e.field + " " + e.text
}

func (e *fieldError) Unwrap() error { return a2a.ErrInvalidParams }

func invalid(field, text string) error { return &fieldError{field, text} }

// codeOf returns the code of an error and the sentinel it belongs to.
func codeOf(err error) (code int, kind error) {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code, c.err
		}
	}
	return codeInternal, a2a.ErrInternalError
}

// describe converts an error to its JSON-RPC form. 1.0 requires an ErrorInfo detail; the
// other dialects get only the details that the error has.
func describe(err error, d Dialect) *rpcError {
	code, kind := codeOf(err)
	out := &rpcError{Code: code, Message: textOf(err, code), Data: detailsOf(err)}
	if d == V03 || d == Old {
		return out
	}
	if !slices.ContainsFunc(out.Data, isErrorInfo) {
		info := errordetails.NewErrorInfo(a2a.ErrorReason(kind), a2a.ProtocolDomain, nil)
		out.Data = append([]*errordetails.Typed{info}, out.Data...)
	}
	var field *fieldError
	if errors.As(err, &field) && field.field != "" {
		out.Data = append(out.Data, badRequest(field))
	}
	return out
}

func isErrorInfo(d *errordetails.Typed) bool { return d.TypeURL == errordetails.ErrorInfoType }

func textOf(err error, code int) string {
	var known *a2a.Error
	switch {
	case errors.As(err, &known) && known.Message != "":
		return known.Message
	case code == codeInternal:
		return internalText
	}
	return err.Error()
}

func detailsOf(err error) []*errordetails.Typed {
	var known *a2a.Error
	if !errors.As(err, &known) {
		return nil
	}
	if len(known.Details) == 0 {
		return known.TypedDetails
	}
	return append([]*errordetails.Typed{errordetails.NewFromStruct(known.Details)}, known.TypedDetails...)
}

// badRequest is the detail with which 1.0 names the wrong field.
func badRequest(e *fieldError) *errordetails.Typed {
	return errordetails.NewTyped(typeBadRequest, map[string]any{
		"fieldViolations": []map[string]string{{"field": e.field, "description": e.text}},
	})
}

func statusOf(err error) int {
	var with *httpError
	switch {
	case errors.As(err, &with):
		return with.status
	case errors.Is(err, a2a.ErrUnauthenticated):
		return http.StatusUnauthorized
	case errors.Is(err, a2a.ErrUnauthorized):
		return http.StatusForbidden
	}
	return http.StatusOK
}
