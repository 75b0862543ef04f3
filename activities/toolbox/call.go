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
	Server    string
	Tool      string
	Arguments json.RawMessage
	// Bearer and SessionID become headers, over HTTP only.
	Bearer    string
	SessionID string
	// IdempotencyKey travels in the request's _meta.
	IdempotencyKey string
	// Destructive calls are never sent again once they may have been seen.
	Destructive bool
}

// Result is a tool's answer.
type Result struct {
	Text    string
	IsError bool
	// AuthRequired names the server that wants the caller to log in.
	AuthRequired string
}

// Error is how every failed call ends.
type Error struct {
	Kind         contract.Kind
	Server, Tool string
	Err          error
}

func (e *Error) Error() string {
	return fmt.Sprintf("call %s on %s: %s", e.Tool, e.Server, plain(e.Err))
}

func (e *Error) Unwrap() error { return e.Err }

var errNoServer = errors.New("there is no such MCP server")

// Call calls a tool. A server that is not connected gets one immediate attempt;
// a request that provably did not reach the tool is sent once more, on a new
// connection. The error is always an *Error, and wraps ctx's when ctx ended.
// The kinds: see the package.
func (t *Toolbox) Call(ctx context.Context, c Call) (Result, error) {
	t.Start(t.ctx)
	fail := func(kind contract.Kind, err error) (Result, error) {
		return Result{}, &Error{Kind: kind, Server: c.Server, Tool: c.Tool, Err: hide(err, c.Bearer)}
	}
	l := t.link(c.Server)
	if l == nil {
		return fail(contract.KindToolFailed, errNoServer)
	}
	args, err := CanonicalArguments(c.Arguments)
	if err != nil {
		return fail(contract.KindInvalid, err)
	}
	v := l.call(ctx, c, args)
	if v.kind != "" {
		return fail(v.kind, v.err)
	}
	return v.result.without(c.Bearer), nil
}

func (l *link) call(parent context.Context, c Call, args json.RawMessage) verdict {
	ctx, cancel := context.WithTimeoutCause(parent, l.box.opts.CallTimeout,
		timeoutError{limit: l.box.opts.CallTimeout})
	defer cancel()
	ctx = withCaller(ctx, caller{bearer: c.Bearer, sessionID: c.SessionID})
	v := l.once(ctx, c, args)
	if v.again && ctx.Err() == nil {
		v = l.once(ctx, c, args)
	}
	return v
}

// once sends the call over the connection there is, or a new one.
func (l *link) once(ctx context.Context, c Call, args json.RawMessage) verdict {
	conn, err := l.acquire(ctx, c)
	if err != nil {
		return l.unreachable(ctx, err)
	}
	defer conn.release()
	x := &exchange{fresh: c.Destructive}
	err = conn.call(ctx, x, c, args)
	v := l.judge(ctx, x, err, c.Destructive)
	if v.again {
		conn.retire(v.err)
		l.dropped(conn)
	}
	return v
}

// acquire returns a connection that is held for the caller.
func (l *link) acquire(ctx context.Context, c Call) (*conn, error) {
	limited, cancel := context.WithTimeoutCause(ctx, l.box.opts.ConnectTimeout,
		timeoutError{limit: l.box.opts.ConnectTimeout})
	defer cancel()
	for range 3 {
		conn, err := l.connect(limited)
		if errors.Is(err, transport.ErrAuthorizationRequired) && c.Bearer != "" {
			return l.private(limited, c)
		}
		if err != nil {
			return nil, err
		}
		if conn.hold() {
			return conn, nil
		}
		l.dropped(conn) // lost a moment ago: connect anew
	}
	return nil, errRetired
}

// private connects for one call, with the caller's token. The connection is
// retired from the start in all but name: it closes when the call releases it.
func (l *link) private(ctx context.Context, c Call) (*conn, error) {
	conn, tools, err := dial(ctx, l.box, l.server, caller{bearer: c.Bearer, sessionID: c.SessionID})
	if err != nil {
		return nil, err
	}
	l.learn(tools)
	if !conn.hold() {
		return nil, conn.reason()
	}
	conn.retire(errRetired)
	return conn, nil
}
