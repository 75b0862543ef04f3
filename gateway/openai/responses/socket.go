package responses

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/contract"
)

// Socket is what WebSockets need besides what requests do.
type Socket struct {
	// Listed reports whether pages of an origin may connect, besides those of the agent's own.
	Listed func(origin string) bool
	// Take counts a turn against what the caller may send.
	Take func(context.Context, contract.Identity) error
	// Timeout limits what a turn waits for besides the agent.
	Timeout time.Duration
	// Lifetime is how long a connection may last, one hour by default.
	Lifetime time.Duration
}

// The limits of a connection.
const (
	lifetime     = time.Hour
	maxMessage   = 8 << 20
	maxQueued    = 4
	maxRecent    = 16
	pingInterval = 30 * time.Second
	sendTimeout  = 30 * time.Second
)

// Connect serves responses over a WebSocket: each message of the client is a request for a response, and each event of
// the response a message. Requests are carried out one after the other.
func (ep *Endpoint) Connect(c echo.Context) error {
	q := c.Request()
	if !strings.EqualFold(q.Header.Get("Upgrade"), "websocket") {
		return invalid("expected a POST, or a WebSocket")
	}
	// A page of another port of this machine may send requests, but not read the replies. Of a WebSocket it could.
	if origin := q.Header.Get("Origin"); origin != "" && !ep.Socket.Listed(origin) && !sameHost(origin, q.Host) {
		return service.Errorf(contract.KindForbidden, "pages of %s must not connect; allowed_origins lists those that may", service.Printable(origin))
	}
	conn, err := websocket.Accept(c.Response(), q, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the origin is checked above
	if err != nil {
		ep.Logger.Debug("a WebSocket was not opened", "error", err)
		return nil // it has replied
	}
	conn.SetReadLimit(maxMessage)
	call := request.From(q.Context())
	ctx, end := context.WithCancel(call.Client)
	defer end()
	s := &socket{Endpoint: ep, http: q, call: *call, conn: conn, queue: make(chan []byte, maxQueued), ctx: ctx}
	open, shut := context.WithCancel(context.WithoutCancel(ctx)) // longer than ctx, for the reason why it ends
	defer shut()
	go s.read(open, end)
	go s.ping(open, end)
	if err := conn.Close(s.serve()); err != nil {
		ep.Logger.Debug("a WebSocket was not closed by both sides", "error", err)
	}
	return nil
}

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}

// socket is a connection.
type socket struct {
	*Endpoint
	http  *http.Request // that has opened it
	call  request.Call
	conn  *websocket.Conn
	queue chan []byte
	bytes atomic.Int64 // of what is queued
	// ctx ends with the connection, or with the proof of the caller.
	ctx context.Context
	// recent are the IDs of the last responses, the newest last.
	recent []string
}

// read queues the client's messages until the connection ends.
func (s *socket) read(ctx context.Context, end func()) {
	defer end()
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			s.fail(invalid("expected a text message"))
			continue
		}
		if !s.enqueue(data) {
			s.fail(service.Errorf(contract.KindBusy, "%d requests wait already, or %d bytes of them", maxQueued, maxMessage))
		}
	}
}

// enqueue reports whether there was room: all that waits is bounded like one message.
func (s *socket) enqueue(data []byte) bool {
	size := int64(len(data))
	if s.bytes.Add(size) <= maxMessage {
		select {
		case s.queue <- data:
			return true
		default:
		}
	}
	s.bytes.Add(-size)
	return false
}

// ping ends the connection when the client does not answer any more.
func (s *socket) ping(open context.Context, end func()) {
	defer end()
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-open.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(open, pingInterval)
		err := s.conn.Ping(ctx)
		cancel()
		if err != nil {
			return
		}
	}
}

