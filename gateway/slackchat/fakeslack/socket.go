package fakeslack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Ack is an envelope that was acknowledged.
type Ack struct {
	Type  string
	After time.Duration
	// Attempts is how often it was sent.
	Attempts int
}

// connection is an app that is connected.
type connection struct {
	socket *websocket.Conn
	write  sync.Mutex
	done   chan struct{}
}

func (c *connection) send(v any) error {
	c.write.Lock()
	defer c.write.Unlock()
	return c.socket.WriteJSON(v)
}

// envelope is something that Slack sends until it is acknowledged.
type envelope struct {
	id, kind string
	payload  any
	sent     time.Time
	attempts int
	timer    *time.Timer
}

// maxAttempts is how often an envelope is sent.
const maxAttempts = 4

// open is apps.connections.open.
func (s *Slack) open(arguments) reply {
	s.tickets++
	ticket := strconv.Itoa(s.tickets)
	s.valid[ticket] = true
	return reply{"url": fmt.Sprintf("ws%s/link?ticket=%s", s.server.URL[len("http"):], ticket)}
}

// admit reports whether a ticket is one of apps.connections.open that nobody has used, and counts
// the connections with the one that it is for.
func (s *Slack) admit(ticket string) (n int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok = s.valid[ticket]; !ok {
		s.problems = append(s.problems, "a connection without a ticket, or with one that was used")
	}
	delete(s.valid, ticket)
	return len(s.connections) + 1, ok
}

// connect is the other end of the socket.
func (s *Slack) connect(w http.ResponseWriter, r *http.Request) {
	n, ok := s.admit(r.URL.Query().Get("ticket"))
	if !ok {
		http.Error(w, "invalid ticket", http.StatusForbidden)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &connection{socket: socket, done: make(chan struct{})}
	defer func() { close(c.done); _ = socket.Close(); s.lose(c) }()
	if c.send(map[string]any{"type": "hello", "num_connections": n, "connection_info": map[string]any{"app_id": AppID}, "debug_info": map[string]any{"host": "fake", "approximate_connection_time": 18060}}) != nil {
		return
	}
	go c.ping()
	s.mu.Lock()
	s.connections, s.joined = append(s.connections, c), s.joined+1
	waiting := slices.Clone(s.waiting)
	s.change()
	s.mu.Unlock()
	for _, e := range waiting {
		s.deliver(e)
	}
	for {
		var ack struct {
			ID string `json:"envelope_id"`
		}
		if socket.ReadJSON(&ack) != nil {
			return
		}
		s.acknowledge(ack.ID)
	}
}

func (c *connection) ping() {
	for {
		select {
		case <-c.done:
			return
		case <-time.After(time.Second):
			c.write.Lock()
			err := c.socket.WriteControl(websocket.PingMessage, []byte("Ping from fake"), time.Now().Add(time.Second))
			c.write.Unlock()
			if err != nil {
				return
			}
		}
	}
}

func (s *Slack) lose(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections = slices.DeleteFunc(s.connections, func(x *connection) bool { return x == c })
	s.change()
}

// Connections counts the apps that are connected.
func (s *Slack) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connections)
}

// Joined counts the apps that have connected so far.
func (s *Slack) Joined() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined
}

// Disconnect ends all connections, as Slack does every few hours.
func (s *Slack) Disconnect() {
	s.mu.Lock()
	all := slices.Clone(s.connections)
	s.mu.Unlock()
	for _, c := range all {
		_ = c.send(map[string]any{"type": "disconnect", "reason": "refresh_requested", "debug_info": map[string]any{"host": "fake"}})
		c.close()
	}
}

// close ends a connection with the frame that says so.
func (c *connection) close() {
	c.write.Lock()
	_ = c.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	c.write.Unlock()
	_ = c.socket.Close()
}

// emit sends an envelope until it is acknowledged.
func (s *Slack) emit(kind string, payload any) {
	s.mu.Lock()
	e := &envelope{id: fmt.Sprintf("envelope-%d-%d", len(s.acks), len(s.waiting)+int(s.clock)*100), kind: kind, payload: payload, sent: time.Now()}
	s.clock++
	s.waiting = append(s.waiting, e)
	s.mu.Unlock()
	s.deliver(e)
}

// deliver sends an envelope to one of the connections, and again after a while.
func (s *Slack) deliver(e *envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.waiting, e) || len(s.connections) == 0 || e.attempts >= maxAttempts {
		return
	}
	c := s.connections[e.attempts%len(s.connections)]
	body := map[string]any{"envelope_id": e.id, "type": e.kind, "payload": e.payload, "accepts_response_payload": e.kind != "events_api"}
	if e.kind == "events_api" {
		body["retry_attempt"], body["retry_reason"] = e.attempts, ""
		if e.attempts > 0 {
			body["retry_reason"] = "timeout"
		}
	}
	e.attempts++
	if e.timer != nil {
		e.timer.Stop()
	}
	e.timer = time.AfterFunc(s.AckWithin, func() { s.deliver(e) })
	go func() { _ = c.send(body) }()
}

func (s *Slack) acknowledge(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range s.waiting {
		if e.id == id {
			e.timer.Stop()
			s.acks = append(s.acks, Ack{e.kind, time.Since(e.sent), e.attempts})
			s.waiting = slices.Delete(s.waiting, i, i+1)
			s.change()
			return
		}
	}
}

// Acks returns what was acknowledged.
func (s *Slack) Acks() []Ack {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.acks)
}

// Unacknowledged counts the envelopes that wait for their acknowledgement.
func (s *Slack) Unacknowledged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

func object(data []byte) map[string]any {
	var out map[string]any
	_ = json.Unmarshal(data, &out)
	return out
}
