package peer

import (
	"context"
	"encoding/json"
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
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// longestRetry bounds the time after which an agent says to send a request again.
const longestRetry = 24 * time.Hour

const typeRetryInfo = "type.googleapis.com/google.rpc.RetryInfo"

// retryInfo returns when to send the request again. ok is false if the error does not say that
// it may succeed then.
func (e *rpcError) retryInfo() (after time.Duration, ok bool) {
	var details []struct {
		Type       string `json:"@type"`
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(e.Data, &details) != nil { // data of its own
		return 0, false
	}
	for _, d := range details {
		if d.Type == typeRetryInfo {
			after, _ = time.ParseDuration(d.RetryDelay) // without a time it is 0
			return max(0, min(after, longestRetry)), true
		}
	}
	return 0, false
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
	// Challenges are the WWW-Authenticate headers, without secrets.
	Challenges []string
	text       string
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
	for _, challenge := range resp.Header.Values("WWW-Authenticate") {
		e.Challenges = append(e.Challenges, m.Text(challenge))
	}
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
		reply := Reply{State: contract.TaskAuthRequired, Text: clip(text, maxMessage)}
		if status != nil {
			reply.Challenges = status.Challenges
		}
		return reply, nil
	}
	out := &Error{Kind: contract.KindPeerFailed, Message: clip(m.Text(fmt.Sprintf("agent %s: %v", a.Name, err)), maxMessage)}
	if doubt {
		out.Kind, out.Message = contract.KindOutcomeUnknown, clip(m.Text(fmt.Sprintf("agent %s: %v", a.Name, lost.err)), maxMessage)
	}
	if isTemporary(err) {
		out.Kind = contract.KindPeerUnavailable
	}
	if out.Kind == contract.KindPeerUnavailable {
		out.RetryAfter = retryTime(err)
	}
	return Reply{}, out
}

// retryTime returns when to send a request again, as its failure says; 0 if it does not.
func retryTime(err error) time.Duration {
	var status *statusError
	var refused *rpcError
	switch {
	case errors.As(err, &status):
		return status.After
	case errors.As(err, &refused):
		after, _ := refused.retryInfo()
		return after
	}
	return 0
}

// isTemporary reports whether the same request may succeed later.
func isTemporary(err error) bool {
	var status *statusError
	var wire *wireError
	var refused *rpcError
	switch {
	case errors.As(err, new(*uncertainError)), errors.Is(err, outbound.ErrRefused):
		return false
	case errors.As(err, &status):
		return status.Status == http.StatusTooManyRequests || status.Status >= 500
	case errors.As(err, &refused):
		_, again := refused.retryInfo()
		return again
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
