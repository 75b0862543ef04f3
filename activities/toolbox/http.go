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

// maxAnswer bounds what is read of one answer before it is rendered, maxEvent
// one message on a stream of server messages that no answer comes on.
const (
	maxAnswer = 64 << 20
	maxEvent  = 1 << 20
)

var errTooLarge = errors.New("the answer is larger than 64 MiB")

// httpWire is mcp-go's Streamable HTTP, watched.
type httpWire struct {
	*transport.StreamableHTTP
	trip    *watchedTransport
	client  *http.Client
	url     string
	version func() string   // of the protocol
	life    context.Context // ends with the connection
	turns   slots
}

// newHTTPWire makes the wire of an HTTP server. Without listen it does not read
// the stream of server messages: that of one caller would go without the token.
func newHTTPWire(c *conn, listen bool) (*httpWire, error) {
	trip := newWatchedTransport(c.server.Headers, c.box.opts.ConnectTimeout)
	trip.lost, trip.relist = c.retire, c.requestRelist
	trip.farewell = callerOf(c.life).headers()
	client := &http.Client{Transport: trip, CheckRedirect: sameServer}
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(client),
		transport.WithHTTPHeaderFunc(func(ctx context.Context) map[string]string { return callerOf(ctx).headers() }),
		transport.WithHTTPLogger(discardLogger()),
	}
	if listen {
		//lint:ignore SA1019 the protocol that conn.go prefers has no other way
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

// SetRequestHandler is how mcp-go offers to answer the server's requests. The answers
// are posted here, because they may take longer than it allows (see patient).
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

// post posts an answer. A server that does not take it fails the call by itself.
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
	return x.answered(req, resp), err
}

// sameServer follows redirects that stay on the server and keep the request as
// it is. Others would carry the token, the session or the arguments to somebody
// else, so their 3xx is the answer. It is so for every destructive call.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if x := traceOf(req.Context()); x != nil && x.fresh {
		return http.ErrUseLastResponse // the first server may have acted on what it read
	}
	downgrade := first.URL.Scheme == "https" && req.URL.Scheme != "https"
	if req.URL.Host != first.URL.Host || downgrade || req.Method != first.Method || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// watchedTransport sends the headers of a server with every request, and writes
// into the exchange of a request how far it got.
type watchedTransport struct {
	kept, fresh *http.Transport
	headers     map[string]string
	// farewell are the headers of the caller whose session it is (see signDelete).
	farewell map[string]string
	// lost is told, once or more, when the stream of server messages shows that
	// the server is gone. relist has the tools listed: when a stream begins, and
	// when it does not and the server may be gone.
	lost     func(error)
	relist   func()
	event    int          // the largest message in that stream
	streamed atomic.Bool  // the stream of server messages was open once
	unopened atomic.Int32 // how often it was asked for and did not open
	moved    atomic.Pointer[move]
}

func newWatchedTransport(headers map[string]string, dial time.Duration) *watchedTransport {
	kept := http.DefaultTransport.(*http.Transport).Clone()
	kept.DialContext = (&net.Dialer{Timeout: dial, KeepAlive: 15 * time.Second}).DialContext
	kept.TLSHandshakeTimeout = dial
	kept.MaxIdleConnsPerHost = 32
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return &watchedTransport{kept: kept, fresh: fresh, headers: headers, event: maxEvent}
}

func (t *watchedTransport) CloseIdleConnections() {
	t.kept.CloseIdleConnections()
	t.fresh.CloseIdleConnections()
}

func (t *watchedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = withHeaders(signDelete(req, t.farewell), t.headers)
	x := traceOf(req.Context())
	switch {
	case x != nil && isPost(req):
		return t.post(x, req)
	case x == nil && req.Method == http.MethodGet:
		return t.listen(req)
	}
	return bounded(t.kept.RoundTrip(req))
}

// withHeaders is a copy of req with headers, or req itself when there are none.
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

// bounded bounds what is read of an answer.
func bounded(resp *http.Response, err error) (*http.Response, error) {
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxAnswer}
	}
	return resp, err
}

func (t *watchedTransport) post(x *trace, req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	way := t.kept
	if x.fresh {
		way = t.fresh
		t.redirectOnce(req)
	}
	resp, err := bounded(way.RoundTrip(req))
	if err == nil {
		x.gotStatus(resp.StatusCode)
		t.storeRedirect(resp)
	}
	return resp, err
}

// storeRedirect keeps where redirects have led a request that the server then took.
func (t *watchedTransport) storeRedirect(resp *http.Response) {
	if req := resp.Request; resp.StatusCode == http.StatusOK && req.Response != nil {
		t.moved.Store(&move{from: origin(req), to: req.URL})
	}
}

// move is where requests for an address end up on the same server.
type move struct{ from, to *url.URL }

// origin is the URL that a request had before all redirects.
func origin(req *http.Request) *url.URL {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req.URL
}

// redirectOnce sends a request that follows no redirects to where they led others, and keeps
// net/http from sending it twice.
func (t *watchedTransport) redirectOnce(req *http.Request) {
	req.GetBody = nil
	if m := t.moved.Load(); m != nil && *m.from == *req.URL {
		req.URL = m.to
	}
}

// listen watches the stream of server messages: once it was open, a refused or
// unknown one means that the server went away or forgot the session. Before, it may
// mean that as well, or that the server has no such stream.
func (t *watchedTransport) listen(req *http.Request) (*http.Response, error) {
	resp, err := t.kept.RoundTrip(req)
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
	return bounded(resp, err)
}

// relistUnopened has the tools listed, which fails where the server is gone.
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
