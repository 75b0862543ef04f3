package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

const (
	clientName    = "agent-stop-and-go"
	clientVersion = "1.0.0"
	notifyLimit   = 2 * time.Second
)

// conn is one initialized connection. Users hold it; once it is retired it accepts no new
// users, and it is closed when the last one releases it.
type conn struct {
	box      *Toolbox
	server   Server
	client   *client.Client
	wire     transport.Interface
	protocol string        // the requested version
	changed  chan struct{} // the server's tools have, or may have, changed
	done     chan struct{} // closed by retire
	life     context.Context
	cancel   context.CancelFunc
	once     sync.Once
	private  bool
	progress progressCalls
	asked    slots // the server's open questions and samples

	mu    sync.Mutex
	users int
	lost  error
	tools []Tool // as last listed
	// elicitations are the running calls during which the server may ask.
	elicitations []*elicitation
}

// webWire is a wire over HTTP.
type webWire interface {
	transport.Interface
	closeIdle()
}

// dial connects to a server and lists its tools. A connection for a caller is not shared. A
// server that refuses the handshake is tried again in the protocol without one.
func dial(ctx context.Context, t *Toolbox, s Server, who caller) (*conn, listing, error) {
	if s.Problem != "" {
		return nil, listing{}, errors.New(s.Problem)
	}
	c, list, err := dialAs(ctx, t, s, who, mcp.LATEST_LEGACY_PROTOCOL_VERSION)
	var refused *refusedError
	if s.transport() == SSE || !errors.As(err, &refused) {
		return c, list, hideSecrets(err, s.mask(who.bearer))
	}
	if c, list, again := dialAs(ctx, t, s, who, mcp.LATEST_PROTOCOL_VERSION); again == nil {
		return c, list, nil
	}
	return nil, listing{}, hideSecrets(err, s.mask(who.bearer))
}

func dialAs(ctx context.Context, t *Toolbox, s Server, who caller, protocol string) (*conn, listing, error) {
	c := &conn{
		box: t, server: s, protocol: protocol, private: who != caller{},
		changed: make(chan struct{}, 1), done: make(chan struct{}), asked: make(slots, maxAsked),
	}
	if err := c.open(ctx, who); err != nil {
		return nil, listing{}, err
	}
	if !t.adopt(c) {
		c.close()
		return nil, listing{}, errClosed
	}
	c.watchChild()
	list, err := c.initialize(withCaller(ctx, who))
	if err != nil {
		c.retire(err)
		return nil, listing{}, c.cause(err)
	}
	c.storeList(list)
	c.subscribe()
	return c, list, nil
}

// open makes the wire: it starts the child of a command, or opens the stream of SSE.
func (c *conn) open(ctx context.Context, who caller) error {
	c.life, c.cancel = context.WithCancel(withCaller(context.Background(), who))
	wire, err := c.newWire()
	if err != nil {
		c.cancel()
		return err
	}
	c.wire = wire
	options, err := c.hostOptions()
	if err == nil {
		c.client = client.NewClient(wire, append(options, client.WithProtocolVersion(c.protocol))...)
		c.client.OnNotification(c.handleNotification)
		defer context.AfterFunc(ctx, c.cancel)() // a stream that does not open
		err = c.client.Start(c.life)
	}
	if err != nil {
		c.close()
		return (&trace{}).explain(ctx, err)
	}
	return nil
}

func (c *conn) newWire() (transport.Interface, error) {
	switch c.server.transport() {
	case HTTP:
		return newHTTPWire(c, !c.private && !c.modern())
	case SSE:
		return newSSEWire(c)
	}
	child, err := startProcess(c.server, c.box.opts.Logger)
	if err != nil {
		return nil, err
	}
	return newStdioWire(child, c.box.opts.Logger.With("server", c.server.Name)), nil
}

// session returns the ID of the server's session, or "".
func (c *conn) session() string {
	switch w := c.wire.(type) {
	case *httpWire:
		return w.GetSessionId()
	case *sseWire:
		if endpoint := w.GetEndpoint(); endpoint != nil {
			return endpoint.String()
		}
	}
	return ""
}

// remembersKeys reports whether the server has declared that it deduplicates calls by
// idempotency key.
func (c *conn) remembersKeys() bool {
	_, declared := c.client.GetServerCapabilities().Experimental[contract.IdempotencyCapability]
	return declared
}

// sessionAlive reports whether the server still knows the session, for a request that cannot be
// sent twice. Any other answer means that it does.
func (c *conn) sessionAlive(ctx context.Context) bool {
	x := &trace{session: c.session()}
	if x.session == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, c.box.opts.ConnectTimeout)
	defer cancel()
	//lint:ignore SA1019 the protocol that has sessions has no other request for this
	err := c.client.Ping(withTrace(ctx, x))
	answered := x.refusal != nil || x.httpStatus() != 0
	return err == nil || answered && !x.sessionRefused(err)
}