// serve carries out requests, and returns why the connection ends.
func (s *socket) serve() (websocket.StatusCode, string) {
	left := s.Socket.Lifetime
	if left == 0 {
		left = lifetime
	}
	limit := time.NewTimer(left)
	defer limit.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return websocket.StatusPolicyViolation, "the proof of the caller does not hold any more"
		case <-s.Talk.Exchanges.Service.Closing().Done():
			return websocket.StatusGoingAway, "the server closes"
		case <-limit.C:
			s.fail(&openai.Fault{Code: "websocket_connection_limit_reached", Err: invalid("a connection lasts %s at most: open another one", left)})
			return websocket.StatusNormalClosure, "the connection has lasted long enough"
		case data := <-s.queue:
			s.bytes.Add(-int64(len(data)))
			s.turn(data)
		}
	}
}

// create is a message of a client.
type create struct {
	Type     string `json:"type"`
	Generate *bool  `json:"generate"`
	body
}

// turn carries out a request. If it fails, what it goes on with is forgotten.
func (s *socket) turn(data []byte) {
	var m create
	id, err := "", request.Decode(data, &m)
	if err == nil {
		m.recent = s.recent
		id, err = s.respond(&m)
	}
	if err != nil {
		s.fail(err)
	}
	if id == "" && m.PreviousResponseID != nil {
		s.recent = slices.DeleteFunc(s.recent, func(known string) bool { return known == *m.PreviousResponseID })
	}
	if id != "" {
		s.recent = append(s.recent, id)
		s.recent = s.recent[max(0, len(s.recent)-maxRecent):]
	}
}

// respond sends the events of a response, and returns its ID, or "" if it has failed.
func (s *socket) respond(m *create) (id string, err error) {
	switch {
	case m.Type != "response.create":
		return "", invalid("type: expected response.create, not %s", service.Printable(m.Type))
	case m.Background:
		return "", invalid("background: not over a WebSocket")
	case m.Generate != nil && !*m.Generate:
		return "", invalid("generate: every request is answered here")
	}
	if err := s.Socket.Take(s.ctx, s.call.Caller.Identity); err != nil {
		return "", err
	}
	call := request.Call{Caller: s.call.Caller, Client: s.ctx}
	ctx, cancel := context.WithTimeout(request.With(s.ctx, &call), s.Socket.Timeout)
	defer cancel()
	q := s.http.Clone(ctx)
	for _, name := range []string{"Idempotency-Key", "X-Stainless-Retry-Count"} { // they are about one request
		q.Header.Del(name)
	}
	m.Stream = true
	r, x, err := s.start(q, http.Header{}, m.body)
	if err != nil {
		return "", err
	}
	if x != nil {
		defer x.Close()
	}
	err = r.stream(x, s, -1)
	s.Logger.Info("response over a WebSocket", "conversation", call.ConversationID, "status", r.response.Status)
	if err != nil || r.response.Status == statusFailed {
		return "", err
	}
	return r.response.ID, nil
}

// KeepAlive implements exchange.Listener: the connection has pings of its own.
func (s *socket) KeepAlive() error { return nil }

func (s *socket) event(_ string, data []byte) error { return s.write(data) }

func (s *socket) flush() error { return nil }

func (s *socket) end() error { return nil }

func (s *socket) write(data []byte) error {
	ctx, cancel := context.WithTimeout(s.ctx, sendTimeout)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// fail sends an error that no response has.
func (s *socket) fail(err error) {
	if s.ctx.Err() != nil { // the client is gone
		return
	}
	status, body := s.Status(err, s.http)
	if _, unsent := s.refuse(0, status, body); unsent != nil {
		s.Logger.Debug("an error was not sent over a WebSocket", "error", unsent)
	}
}

// refuse implements sink. An error is all that follows.
func (s *socket) refuse(_ int64, status int, e openai.Error) (follows bool, err error) {
	data, err := sse.Encode(map[string]any{"type": "error", "status": status, "error": e.Error})
	if err != nil {
		return false, err
	}
	return false, s.write(data)
}
