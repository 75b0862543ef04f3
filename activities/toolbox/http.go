package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/activities/outbound"
)

// maxAnswer bounds the bytes read of one answer, maxEvent one message on a stream of server
// messages that carries no answers.
const (
	maxAnswer = 64 << 20
	maxEvent  = 1 << 20
)

var errTooLarge = errors.New("the answer is larger than 64 MiB")

// httpWire is mcp-go's Streamable HTTP over a watchedTransport.
type httpWire struct {
	*transport.StreamableHTTP
	trip    *watchedTransport
	client  *http.Client
	url     string
	version func() string   // the protocol version
	life    context.Context // ends with the connection
	turns   slots
}

// newHTTPWire makes the wire of an HTTP server. Without listen it does not open the stream of
// server messages. The connection of one caller does not, because mcp-go would open the stream
// without the caller's token.
func newHTTPWire(c *conn, listen bool) (*httpWire, error) {
	trip := newWatchedTransport(c.server, c.box.opts.ConnectTimeout)
	trip.lost, trip.relist = c.retire, c.requestRelist
	trip.deleteHeaders = callerOf(c.life).headers()
	client := &http.Client{Transport: trip, CheckRedirect: sameServer}
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(client),
		transport.WithHTTPHeaderFunc(func(ctx context.Context) map[string]string { return callerOf(ctx).headers() }),
		transport.WithHTTPLogger(discardLogger()),
	}
	if listen {
		//lint:ignore SA1019 the protocol with sessions has no other way
		options = append(options, transport.WithContinuousListening())
	}
	t, err := transport.NewStreamableHTTP(c.server.URL, options...)
	if err != nil {
		return nil, err
	}
	return &httpWire{
		StreamableHTTP: t, trip: trip, client: client, url: c.server.URL, version: func() string { return c.client.ProtocolVersion() },
		life: c.life, turns: make(slots, maxAnswers),
	}, nil
}

// SetRequestHandler receives mcp-go's handler for the server's requests. The answers are posted
// here, because they may take longer than mcp-go allows (see withoutAnswerDeadline).
func (w *httpWire) SetRequestHandler(handler transport.RequestHandler) {
	w.StreamableHTTP.SetRequestHandler(func(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		if !w.turns.acquire() {
			return nil, nil
		}
		defer w.turns.release()
		ctx, cancel := withoutAnswerDeadline(ctx, w.life)
		defer cancel()
		if resp := respond(ctx, handler, req); resp != nil && ctx.Err() == nil {
			w.post(ctx, resp)
		}
		return nil, nil
	})
}

// post posts an answer. Its error is dropped: a server without its answer fails the call.
func (w *httpWire) post(ctx context.Context, resp *transport.JSONRPCResponse) {
	header := http.Header{"Accept": {"application/json, text/event-stream"}}
	if id := w.GetSessionId(); id != "" {
		header.Set(transport.HeaderKeySessionID, id)
	}
	if version := w.version(); version != "" {
		header.Set(transport.HeaderKeyProtocolVersion, version)
	}
	_ = postAnswer(ctx, w.client, w.url, header, resp)
}

func (w *httpWire) closeIdle() { w.trip.CloseIdleConnections() }

func (w *httpWire) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	x := traceOf(ctx)
	if x == nil {
		return w.StreamableHTTP.SendRequest(ctx, req)
	}
	x.begin()
	resp, err := w.StreamableHTTP.SendRequest(ctx, req)
	return x.recordAnswer(req, resp), err
}

// sameServer follows redirects that stay on the server and do not change the request. Others
// would send the token, the session or the arguments elsewhere, so the 3xx is the answer.
// Redirects of destructive calls are never followed.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if x := traceOf(req.Context()); x != nil && x.ownConnection {
		return http.ErrUseLastResponse // the first server may have acted on the request
	}
	downgrade := first.URL.Scheme == "https" && req.URL.Scheme != "https"
	if req.URL.Host != first.URL.Host || downgrade || req.Method != first.Method || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// watchedTransport sends the headers of a server with every request, and records in the trace
// of a request how far it got.
type watchedTransport struct {
	kept, fresh *http.Transport
	headers     map[string]string
	credential  Credential // nil if requests carry the caller's token
	// deleteHeaders are the headers of the session's caller (see signDelete).
	deleteHeaders map[string]string
	// lost is called, once or more, when the stream of server messages shows that the server is
	// gone. relist requests a new list of the tools: when a stream opens, and when it does not
	// open because the server may be gone.
	lost     func(error)
	relist   func()
	event    int          // the largest message in that stream
	streamed atomic.Bool  // whether the stream of server messages has ever opened
	unopened atomic.Int32 // how often it did not open when requested
	moved    atomic.Pointer[move]
}

