package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/workflows/contract"
)

// Call is a call of a tool.
type Call struct {
	// Server is the tool's server, empty for a tool of our own.
	Server    string
	Tool      string
	Arguments json.RawMessage
	// Bearer and SessionID become headers, over HTTP only.
	Bearer    string
	SessionID string
	// IdempotencyKey is sent in the request's _meta.
	IdempotencyKey string
	// Destructive calls are not sent again once the server may have received them, unless it has
	// declared that it remembers idempotency keys.
	Destructive bool
	// Bound is the approved binding. A call with another target is not made. Nil means no
	// binding.
	Bound *contract.Binding
	// Progress, if set, is called with progress notifications of the call. It must not block,
	// because the connection waits for it.
	Progress func(Progress)
}

// To returns the server that the call goes to: that of the tool, or for a tool of our own the
// one that the arguments name.
func (c Call) To() string {
	if c.Server != "" {
		return c.Server
	}
	var in struct {
		Server string `json:"server"`
	}
	_ = json.Unmarshal(c.Arguments, &in) // Call reports the error
	return in.Server
}

// Result is a tool's answer.
type Result struct {
	Text    string
	IsError bool
	// Media are its images, sounds and files; Text has one line for each. Media that are too
	// large, too many or unreadable are missing, and the line says so.
	Media []Media
	// Links are the files that it refers to; Text names them too.
	Links []contract.Link
	// AuthRequired names the server that requires the caller to log in, with the
	// WWW-Authenticate headers of its answer.
	AuthRequired string
	Challenges   []string
}

// Error is the error of a failed call.
type Error struct {
	Kind         contract.Kind
	Server, Tool string
	Err          error
	// Now is the current target of the call, with KindChanged.
	Now Target
	// Challenges are the WWW-Authenticate headers of a server that answered 403: the call was
	// not made, and another token may be accepted.
	Challenges []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("call %s on %s: %s", e.Tool, e.Server, e.Reason())
}

// Reason returns the text without the name of the call.
func (e *Error) Reason() string { return plain(e.Err) }

func (e *Error) Unwrap() error { return e.Err }

var (
	errNoServer = errors.New("there is no such MCP server")
	errDenied   = errors.New("the settings of the server do not allow this tool")
)

// Call calls a tool. For a server that is not connected it makes one immediate attempt to
// connect; a request that certainly did not reach the tool is sent once more, on a new
// connection. The error is always an *Error, and wraps ctx's if ctx has ended. The package
// documentation describes the kinds.
func (t *Toolbox) Call(ctx context.Context, c Call) (Result, error) {
	t.Start(t.ctx)
	fail := func(kind contract.Kind, err error) (Result, error) {
		return Result{}, &Error{Kind: kind, Server: c.Server, Tool: c.Tool, Err: hideSecrets(err, t.mask(c.Server, c.Bearer))}
	}
	args, err := CanonicalArguments(c.Arguments)
	if err != nil {
		return fail(contract.KindInvalid, err)
	}
	if c.Server == "" {
		return t.callOwn(ctx, c, args)
	}
	l := t.link(c.Server)
	if l == nil {
		return fail(contract.KindToolFailed, errNoServer)
	}
	if bare := l.server.bareName(c.Tool); !l.server.offers(bare) || l.isSource(bare) {
		return fail(contract.KindToolFailed, errDenied)
	}
	open := &openQuestions{}
	v := l.ask(ctx, request{
		who:           caller{bearer: c.Bearer, sessionID: c.SessionID},
		destructive:   c.Destructive,
		keyed:         c.IdempotencyKey != "",
		changedTarget: c.changedTarget,
		send:          func(ctx context.Context, conn *conn, x *trace) error { return conn.call(ctx, x, c, args, open) },
	})
	if v.answer != nil {
		v = readAnswer(v.answer, c.Destructive)
	}
	v = open.annotate(v)
	if v.kind == contract.KindChanged {
		return Result{}, &Error{Kind: v.kind, Server: c.Server, Tool: c.Tool, Err: v.err, Now: v.now}
	}
	if v.kind != "" {
		return Result{}, &Error{Kind: v.kind, Server: c.Server, Tool: c.Tool, Err: hideSecrets(v.err, l.mask(c.Bearer)), Challenges: masked(v.challenges, l.mask(c.Bearer))}
	}
	return v.result.without(l.mask(c.Bearer)), nil
}