func (c *conn) modern() bool { return mcp.IsModernProtocol(c.protocol) }

// watchChild retires the connection when its child ends.
func (c *conn) watchChild() {
	if w, ok := c.wire.(*stdioWire); ok {
		go func() {
			<-w.child.done
			c.retire(w.child.err)
		}()
	}
}

// handleNotification runs on the goroutine that reads the connection and must not block.
func (c *conn) handleNotification(n mcp.JSONRPCNotification) {
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		c.progress.report(n.Params.AdditionalFields)
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationSubscriptionsAcknowledged:
		c.requestRelist()
	}
}

// requestRelist requests a new list of the tools, because they have changed or may have changed
// unnoticed.
func (c *conn) requestRelist() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// initialize performs the handshake and lists the tools.
func (c *conn) initialize(ctx context.Context) (listing, error) {
	x := &trace{}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: clientName, Version: clientVersion}
	if _, err := c.client.Initialize(withTrace(ctx, x), hello); err != nil {
		err = fmt.Errorf("initialize: %w", x.explain(ctx, err))
		if x.refusedHandshake() {
			return listing{}, &refusedError{err: err, web: c.server.transport() == HTTP}
		}
		return listing{}, err
	}
	return c.list(ctx)
}

// subscribe requests the notifications of a server without sessions; others send them without a
// request.
func (c *conn) subscribe() {
	changes := c.client.GetServerCapabilities().Tools
	if !mcp.IsModernProtocol(c.client.ProtocolVersion()) || changes == nil || !changes.ListChanged || c.private {
		return
	}
	c.box.spawn(func() {
		for failures := 0; c.listen(); failures++ {
			c.requestRelist() // the server may be gone: then listing the tools fails
			if !c.staysOpen(c.life, backoff(failures)) {
				return
			}
		}
	})
}

// listen reads the notifications of a server without sessions. The end of an open stream ends
// the connection. It returns true if the stream did not open and should be requested again: the
// server did not answer, or not now.
func (c *conn) listen() (again bool) {
	x := &trace{}
	err := c.client.Listen(withTrace(c.life, x), mcp.SubscriptionFilter{ToolsListChanged: true})
	status := x.httpStatus()
	if c.life.Err() != nil || x.refusal != nil {
		return false
	}
	if status == http.StatusOK {
		c.retire(streamEndReason(err))
		return false
	}
	_, web := c.wire.(webWire)
	return web && (status == 0 || status >= http.StatusInternalServerError)
}

// call sends one tools/call; x then has the outcome. The error is mcp-go's.
func (c *conn) call(ctx context.Context, x *trace, call Call, args json.RawMessage, open *openQuestions) error {
	var req mcp.CallToolRequest
	req.Params.Name = c.server.bareName(call.Tool)
	req.Params.Arguments = args
	meta := mcp.Meta{}
	fields := map[string]any{}
	if call.IdempotencyKey != "" {
		fields[contract.IdempotencyMetaKey] = call.IdempotencyKey
	}
	if parent := telemetry.Traceparent(ctx); parent != "" {
		fields["traceparent"] = parent // as the semantic conventions for MCP have it
	}
	if len(fields) > 0 {
		meta.AdditionalFields = fields
	}
	if call.Progress != nil {
		token := c.progress.begin(call.Progress)
		defer c.progress.end(token)
		meta.ProgressToken = token
	}
	if meta.AdditionalFields != nil || meta.ProgressToken != nil {
		req.Params.Meta = &meta
	}
	ctx, done := c.beginElicitation(ctx, call, open)
	defer done()
	_, err := c.client.CallTool(withTrace(ctx, x), req)
	return err
}

// notifyCancelled notifies a server over HTTP that a call was cancelled (see cancellation). It
// does not wait for the server. In the protocol without sessions the end of the request has the
// same meaning.
func (c *conn) notifyCancelled(ctx context.Context, x *trace) {
	if _, web := c.wire.(webWire); !web || c.modern() || !x.sent.Load() || x.id == nil {
		return
	}
	n := cancellation(*x.id)
	c.retain()
	ctx, cancel := context.WithTimeout(withCaller(context.Background(), callerOf(ctx)), notifyLimit)
	notify := func() {
		defer c.release()
		defer cancel()
		_ = c.wire.SendNotification(ctx, n)
	}
	if !c.box.spawn(notify) {
		cancel()
		c.release()
	}
}