func newWatchedTransport(s Server, dial time.Duration) *watchedTransport {
	kept := http.DefaultTransport.(*http.Transport).Clone()
	kept.DialContext = (&net.Dialer{Timeout: dial, KeepAlive: 15 * time.Second}).DialContext
	kept.TLSHandshakeTimeout = dial
	kept.MaxIdleConnsPerHost = 32
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return &watchedTransport{kept: kept, fresh: fresh, headers: s.Headers, credential: s.Credential, event: maxEvent}
}

func (t *watchedTransport) CloseIdleConnections() {
	t.kept.CloseIdleConnections()
	t.fresh.CloseIdleConnections()
}

func (t *watchedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = withHeaders(signDelete(req, t.deleteHeaders), t.headers)
	x := traceOf(req.Context())
	switch {
	case x != nil && isPost(req):
		return t.post(x, req)
	case x == nil && req.Method == http.MethodGet:
		return t.listen(req)
	}
	return boundAnswer(t.send(req.Context(), t.kept, req, req.GetBody))
}

// withHeaders returns a copy of req with headers, or req itself if there are none.
func withHeaders(req *http.Request, headers map[string]string) *http.Request {
	if len(headers) == 0 {
		return req
	}
	req = req.Clone(req.Context())
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	return req
}

// boundAnswer limits the bytes read of an answer.
func boundAnswer(resp *http.Response, err error) (*http.Response, error) {
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxAnswer}
	}
	return resp, err
}

func (t *watchedTransport) post(x *trace, req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(ctx, trace))
	way, body := t.kept, req.GetBody
	if x.ownConnection {
		way = t.fresh
		t.redirectOnce(req)
	}
	resp, err := boundAnswer(t.send(ctx, way, req, body))
	if err == nil {
		x.recordStatus(resp)
		t.storeRedirect(resp)
	}
	return resp, err
}

// storeRedirect stores the final URL of a redirected request that the server accepted.
func (t *watchedTransport) storeRedirect(resp *http.Response) {
	if req := resp.Request; resp.StatusCode == http.StatusOK && req.Response != nil {
		t.moved.Store(&move{from: origin(req), to: req.URL})
	}
}

// move is a redirect from one URL to another on the same server.
type move struct{ from, to *url.URL }

// origin returns the URL that a request had before all redirects.
func origin(req *http.Request) *url.URL {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req.URL
}

// redirectOnce changes the URL of a request that follows no redirects to the one that earlier
// requests were redirected to, and prevents net/http from sending it twice.
func (t *watchedTransport) redirectOnce(req *http.Request) {
	req.GetBody = nil
	if m := t.moved.Load(); m != nil && *m.from == *req.URL {
		req.URL = m.to
	}
}

// listen watches the stream of server messages. After the stream has been open, a refusal means
// that the server was restarted or lost the session. Before, it may also mean that the server
// has no such stream.
func (t *watchedTransport) listen(req *http.Request) (*http.Response, error) {
	resp, err := t.send(req.Context(), t.kept, req, req.GetBody)
	switch {
	case err == nil && resp.StatusCode == http.StatusOK:
		t.streamed.Store(true)
		resp.Body = &boundedEvents{ReadCloser: resp.Body, lost: t.lost, limit: outbound.EventLimit{Max: t.event}}
		t.relist()
		return resp, nil
	case req.Context().Err() != nil:
	case !t.streamed.Load():
		t.relistUnopened()
	case err != nil:
		t.lost(err)
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest:
		t.lost(errSessionLost)
	}
	return boundAnswer(resp, err)
}

// relistUnopened requests a new list of the tools, which fails if the server is gone.
func (t *watchedTransport) relistUnopened() {
	if worthListing(t.unopened.Add(1)) {
		t.relist()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// boundedEvents fails, and reports the connection lost, if an event of a stream is too large.
type boundedEvents struct {
	io.ReadCloser
	lost  func(error)
	limit outbound.EventLimit
	err   error
}

func (b *boundedEvents) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if b.limit.Exceeded(p[:n]) {
		b.err = fmt.Errorf("a message of the server is larger than %d MiB", b.limit.Max>>20)
		b.lost(b.err)
		return 0, b.err
	}
	return n, err
}