// request is a request to a server.
type request struct {
	who         caller
	destructive bool
	// keyed is set if a server that remembers keys deduplicates the request, sent if a server
	// may have received it.
	keyed, sent bool
	// send sends it over a connection; the trace then has the outcome. The error is mcp-go's.
	send func(ctx context.Context, c *conn, x *trace) error
	// changedTarget, if set, returns the target over a connection, and whether it differs from the
	// approved one, so that the request is not sent.
	changedTarget func(c *conn) (Target, bool)
	// doubtful is the session that a 404 may refer to. A destructive request is sent again only
	// if the server then creates another session.
	doubtful string
}

// ask sends a request, and sends it once more if it did not reach the server.
func (l *link) ask(parent context.Context, r request) verdict {
	ctx, cancel := l.withTimeLimit(parent)
	defer cancel()
	ctx = withCaller(ctx, r.who)
	v := l.sendOnce(ctx, r)
	if v.again && ctx.Err() == nil {
		r.doubtful, r.sent = v.doubtful, v.sent
		v = l.sendOnce(ctx, r)
	}
	if r.destructive && v.doubtful != "" {
		return notFound()
	}
	return v
}

// withTimeLimit is a context with the server's time limit.
func (l *link) withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := l.server.limit(l.box.opts.CallTimeout)
	if l.server.MayAsk && l.box.opts.Elicitor != nil {
		return withLimit(ctx, limit, l.box.opts.QuestionTime, timeoutError{limit: limit})
	}
	return context.WithTimeoutCause(ctx, limit, timeoutError{limit: limit})
}

// sendOnce sends the request over the present connection, or a new one.
func (l *link) sendOnce(ctx context.Context, r request) verdict {
	conn, err := l.acquire(ctx, r.who)
	doubt := r.destructive && r.doubtful != ""
	if err != nil && doubt {
		return notFound()
	}
	if err != nil {
		return l.unreachable(ctx, err)
	}
	defer conn.release()
	if r.changedTarget != nil {
		if now, changed := r.changedTarget(conn); changed {
			return verdict{kind: contract.KindChanged, err: errChanged, now: now}
		}
	}
	x := &trace{ownConnection: r.destructive, atMostOnce: r.destructive && !(r.keyed && conn.remembersKeys()), session: conn.session()}
	if x.atMostOnce && r.sent { // the server that declared otherwise is gone
		return lost(errSessionLost, true)
	}
	if doubt && (x.session == "" || x.session == r.doubtful) {
		return notFound()
	}
	if x.atMostOnce && !conn.sessionAlive(ctx) {
		if ctx.Err() != nil {
			return l.interrupted(ctx, x, true)
		}
		conn.retire(errSessionLost)
		l.handleLost(conn)
		return verdict{kind: contract.KindToolUnavailable, err: errSessionLost, again: true}
	}
	err = r.send(ctx, conn, x)
	if err != nil && ctx.Err() != nil {
		conn.notifyCancelled(ctx, x)
	}
	v := l.judge(ctx, x, err, r.destructive)
	v.sent = x.sent.Load()
	if v.again || v.stale {
		conn.retire(hideSecrets(v.err, l.mask(callerOf(ctx).bearer))) // other callers read why it was lost
		l.handleLost(conn)
	}
	return v
}

// acquire returns a connection that is held for the caller.
func (l *link) acquire(ctx context.Context, who caller) (*conn, error) {
	if conn, ok := l.current(); ok {
		return conn, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, l.box.opts.ConnectTimeout,
		timeoutError{limit: l.box.opts.ConnectTimeout})
	defer cancel()
	for range 3 {
		conn, err := l.connect(limited)
		if errors.Is(err, transport.ErrAuthorizationRequired) && who.bearer != "" {
			return l.dialPrivate(limited, who)
		}
		if err != nil {
			return nil, err
		}
		if conn.hold() {
			return conn, nil
		}
		l.handleLost(conn) // it was just lost: connect again
	}
	return nil, errRetired
}

// dialPrivate connects for one call, with the caller's token. The connection is closed when the
// call releases it.
func (l *link) dialPrivate(ctx context.Context, who caller) (*conn, error) {
	conn, list, err := dial(ctx, l.box, l.server, who)
	if err != nil {
		return nil, err
	}
	l.storeListing(who.bearer, list, nil)
	if !conn.hold() {
		return nil, conn.reason()
	}
	conn.retire(errRetired)
	return conn, nil
}
