package protocol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/sse"
)

// Options may all be left out.
type Options struct {
	// Logger gets what is a fault of ours; nil is slog.Default().
	Logger *slog.Logger
	// Closing ends streams when it is done. Their clients go on elsewhere.
	Closing context.Context
}

// Server turns HTTP requests into calls of a Handler. It is safe for use by many
// requests at once.
type Server struct {
	handler Handler
	log     *slog.Logger
	closing context.Context
	cards   cardTimes
}

// New makes a Server. It starts nothing, so there is nothing to stop.
func New(h Handler, o Options) *Server {
	s := &Server{handler: h, log: cmp.Or(o.Logger, slog.Default()), closing: o.Closing}
	if s.closing == nil {
		s.closing = context.Background()
	}
	return s
}

// RPC serves POST /a2a. The caller limits the size of the body.
func (s *Server) RPC(w http.ResponseWriter, r *http.Request) {
	x := &rpc{Server: s, w: w, r: r, ctx: r.Context(), out: sse.New(w, http.StatusOK, s.closing)}
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

// rpc is one request and its reply.
type rpc struct {
	*Server
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context
	request
	dialect Dialect // "" until it is known
	out     *sse.Writer
	// failAsEvent: even an error that comes first is sent in a stream.
	failAsEvent bool
}

func (x *rpc) serve() (err error) {
	defer x.recovered(&err)
	if err := x.receive(); err != nil {
		return err
	}
	m, err := methodOf(x.request)
	if err != nil {
		return err
	}
	x.dialect = m.dialect
	req, err := m.read(x.params)
	if err != nil {
		return err
	}
	x.ctx = WithCall(x.ctx, Call{m.dialect, requested(x.r.Header), activator(x.w, x.r), x.r})
	if m.stream != nil {
		return x.stream(m, req)
	}
	v, err := m.do(x.ctx, x.handler, req)
	if err != nil {
		return err
	}
	if maybeOld(x.request, x.r.Header) && isOld(v) {
		x.dialect = Old
	}
	return x.answer(v)
}

// receive reads the request. As soon as its id is known, errors have it.
func (x *rpc) receive() error {
	body, err := io.ReadAll(x.r.Body)
	if err != nil {
		return unreadable(err)
	}
	x.request, err = parse(body)
	if wrong := checkMediaType(x.r.Header); wrong != nil {
		return wrong
	}
	if err == nil {
		err = x.check()
	}
	if err == nil {
		err = checkVersion(x.r)
	}
	return err
}

func unreadable(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &httpError{http.StatusRequestEntityTooLarge,
			invalidRequest(fmt.Sprintf("the body is too large: the limit is %d bytes", tooLarge.Limit))}
	}
	return &httpError{http.StatusBadRequest, invalidRequest("the body could not be read")}
}

func (x *rpc) answer(v any) error {
	v, err := result(x.dialect, v)
	if err != nil {
		return err
	}
	data, err := encode(v)
	if err != nil {
		return err
	}
	return x.write(http.StatusOK, response{Result: data})
}

// stream writes events until there are no more, or nobody to read them.
func (x *rpc) stream(m method, req any) error {
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	defer context.AfterFunc(x.closing, cancel)()
	defer x.out.HurryOnClose()()
	x.failAsEvent = x.dialect == V03
	events := m.stream(ctx, x.handler, req, x.r.Header.Get("Last-Event-ID"))
	err := x.relay(events)
	if err != nil && !canceled(ctx) {
		return err
	}
	_ = x.out.Begin() // a stream without events is one too
	return nil
}

// relay returns nil when the client does not read any more.
func (x *rpc) relay(events iter.Seq2[Event, error]) error {
	var last a2a.Event
	for event, err := range events {
		if err != nil {
			return err
		}
		if event.Event == nil {
			if x.out.KeepAlive() != nil {
				return nil
			}
			continue
		}
		data, err := x.frame(event)
		if err != nil {
			return err
		}
		if x.out.Send(event.ID, data) != nil {
			return nil
		}
		last = event.Event
	}
	return x.conclude(last)
}

// conclude ends a stream of 0.3 with a status that is final, for which its clients wait,
// where the task itself was the last event.
func (x *rpc) conclude(last a2a.Event) error {
	task, ok := last.(*a2a.Task)
	if !ok || x.dialect != V03 || !settled(task.Status.State) || x.closing.Err() != nil {
		return nil
	}
	end := &a2a.TaskStatusUpdateEvent{TaskID: task.ID, ContextID: task.ContextID, Status: task.Status}
	data, err := x.frame(Event{Event: end})
	if err != nil {
		return err
	}
	_ = x.out.Send("", data) // whoever does not read it is gone
	return nil
}

// settled reports whether nothing more comes unless the client does something.
func settled(s a2a.TaskState) bool {
	return s.Terminal() || s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired
}

// frame is an event as the response that stands in a stream.
func (x *rpc) frame(event Event) ([]byte, error) {
	v, err := result(x.dialect, event)
	if err != nil {
		return nil, err
	}
	data, err := encode(v)
	if err != nil {
		return nil, err
	}
	return encode(response{Version: jsonrpc, ID: x.id, Result: data})
}

func (x *rpc) write(status int, res response) error {
	res.Version, res.ID = jsonrpc, x.id
	data, err := encode(res)
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(data) // whoever does not read it is gone
	return nil
}

// fail tells the client what went wrong: the only place that does.
func (x *rpc) fail(err error) {
	if canceled(x.r.Context()) && !errors.Is(err, errPanic) {
		return // nobody reads it
	}
	e := describe(err, x.dialect)
	if x.dialect == Old {
		e = describeOld(err, x.params)
	}
	if e.Code == codeInternal {
		x.log.ErrorContext(x.ctx, "A2A request failed", "method", x.method, "error", err)
	}
	if x.out.Begun() || x.failAsEvent {
		data, _ := encode(response{Version: jsonrpc, ID: x.id, Error: e})
		_ = x.out.Send("", data)
		return
	}
	status := statusOf(err)
	if status == http.StatusUnauthorized {
		x.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	_ = x.write(status, response{Error: e})
}

// canceled tells a context that nobody waits for from one whose time is up.
func canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// recovered makes an error of a panic, so that the client gets an answer.
func (x *rpc) recovered(err *error) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		*err = fmt.Errorf("%w: panic: %v\n%s", errPanic, p, debug.Stack())
	}
}

// errPanic keeps a panic's value from being read as an error that it wraps.
var errPanic = a2a.NewError(a2a.ErrInternalError, internalText)
