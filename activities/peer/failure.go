package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract"
)

// maxMessage bounds the bytes kept of an agent's error message.
const maxMessage = 2000

// rpcError is an error in the agent's answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// Codes of JSON-RPC, of A2A, and additional ones of a2a-go.
const (
	codeParse        = -32700
	codeRequest      = -32600
	codeMethod       = -32601
	codeParams       = -32602
	codeInternal     = -32603
	codeTaskNotFound = -32001
	codeUnsupported  = -32004
	codeContentType  = -32005
	codeExtension    = -32008
	codeVersion      = -32009
	codeUnauthorized = -31401
	codePermission   = -31403
)

// statusError is an answer with an HTTP status of failure.
type statusError struct {
	Status   int
	After    time.Duration
	Location string
	text     string
}

// newStatusError reads the body, which may be a part of one, and hides secrets in it.
func newStatusError(resp *http.Response, body []byte, m *mask.Mask) *statusError {
	e := &statusError{Status: resp.StatusCode, After: retryAfter(resp.Header), text: http.StatusText(resp.StatusCode)}
	if to, err := resp.Location(); err == nil {
		e.Location = withoutSecretParts(to)
	}
	var r rpcResponse
	if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/plain") {
		e.text = strings.TrimSpace(string(body))
	} else if err := readResponse(body, &r); errors.As(err, new(*rpcError)) {
		e.text = err.Error()
	}
	e.text = m.Excerpt(e.text)
	return e
}

func (e *statusError) Error() string {
	if e.Location != "" {
		return fmt.Sprintf("HTTP %d: it is at %s, which the configuration would have to name", e.Status, e.Location)
	}
	return strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", e.Status, e.text), ": ")
}

func (e *statusError) login() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
}

// isTemporary reports whether the agent, or a proxy, is temporarily unavailable.
func (e *statusError) isTemporary() bool {
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, e.Status)
}

// wireError is a request that was not sent, or whose answer was lost.
type wireError struct {
	err  error
	sent bool // perhaps
}

func (e *wireError) Error() string {
	var outer *url.Error
	switch {
	case errors.As(e.err, &outer) && outer.Timeout():
		return "no answer in time"
	case errors.As(e.err, &outer): // the text of the outer error has the whole URL
		return outer.Err.Error()
	case errors.Is(e.err, io.ErrUnexpectedEOF):
		return "the connection broke"
	}
	return e.err.Error()
}

func (e *wireError) Unwrap() error { return e.err }

// uncertainError is the failure of a request that must not be sent again, because it may have
// had an effect.
type uncertainError struct {
	err         error
	destructive bool
}

func (e *uncertainError) Error() string {
	return fmt.Sprintf("the answer was lost (%v) and the outcome is unknown; it may have done what it was asked for", e.err)
}

func (e *uncertainError) Unwrap() error { return e.err }

// isProtocolError reports whether a failure may be caused by the wrong protocol. The error of a
// message whose outcome is unknown may have the code of a later request.
func isProtocolError(err error) bool {
	return !errors.As(err, new(*uncertainError)) && isCode(err, codeParse, codeRequest, codeMethod, codeParams, codeVersion)
}

func isCode(err error, codes ...int) bool {
	var e *rpcError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// failure classifies an error. A required login is a reply.
func (a *agent) failure(m *mask.Mask, err error) (Reply, error) {
	var status *statusError
	var lost *uncertainError
	doubt := errors.As(err, &lost) && lost.destructive
	login := errors.As(err, &status) && status.login() || isCode(err, codeUnauthorized, codePermission)
	if login && !doubt {
		text := m.Text(fmt.Sprintf("Authentication required by A2A agent %s: %v", a.Name, err))
		return Reply{State: contract.TaskAuthRequired, Text: clip(text, maxMessage)}, nil
	}
	out := &Error{Kind: contract.KindPeerFailed, Message: clip(m.Text(fmt.Sprintf("agent %s: %v", a.Name, err)), maxMessage)}
	if doubt {
		out.Kind, out.Message = contract.KindOutcomeUnknown, clip(m.Text(fmt.Sprintf("agent %s: %v", a.Name, lost.err)), maxMessage)
	}
	if isTemporary(err) {
		out.Kind = contract.KindPeerUnavailable
	}
	if status != nil && out.Kind == contract.KindPeerUnavailable {
		out.RetryAfter = status.After
	}
	return Reply{}, out
}

// isTemporary reports whether the same request may succeed later.
func isTemporary(err error) bool {
	var status *statusError
	var wire *wireError
	switch {
	case errors.As(err, new(*uncertainError)), errors.Is(err, outbound.ErrRefused):
		return false
	case errors.As(err, &status):
		return status.Status == http.StatusTooManyRequests || status.Status >= 500
	}
	return errors.As(err, &wire) || errors.Is(err, errClosed)
}

// isInterrupted reports whether a failure may be caused by the end of a context. An incomplete
// answer to a message with an ID is harmless.
func isInterrupted(err error) bool {
	cut := isTemporary(err) || errors.Is(err, context.Canceled) || errors.Is(err, errUnreadable)
	return cut && !errors.As(err, new(*uncertainError))
}

// clip cuts a text to at most the given number of bytes of valid UTF-8.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= most {
		return s
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
