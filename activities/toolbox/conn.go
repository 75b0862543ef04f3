package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/workflows/contract"
)

const (
	clientName    = "agent-stop-and-go"
	clientVersion = "1.0.0"
	protocol      = mcp.LATEST_LEGACY_PROTOCOL_VERSION // 2025-11-25
	notifyLimit   = 2 * time.Second
)

// conn is one initialized connection. Whoever uses it holds it; once it is
// retired nobody new may, and it is closed when the last one lets go.
type conn struct {
	box     *Toolbox
	client  *client.Client
	wire    transport.Interface
	changed chan struct{} // the server's tools have changed
	done    chan struct{} // closed by retire
	cancel  context.CancelFunc
	once    sync.Once
	private bool

	mu    sync.Mutex
	users int
	lost  error
}

// dial connects to a server and lists its tools. A connection for a caller is
// the caller's alone.
func dial(ctx context.Context, t *Toolbox, s Server, who caller) (*conn, []Tool, error) {
	c := &conn{box: t, changed: make(chan struct{}, 1), done: make(chan struct{}), private: who != caller{}}
	if err := c.open(s); err != nil {
		return nil, nil, err
	}
	if !t.adopt(c) {
		c.close()
		return nil, nil, errClosed
	}
	c.follow()
	tools, err := c.introduce(withCaller(ctx, who), s)
	if err != nil {
		c.retire(err)
		return nil, nil, err
	}
	return c, tools, nil
}

// open makes the wire: for a command, that starts the child.
func (c *conn) open(s Server) error {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	wire, err := c.newWire(s)
	if err != nil {
		cancel()
		return err
	}
	c.wire = wire
	c.client = client.NewClient(wire, client.WithProtocolVersion(protocol))
	c.client.OnNotification(c.notified)
	if err := c.client.Start(ctx); err != nil {
		c.close()
		return err
	}
	return nil
}

func (c *conn) newWire(s Server) (transport.Interface, error) {
	if s.URL != "" {
		return newHTTPWire(s.URL, c.box.opts.ConnectTimeout, !c.private, c.retire)
	}
	child, err := startProcess(s, c.box.opts.Logger)
	if err != nil {
		return nil, err
	}
	return newStdioWire(child), nil
}

// follow gives the connection up when its child ends.
func (c *conn) follow() {
	if w, ok := c.wire.(*stdioWire); ok {
		go func() {
			<-w.child.done
			c.retire(w.child.err)
		}()
	}
}

// notified runs on the goroutine that reads the connection: it must not wait.
func (c *conn) notified(n mcp.JSONRPCNotification) {
	if n.Method == mcp.MethodNotificationToolsListChanged {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

// introduce makes the handshake and lists the tools.
func (c *conn) introduce(ctx context.Context, s Server) ([]Tool, error) {
	x := &exchange{}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: clientName, Version: clientVersion}
	if _, err := c.client.Initialize(withExchange(ctx, x), hello); err != nil {
		return nil, fmt.Errorf("initialize: %w", x.explain(ctx, err))
	}
	return c.list(ctx, s)
}

// list reads every page of tools/list.
func (c *conn) list(ctx context.Context, s Server) ([]Tool, error) {
	if c.client.GetServerCapabilities().Tools == nil {
		return nil, nil
	}
	x := &exchange{}
	if _, err := c.client.ListTools(withExchange(ctx, x), mcp.ListToolsRequest{}); err != nil {
		return nil, fmt.Errorf("list the tools: %w", x.explain(ctx, err))
	}
	return parseTools(s, x.pages())
}

// call sends one tools/call; x tells afterwards what became of it. The error is
// mcp-go's.
func (c *conn) call(ctx context.Context, x *exchange, call Call, args json.RawMessage) error {
	var req mcp.CallToolRequest
	req.Params.Name = call.Tool
	req.Params.Arguments = args
	if call.IdempotencyKey != "" {
		req.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{contract.IdempotencyMetaKey: call.IdempotencyKey}}
	}
	_, err := c.client.CallTool(withExchange(ctx, x), req)
	if err != nil && ctx.Err() != nil {
		c.notifyCancelled(ctx, x)
	}
	return err
}

// notifyCancelled tells an HTTP server that nobody waits any more, which mcp-go
// does over stdio only. It does not wait for the server.
func (c *conn) notifyCancelled(ctx context.Context, x *exchange) {
	if _, isHTTP := c.wire.(*httpWire); !isHTTP || !x.sent.Load() || x.id == nil {
		return
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": *x.id, "reason": "the caller no longer waits"}
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

// hold keeps a connection open until release, unless it is lost already.
func (c *conn) hold() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return false
	}
	c.users++
	return true
}

// retain is hold for somebody who holds the connection already: it may be lost.
func (c *conn) retain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users++
}

func (c *conn) release() {
	c.mu.Lock()
	c.users--
	last := c.users == 0 && c.lost != nil
	c.mu.Unlock()
	if last {
		c.closeSoon()
	}
}

var errRetired = errors.New("the connection was given up")

// retire gives the connection up: nobody new may use it, and it is closed when
// the last user has released it. Only the first reason counts.
func (c *conn) retire(err error) {
	if err == nil {
		err = errRetired
	}
	c.mu.Lock()
	if c.lost != nil {
		c.mu.Unlock()
		return
	}
	c.lost = err
	idle := c.users == 0
	c.mu.Unlock()
	close(c.done)
	if idle {
		c.closeSoon()
	}
}

// reason is why the connection was lost, nil while it is not.
func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// closeSoon closes in the background: it may run on a goroutine that close
// waits for.
func (c *conn) closeSoon() { c.box.spawn(c.close) } // else Toolbox.Close does it

// close ends the connection and its child, and waits for that: at most some
// seconds, since mcp-go's farewell to an HTTP server and a child's end are bounded.
func (c *conn) close() {
	c.once.Do(func() {
		_ = c.client.Close()
		c.cancel()
		switch w := c.wire.(type) {
		case *httpWire:
			w.trip.CloseIdleConnections()
		case *stdioWire:
			w.child.stop()
		}
		c.box.forget(c)
	})
}
