package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/contract"
)

// verdict is the outcome of one attempt at a request: an answer to be read, a result, or a kind
// of failure. With again the request did not reach the tool, and the connection is useless.
type verdict struct {
	answer json.RawMessage
	pages  []json.RawMessage // all answers, if there are several
	result Result
	kind   contract.Kind
	err    error
	again  bool
	// sent is set if the server may have received the request, stale if the connection is
	// useless although the request is not sent again.
	sent, stale bool
	// doubtful is the session that a 404 may refer to.
	doubtful string
	// challenges are the WWW-Authenticate headers of a 403.
	challenges []string
	// now is the current target of the call, with KindChanged.
	now Target
}

// notFound is the verdict if a 404 did not refer to the session.
func notFound() verdict {
	return verdict{kind: contract.KindToolFailed, err: fmt.Errorf("answered %s", statusText(http.StatusNotFound))}
}

var (
	errSessionLost = errors.New("the server no longer knows the session")
	errLost        = errors.New("the answer was lost")
)

// timeoutError is the cause of our own deadlines.
type timeoutError struct{ limit time.Duration }

func (e timeoutError) Error() string { return "no answer within " + e.limit.String() }
func (timeoutError) Unwrap() error   { return context.DeadlineExceeded }

// unreachable is the verdict when there is no connection to send on.
func (l *link) unreachable(ctx context.Context, err error) verdict {
	if errors.Is(err, transport.ErrAuthorizationRequired) {
		return verdict{result: l.authRequired(err)}
	}
	if ctx.Err() != nil {
		err = endOfContext(ctx)
	}
	return verdict{kind: contract.KindToolUnavailable, err: fmt.Errorf("not connected: %w", err)}
}

// unauthorized is the verdict on a request that was refused for want of a token.
func (l *link) unauthorized(err error) verdict {
	if errors.Is(err, transport.ErrAuthorizationRequired) {
		return verdict{result: l.authRequired(err)}
	}
	return verdict{kind: contract.KindToolUnavailable, err: err}
}

// unauthorizedError is the answer 401 of a server, with its WWW-Authenticate headers.
type unauthorizedError struct{ challenges []string }

func (*unauthorizedError) Error() string { return transport.ErrAuthorizationRequired.Error() }
func (*unauthorizedError) Unwrap() error { return transport.ErrAuthorizationRequired }

// challengesOf returns the challenges of a 401, if err is one.
func challengesOf(err error) []string {
	var answered *unauthorizedError
	if errors.As(err, &answered) {
		return answered.challenges
	}
	return nil
}

// Refused returns the answer of a server that did not accept the token of a call, or nil.
func Refused(r Result, err error) *bearer.Refusal {
	var known *Error
	switch {
	case err == nil && r.AuthRequired != "":
		return bearer.RefusalOf(r.Challenges)
	case errors.As(err, &known) && bearer.RefusalOf(known.Challenges).NeedsScope():
		return bearer.RefusalOf(known.Challenges)
	}
	return nil
}

// Challenges returns the challenges of a server that accepts no connection without a token.
func (t *Toolbox) Challenges(server string) []string {
	l := t.link(server)
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return challengesOf(l.err)
}

func (l *link) authRequired(err error) Result {
	name := l.server.Name
	return Result{
		IsError: true, AuthRequired: name, Challenges: challengesOf(err),
		Text: "Authentication required to access the " + name + " server.",
	}
}

