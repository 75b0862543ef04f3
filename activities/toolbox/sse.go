package toolbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/activities/outbound"
)

// sseWire is mcp-go's HTTP+SSE, extended to answer requests of the server (see requestIn).
type sseWire struct {
	*transport.SSE
	trip   *watchedTransport
	client *http.Client
	ctx    context.Context // ends with the connection
	// broken ends, with the reason, when the stream of answers does.
	broken context.Context
	turns  slots
	secure bool // the server is configured with https

	mu      sync.Mutex
	handler transport.RequestHandler
}

var (
	errStreamEnded = errors.New("the stream of answers has ended")
	errUnencrypted = errors.New("the server wants requests without encryption, although its URL is https")
)

func newSSEWire(c *conn) (*sseWire, error) {
	broken, breakOff := context.WithCancelCause(context.Background())
	w := &sseWire{
		trip: newWatchedTransport(c.server, c.box.opts.ConnectTimeout), ctx: c.life, broken: broken, turns: make(slots, maxAnswers),
		secure: strings.HasPrefix(strings.ToLower(c.server.URL), "https:"),
	}
	lost := func(err error) {
		if err == nil || errors.Is(err, io.EOF) {
			err = errStreamEnded
		}
		breakOff(err)
		c.retire(err)
	}
	w.trip.lost, w.trip.relist, w.trip.event = lost, func() {}, maxAnswer
	w.client = &http.Client{Transport: sseTransport{w}, CheckRedirect: sameServer}
	var err error
	w.SSE, err = transport.NewSSE(c.server.URL,
		transport.WithHTTPClient(w.client),
		transport.WithHeaderFunc(func(ctx context.Context) map[string]string { return callerOf(ctx).headers() }),
		transport.WithSSELogger(discardLogger()),
		transport.WithEndpointTimeout(c.box.opts.ConnectTimeout),
		transport.WithResponseTimeout(c.box.opts.QuestionTime+time.Hour), // every request has our own time limit
	)
	if err != nil {
		breakOff(err)
		return nil, err
	}
	w.SetConnectionLostHandler(lost)
	return w, nil
}

func (w *sseWire) closeIdle() { w.trip.CloseIdleConnections() }

// SetRequestHandler receives mcp-go's handler for the server's requests.
func (w *sseWire) SetRequestHandler(handler transport.RequestHandler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = handler
}

// SendRequest fails when the stream ends (see withoutDeadline).
func (w *sseWire) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if w.broken.Err() != nil {
		return nil, context.Cause(w.broken)
	}
	x := traceOf(ctx)
	if x != nil {
		x.begin()
	}
	limited, cancel := withoutDeadline(ctx, w.broken)
	defer cancel()
	resp, err := w.SSE.SendRequest(limited, req)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, context.Canceled):
		err = context.Cause(w.broken)
	}
	if x != nil {
		resp = x.recordAnswer(req, resp)
	}
	return resp, err
}

// serve answers a request of the server.
func (w *sseWire) serve(req transport.JSONRPCRequest) {
	defer w.turns.release()
	w.mu.Lock()
	handler := w.handler
	w.mu.Unlock()
	resp := transport.NewJSONRPCErrorResponse(req.ID, mcp.METHOD_NOT_FOUND, "there is nobody to answer "+req.Method, nil)
	if handler != nil {
		resp = respond(w.ctx, handler, req)
	}
	if endpoint := w.GetEndpoint(); endpoint != nil && resp != nil {
		// The error is dropped: a server without its answer fails the call.
		_ = postAnswer(w.ctx, w.client, endpoint.String(), http.Header{}, resp)
	}
}

// sseTransport removes the server's requests from the stream, and limits posted requests to the
// time of their call.
type sseTransport struct{ wire *sseWire }

func (t sseTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = ofCall(req)
	if t.wire.secure && req.URL.Scheme != "https" {
		return nil, errUnencrypted
	}
	resp, err := t.wire.trip.RoundTrip(req)
	if err == nil && req.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
		resp.Body = &eventFilter{ReadCloser: resp.Body, in: outbound.NewEventReader(resp.Body, maxAnswer, errTooLarge), serve: t.wire.serve, turns: t.wire.turns}
	}
	return resp, err
}

// eventFilter passes a stream on event by event, without the requests in it.
type eventFilter struct {
	io.ReadCloser
	in    *outbound.EventReader
	out   []byte
	err   error
	serve func(transport.JSONRPCRequest) // holds a slot, and releases it
	turns slots
}

func (f *eventFilter) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		var event outbound.Event
		event, f.err = f.in.Next()
		if req, ok := requestIn(event.Data()); ok && f.err == nil {
			if f.turns.acquire() {
				go f.serve(req)
			}
			continue
		}
		f.out = event
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}
