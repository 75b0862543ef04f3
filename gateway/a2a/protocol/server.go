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
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/sse"
)

// Options are optional.
type Options struct {
	// Logger gets internal errors. The default is slog.Default().
	Logger *slog.Logger
	// Closing ends streams when it is done. Clients resume them at another gateway.
	Closing context.Context
}

// Server turns HTTP requests into calls of a Handler. It is safe for concurrent use.
type Server struct {
	handler Handler
	log     *slog.Logger
	closing context.Context
	cards   cardTimes
}

// New makes a Server. It starts no goroutines.
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

// maxRefused is how much of a refused request is read, to answer with its id.
const maxRefused = 64 << 10

// Refuse answers a request that must not be carried out.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	x := &rpc{Server: s, w: w, r: r, ctx: r.Context(), out: sse.New(w, http.StatusOK, s.closing)}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxRefused)) // without the whole there is no id
	x.request, _ = parse(body)
	x.dialect = methods[x.method].dialect
	x.fail(err)
}

// rpc is one request and its reply.
type rpc struct {
	*Server
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context
	request
	dialect Dialect // "" until the method is known
	out     *sse.Writer
	// failAsEvent: errors are sent as an event even before the first event.
	failAsEvent bool
}

func (x *rpc) serve() (err error) {
	defer x.recoverPanic(&err)
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
	if mayBeOld(x.request, x.r.Header) && isOld(v) {
		x.dialect = Old
	}
	return x.answer(v)
}

// receive reads the request. It keeps the id even if it fails, so that the error has it.
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
		return &httpError{status: http.StatusRequestEntityTooLarge,
			error: invalidRequest(fmt.Sprintf("the body is too large: the limit is %d bytes", tooLarge.Limit))}
	}
	return &httpError{status: http.StatusBadRequest, error: invalidRequest("the body could not be read")}
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

// stream writes events until they end or the client stops reading.
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
	_ = x.out.Begin() // also a stream without events needs its headers
	return nil
}

// relay writes the events. It returns nil if the client has stopped reading.
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

// conclude ends a 0.3 stream with a final status, which its clients wait for, if the last
// event was the task itself.
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
	_ = x.out.Send("", data) // the client may be gone
	return nil
}

// settled reports whether the task changes no more until the client acts.
func settled(s a2a.TaskState) bool {
	return s.Terminal() || s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired
}

// frame encodes an event as a JSON-RPC response.
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
	_, _ = x.w.Write(data) // the client may be gone
	return nil
}

// fail sends an error to the client. It is the only function that does.
func (x *rpc) fail(err error) {
	if canceled(x.r.Context()) && !errors.Is(err, errPanic) {
		return // the client is gone
	}
	e := describe(err, x.dialect)
	if x.dialect == Old {
		e = describeOld(err, x.params)
	}
	if e.Code == codeInternal {
		x.log.ErrorContext(x.ctx, "A2A request failed", "method", x.method, "error", err)
	}
	var with *httpError
	errors.As(err, &with)
	if x.out.HeadersSent() || x.failAsEvent && with == nil {
		data, _ := encode(response{Version: jsonrpc, ID: x.id, Error: e})
		_ = x.out.Send("", data)
		return
	}
	if with != nil && with.retryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(with.retryAfter.Seconds())))
	}
	status := statusOf(err)
	if status == http.StatusUnauthorized {
		x.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	_ = x.write(status, response{Error: e})
}

// canceled reports whether ctx was canceled, not whether its deadline passed.
func canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// recoverPanic turns a panic into an error, so that the client gets a reply.
func (x *rpc) recoverPanic(err *error) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		*err = fmt.Errorf("%w: panic: %v\n%s", errPanic, p, debug.Stack())
	}
}

// errPanic marks a recovered panic. The panic's value is formatted, not wrapped: if it is an
// error, its code must not count.
var errPanic = a2a.NewError(a2a.ErrInternalError, internalText)