// judge derives the verdict from the trace. The order matters: a status takes precedence over
// the body, an answer over an error, and in doubt the request was sent.
func (l *link) judge(ctx context.Context, x *trace, err error, destructive bool) verdict {
	status := x.httpStatus()
	switch {
	case errors.Is(err, errNothing):
		return verdict{}
	case x.excess != nil:
		return verdict{kind: contract.KindToolFailed, err: fmt.Errorf("the server %w", x.excess)}
	case x.denied() != nil:
		return l.unauthorized(x.denied())
	case status == http.StatusUnauthorized:
		return verdict{result: l.authRequired(&unauthorizedError{x.challenges})}
	case x.sessionRefused(err):
		return x.sessionLost()
	case status >= 500 || status == http.StatusRequestTimeout:
		return lost(fmt.Errorf("answered %s", statusText(status)), destructive)
	case status == http.StatusTooManyRequests && !x.atMostOnce:
		return verdict{kind: contract.KindToolUnavailable, err: fmt.Errorf("answered %s", statusText(status))}
	case x.refusal != nil || status >= 300:
		return x.refused(destructive)
	case len(x.answers) > 0:
		return verdict{answer: x.answers[len(x.answers)-1], pages: x.answers}
	case ctx.Err() != nil:
		return l.interrupted(ctx, x, destructive)
	case errors.Is(err, errTooLong) && !destructive: // and the next answer would be, too
		return verdict{kind: contract.KindToolFailed, err: errTooLong}
	case x.inputRequested:
		return verdict{kind: contract.KindToolFailed, err: fmt.Errorf("the server asks for what it cannot be given: %w", err)}
	case !x.sent.Load():
		return verdict{kind: contract.KindToolUnavailable, err: err, again: true}
	}
	return lost(streamEndReason(err), destructive)
}

// sessionLost is the verdict if the server does not know the session. The outcome of a request
// that may be sent only once is not changed by it.
func (x *trace) sessionLost() verdict {
	status := x.httpStatus()
	if x.atMostOnce && x.sent.Load() {
		v := x.refused(true)
		v.stale = true
		return v
	}
	v := verdict{kind: contract.KindToolUnavailable, err: errSessionLost, again: true}
	if status == http.StatusNotFound {
		v.doubtful = x.session
	}
	return v
}

// refused is the verdict on a protocol error or a failure status. A destructive call has failed
// only if the error proves that the tool did not run.
func (x *trace) refused(destructive bool) verdict {
	err := fmt.Errorf("answered %s", statusText(x.httpStatus()))
	if x.refusal != nil {
		err = fmt.Errorf("the server refused with error %d: %s", x.refusal.Code, x.refusal.Message)
	}
	if destructive && !x.refusedUnread() {
		return lost(err, true)
	}
	v := verdict{kind: contract.KindToolFailed, err: err}
	if x.httpStatus() == http.StatusForbidden {
		v.challenges = x.challenges
	}
	return v
}

// refusedUnread reports whether the server refused the request as such, before any tool could
// run. Internal errors, application codes, and statuses that a tool, a proxy or a lost session
// may cause do not say so.
func (x *trace) refusedUnread() bool {
	if x.refusal != nil {
		return slices.Contains(refusalCodes, x.refusal.Code)
	}
	return slices.Contains(refusalStatuses, x.httpStatus())
}

var refusalCodes = []int{mcp.PARSE_ERROR, mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS}

var refusalStatuses = []int{
	http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusLengthRequired,
	http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType,
	http.StatusUpgradeRequired, http.StatusRequestHeaderFieldsTooLarge,
}

// interrupted is the verdict after a timeout or a cancellation by the caller.
func (l *link) interrupted(ctx context.Context, x *trace, destructive bool) verdict {
	if x.sent.Load() {
		return lost(endOfContext(ctx), destructive)
	}
	return verdict{kind: contract.KindToolUnavailable, err: fmt.Errorf("not sent: %w", endOfContext(ctx))}
}

// endOfContext returns why ctx has ended; it wraps ctx's error.
func endOfContext(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.As(cause, &timeoutError{}) {
		return cause
	}
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return context.Cause(ctx)
}

// lost is the verdict on a call that may have run.
func lost(err error, destructive bool) verdict {
	kind := contract.KindToolUnavailable
	if destructive {
		kind = contract.KindOutcomeUnknown
	}
	return verdict{kind: kind, err: fmt.Errorf("%w: %w", errLost, err)}
}

// sessionRefused reports whether the server refused the request unread because it does not know
// the session. ErrSessionTerminated alone does not say so: it also occurs when a stream that
// was already answering cannot be resumed.
func (x *trace) sessionRefused(err error) bool {
	switch x.httpStatus() {
	case http.StatusNotFound:
		return x.session != ""
	case http.StatusBadRequest:
		said := ""
		if err != nil {
			said = err.Error()
		}
		if x.refusal != nil {
			said += x.refusal.Message
		}
		said = strings.ToLower(said)
		return strings.Contains(said, "session") || strings.Contains(said, "not initialized")
	}
	return !x.sent.Load() && errors.Is(err, transport.ErrSessionTerminated)
}
