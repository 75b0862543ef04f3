package fakeslack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// The workspace, its bot, and the tokens of the app.
const (
	Team     = "T0TEAM"
	Bot      = "U0BOT"
	BotID    = "B0BOT"
	AppID    = "A0APP"
	AppToken = "xapp-1-test"
	BotToken = "xoxb-test"
)

// Message is a message of a channel.
type Message struct {
	TS, Channel, Thread, User, Text string
	Blocks, Metadata                json.RawMessage
	// Edits counts chat.update, Edited are their times.
	Edits  int
	Edited []time.Time
	Files  []string // the names of those that a person has sent
	// Only is the user who alone sees it, "" for everybody.
	Only string

	// State is that of a stream, "" for other messages. Tasks are its cards, Began is when it began, and
	// Appends counts the texts that it was made of.
	State   string
	Tasks   []Task
	Began   time.Time
	Appends int
	stream  *stream
}

// View is a dialog that was opened.
type View struct {
	ID, Trigger string
	JSON        json.RawMessage
}

// Slack is a workspace. It must be closed.
type Slack struct {
	// AckWithin is how long an envelope waits for its acknowledgement before it is sent again.
	// Set it before the first connection.
	AckWithin time.Duration
	// StreamLife is how long a stream can be appended to after its start.
	StreamLife time.Duration

	server *httptest.Server

	mu       sync.Mutex
	clock    int64
	messages []*Message
	views    []View
	limits   map[string][]time.Duration // Retry-After of the next calls of a method
	refusals map[string][]string        // of the next calls of a method
	missing  map[string]string          // of all calls of a method
	sessions map[string]string          // status by channel and thread
	teams    map[string]string          // of users of other workspaces
	calls    map[string][]time.Time
	answers  []string // to commands
	problems []string

	tickets     int
	valid       map[string]bool // tickets that nobody has used
	joined      int
	connections []*connection
	waiting     []*envelope
	acks        []Ack
	changed     chan struct{} // closed at each change
}

// New returns a workspace without messages.
func New() *Slack {
	s := &Slack{AckWithin: 3 * time.Second, StreamLife: streamLife, missing: map[string]string{}, sessions: map[string]string{}, limits: map[string][]time.Duration{}, refusals: map[string][]string{}, teams: map[string]string{}, calls: map[string][]time.Time{}, valid: map[string]bool{}, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/{method}", s.serve)
	mux.HandleFunc("POST /response", s.response)
	mux.HandleFunc("GET /link", s.connect)
	s.server = httptest.NewServer(mux)
	return s
}

// Close ends all connections.
func (s *Slack) Close() {
	s.Disconnect()
	s.server.Close()
}

// API is the base URL of the Web API.
func (s *Slack) API() string { return s.server.URL + "/api/" }

// change wakes those who wait. The caller holds mu.
func (s *Slack) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait waits until something holds, and reports whether it did in time.
func (s *Slack) Wait(within time.Duration, holds func() bool) bool {
	deadline := time.After(within)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return true
		}
		select {
		case <-changed:
		case <-deadline:
			return holds()
		}
	}
}

// next returns a new timestamp. The caller holds mu.
func (s *Slack) next() string {
	s.clock++
	return fmt.Sprintf("%d.%06d", time.Now().Unix(), s.clock)
}

// Thread returns the messages of a thread, oldest first, without those that only one person sees.
func (s *Slack) Thread(channel, root string) []Message {
	return s.some(func(m *Message) bool {
		return m.Channel == channel && m.Only == "" && (m.TS == root || m.Thread == root)
	})
}

// Private returns what only one person sees.
func (s *Slack) Private(user string) []Message {
	return s.some(func(m *Message) bool { return m.Only == user })
}

// Sent returns all messages of the app, oldest first.
func (s *Slack) Sent() []Message {
	return s.some(func(m *Message) bool { return m.User == Bot })
}

func (s *Slack) some(want func(*Message) bool) (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if want(m) {
			out = append(out, *m)
		}
	}
	return out
}

// Views returns the dialogs that were opened.
func (s *Slack) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.views)
}

// Answers returns what commands were answered.
func (s *Slack) Answers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// Calls returns when a method was called, without the calls that were limited.
func (s *Slack) Calls(method string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls[method])
}

// Problems returns what Slack would have refused: requests that are not as its documentation says.
func (s *Slack) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Limit answers the next call of a method with 429, and its Retry-After in whole seconds.
func (s *Slack) Limit(method string, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits[method] = append(s.limits[method], after)
}

// Limits counts the calls of a method that will be answered with 429.
func (s *Slack) Limits(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.limits[method])
}

// Refuse answers the next call of a method with an error, which is no problem, or with "" as
// always.
func (s *Slack) Refuse(method, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals[method] = append(s.refusals[method], code)
}

// Miss answers all calls of a method with an error, which is no problem: the workspace does not have
// it.
func (s *Slack) Miss(method, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing[method] = code
}

// Move makes a user one of another workspace, with which channels are shared.
func (s *Slack) Move(user, team string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.teams[user] = team
}

func (s *Slack) teamOf(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if team := s.teams[user]; team != "" {
		return team
	}
	return Team
}

// Delete deletes a message, as a person does.
func (s *Slack) Delete(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = slices.DeleteFunc(s.messages, func(m *Message) bool { return m.Channel == channel && m.TS == ts })
	s.change()
}

// find returns a message. The caller holds mu.
func (s *Slack) find(channel, ts string) *Message {
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == ts {
			return m
		}
	}
	return nil
}

// wire returns a message as the API has it.
func (m *Message) wire(metadata bool) map[string]any {
	out := map[string]any{"type": "message", "ts": m.TS, "user": m.User, "text": m.Text, "team": Team}
	if m.User == Bot {
		out["bot_id"] = BotID
	}
	if m.Thread != "" {
		out["thread_ts"] = m.Thread
	}
	if len(m.Blocks) > 0 {
		out["blocks"] = m.Blocks
	}
	if m.State != "" {
		out["streaming_state"] = m.State
	}
	if metadata && len(m.Metadata) > 0 {
		out["metadata"] = m.Metadata
	}
	return out
}

func isDM(channel string) bool { return strings.HasPrefix(channel, "D") }
