package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// maxAnswer bounds what is read of one answer before it is rendered, maxEvent
// one message on the stream of server messages.
const (
	maxAnswer = 64 << 20
	maxEvent  = 1 << 20
)

var (
	errTooLarge      = errors.New("the answer is larger than 64 MiB")
	errEventTooLarge = errors.New("a message of the server is larger than 1 MiB")
)

// httpWire is mcp-go's Streamable HTTP, watched.
type httpWire struct {
	*transport.StreamableHTTP
	trip    *watchedTransport
	client  *http.Client
	url     string
	version func() string // of the protocol
}

const lateLimit = 30 * time.Second

// newHTTPWire makes the wire of an HTTP server. Without listen it does not read
// the stream of server messages: that of one caller would go without the token.
func newHTTPWire(c *conn, listen bool) (*httpWire, error) {
	trip := newWatchedTransport(c.server.Headers, c.box.opts.ConnectTimeout)
	trip.lost, trip.opened = c.retire, c.noteChange
	trip.farewell = callerOf(c.life).headers()
	client := &http.Client{Transport: trip, CheckRedirect: sameServer}
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(client),
		transport.WithHTTPHeaderFunc(func(ctx context.Context) map[string]string { return callerOf(ctx).headers() }),
		// mcp-go logs every retry of the stream; states and link.go tell it once.
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)),
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
	}, nil
}

// SetRequestHandler is how mcp-go offers to answer the server's requests. It gives
// itself 30 seconds for that; an answer that comes later is posted here.
func (w *httpWire) SetRequestHandler(handler transport.RequestHandler) {
	w.StreamableHTTP.SetRequestHandler(func(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		resp, err := handler(ctx, req)
		if ctx.Err() == nil {
			return resp, err
		}
		if err != nil {
			resp = transport.NewJSONRPCErrorResponse(req.ID, mcp.INTERNAL_ERROR, err.Error(), nil)
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && resp != nil {
			w.postLate(ctx, resp)
		}
		return nil, nil
	})
}

// postLate posts an answer under a context whose time is up.
func (w *httpWire) postLate(ctx context.Context, resp *transport.JSONRPCResponse) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateLimit)
	defer cancel()
	body, err := json.Marshal(resp)
	if err != nil {
		return // the call fails by itself
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if id := w.GetSessionId(); id != "" {
		req.Header.Set(transport.HeaderKeySessionID, id)
	}
	if version := w.version(); version != "" {
		req.Header.Set(transport.HeaderKeyProtocolVersion, version)
	}
	for name, value := range callerOf(ctx).headers() {
		req.Header.Set(name, value)
	}
	if answer, err := w.client.Do(req); err == nil {
		_ = answer.Body.Close()
	}
}

func (w *httpWire) closeIdle() { w.trip.CloseIdleConnections() }

func (w *httpWire) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := w.StreamableHTTP.SendRequest(ctx, req)
	if x := exchangeOf(ctx); x != nil {
		resp = x.answered(req, resp)
	}
	return resp, err
}

// sameServer follows redirects that stay on the server and keep the request as
// it is. Others would carry the token, the session or the arguments to somebody
// else, so their 3xx is the answer.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
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
	// farewell are the headers of the caller whose session it is. mcp-go adds them
	// to every request but the DELETE that ends the session.
	farewell map[string]string
	// lost is told, once or more, when the stream of server messages shows that
	// the server is gone; opened, when one begins.
	lost     func(error)
	opened   func()
	streamed atomic.Bool // the stream of server messages was open once
}

func newWatchedTransport(headers map[string]string, dial time.Duration) *watchedTransport {
	kept := http.DefaultTransport.(*http.Transport).Clone()
	kept.DialContext = (&net.Dialer{Timeout: dial, KeepAlive: 15 * time.Second}).DialContext
	kept.TLSHandshakeTimeout = dial
	kept.MaxIdleConnsPerHost = 32
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return &watchedTransport{kept: kept, fresh: fresh, headers: headers}
}

func (t *watchedTransport) CloseIdleConnections() {
	t.kept.CloseIdleConnections()
	t.fresh.CloseIdleConnections()
}

func (t *watchedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ending := req.Method == http.MethodDelete && len(t.farewell) > 0
	if len(t.headers) > 0 || ending {
		req = req.Clone(req.Context())
	}
	if ending {
		for name, value := range t.farewell {
			req.Header.Set(name, value)
		}
	}
	if len(t.headers) > 0 {
		for name, value := range t.headers {
			req.Header.Set(name, value)
		}
	}
	x := exchangeOf(req.Context())
	switch {
	case x != nil && isPost(req):
		return t.post(x, req)
	case x == nil && req.Method == http.MethodGet:
		return t.listen(req)
	}
	return t.kept.RoundTrip(req)
}

func (t *watchedTransport) post(x *exchange, req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	way := t.kept
	if x.fresh {
		way = t.fresh
	}
	resp, err := way.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.gotStatus(resp.StatusCode)
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxAnswer}
	return resp, nil
}

// listen watches the stream of server messages: once it was open, a refused or
// unknown one means that the server went away or forgot the session.
func (t *watchedTransport) listen(req *http.Request) (*http.Response, error) {
	resp, err := t.kept.RoundTrip(req)
	switch {
	case err == nil && resp.StatusCode == http.StatusOK:
		t.streamed.Store(true)
		resp.Body = &boundedEvents{ReadCloser: resp.Body, lost: t.lost}
		t.opened()
	case !t.streamed.Load() || req.Context().Err() != nil:
	case err != nil:
		t.lost(err)
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest:
		t.lost(errSessionLost)
	}
	return resp, err
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

// boundedEvents fails, and says so, when an event of a stream has no end.
type boundedEvents struct {
	io.ReadCloser
	lost        func(error)
	event, line int // bytes since the last empty line, and of the last line
}

func (b *boundedEvents) Read(p []byte) (int, error) {
	if b.event > maxEvent {
		return 0, errEventTooLarge
	}
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		b.event++
		switch {
		case c == '\n' && b.line == 0:
			b.event = 0
		case c == '\n':
			b.line = 0
		case c != '\r':
			b.line++
		}
		if b.event > maxEvent {
			b.lost(errEventTooLarge)
			return 0, errEventTooLarge
		}
	}
	return n, err
}
