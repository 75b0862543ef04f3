package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// elicitation is a call during which the server may ask a person.
type elicitation struct {
	tool, key string
	bearer    string
	ctx       context.Context // of the call; ends with it
	limit     *timeLimit
	open      *openQuestions
}

type elicitationKey struct{}

// beginElicitation registers a call during which the server may ask, until done is called. The
// context carries it if the connection says which call a question belongs to.
func (c *conn) beginElicitation(ctx context.Context, call Call, open *openQuestions) (_ context.Context, done func()) {
	l := limitOf(ctx)
	if l == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	q := &elicitation{tool: call.Tool, key: call.IdempotencyKey, bearer: call.Bearer, ctx: ctx, limit: l, open: open}
	c.mu.Lock()
	c.elicitations = append(c.elicitations, q)
	c.mu.Unlock()
	return context.WithValue(ctx, elicitationKey{}, q), func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, other := range c.elicitations {
			if other == q {
				c.elicitations = append(c.elicitations[:i:i], c.elicitations[i+1:]...)
				return
			}
		}
	}
}

// openElicitations returns the calls during which the server may ask.
func (c *conn) openElicitations() []*elicitation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.elicitations)
}

// elicitationFor returns the call that a question belongs to: the one in the context, else the
// only running one.
func (c *conn) elicitationFor(ctx context.Context) (*elicitation, error) {
	if q, ok := ctx.Value(elicitationKey{}).(*elicitation); ok {
		return q, nil
	}
	if traceOf(ctx) != nil {
		return nil, errNoCall
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch len(c.elicitations) {
	case 0:
		return nil, errNoCall
	case 1:
		return c.elicitations[0], nil
	}
	return nil, fmt.Errorf("%w: %d calls are under way, and nothing says which of them it belongs to", errUnseen, len(c.elicitations))
}

var (
	errUnseen = errors.New("nobody was shown it")
	errNoCall = fmt.Errorf("%w: no call of a tool is under way", errUnseen)
	errWaited = errors.New("the questions of the call have waited for too long")
)

type elicitationHost struct{ conn *conn }

// Elicit returns "cancel" for requests other than forms, because no page is opened here, and
// for those without a call, because there is no user to ask. Only a user declines.
func (h elicitationHost) Elicit(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if !h.conn.asked.acquire() {
		return nil, errAsksTooMuch
	}
	defer h.conn.asked.release()
	schema, err := json.Marshal(r.Params.RequestedSchema)
	if err != nil {
		return nil, fmt.Errorf("encode the schema of the question: %w", err)
	}
	q, err := h.conn.elicitationFor(ctx)
	if err != nil {
		return h.cancel(r, err.Error(), h.conn.openElicitations()...), nil
	}
	if mode := r.Params.Mode; mode != "" && mode != mcp.ElicitationModeForm {
		return h.cancel(r, fmt.Sprintf("%v: it is no form, but of the mode %.20q", errUnseen, mode), q), nil
	}
	hidden := h.conn.server.mask(q.bearer)
	a, err := h.ask(ctx, q, Question{
		Server: h.conn.server.Name, Tool: q.tool, Key: q.key, Message: hidden.Text(r.Params.Message), Schema: hidden.JSON(schema),
	})
	switch {
	case errors.Is(err, ErrStopping):
		q.limit.end(err)
		return nil, err
	case errors.Is(err, errWaited):
		return h.cancel(r, err.Error(), q), nil
	case err != nil:
		return nil, err
	case a.Problem != "":
		return h.cancel(r, a.Problem, q), nil
	}
	return replied(a), nil
}

// cancel returns the reply to a question that no user has answered. The calls that it may
// belong to report why.
func (h elicitationHost) cancel(r mcp.ElicitationRequest, why string, calls ...*elicitation) *mcp.ElicitationResult {
	server := h.conn.server.Name
	h.conn.box.opts.Logger.Warn("a question of an MCP server was cancelled", "server", server, "error", why)
	for _, q := range calls {
		q.open.add(server, r.Params.Message, why)
	}
	return replied(Answer{Action: Cancel})
}

// ask submits the question while the call's time is stopped.
func (h elicitationHost) ask(ctx context.Context, q *elicitation, question Question) (Answer, error) {
	asking, resume := q.limit.pause(q.ctx)
	defer resume()
	asking, cancel := context.WithCancel(asking)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	a, err := h.conn.box.opts.Elicitor.Elicit(asking, question)
	if err != nil && errors.Is(context.Cause(asking), errWaited) {
		err = errWaited
	}
	return a, err
}

func replied(a Answer) *mcp.ElicitationResult {
	r := &mcp.ElicitationResult{}
	r.Action = mcp.ElicitationResponseAction(a.Action)
	if a.Action == Accept {
		r.Content = a.Content
		if a.Content == nil {
			r.Content = map[string]any{}
		}
	}
	return r
}

// timeLimit is a time limit that can be paused, for a maximum time.
type timeLimit struct {
	cancel context.CancelCauseFunc
	cause  error

	mu      sync.Mutex
	timer   *time.Timer
	since   time.Time     // start of the unpaused time
	left    time.Duration // of the call
	waiting time.Duration // of the questions
	paused  int
	over    bool
}

type timeLimitKey struct{}

// withLimit returns a context that ends, with cause, after d of unpaused time. Pauses may take
// waiting in total.
func withLimit(ctx context.Context, d, waiting time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &timeLimit{cancel: cancel, cause: cause, since: time.Now(), left: d, waiting: waiting}
	l.timer = time.AfterFunc(d, func() { cancel(cause) })
	return context.WithValue(ctx, timeLimitKey{}, l), func() { l.end(nil) }
}

func limitOf(ctx context.Context) *timeLimit {
	l, _ := ctx.Value(timeLimitKey{}).(*timeLimit)
	return l
}

// pause stops the time until resume is called. The context is ctx until the pauses have taken
// the maximum.
func (l *timeLimit) pause(ctx context.Context) (_ context.Context, resume func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused == 0 {
		l.timer.Stop() // a timer that has just fired has ended the call
		l.left -= time.Since(l.since)
		l.since = time.Now()
	}
	l.paused++
	ctx, cancel := context.WithTimeoutCause(ctx, l.waiting-time.Since(l.since), errWaited)
	return ctx, func() {
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.paused--; l.paused == 0 {
			l.waiting -= time.Since(l.since)
			l.since = time.Now()
			if !l.over {
				l.timer.Reset(max(l.left, 0))
			}
		}
	}
}

// end ends the context.
func (l *timeLimit) end(cause error) {
	l.cancel(cause)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.timer.Stop()
}
