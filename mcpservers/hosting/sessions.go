package hosting

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	httpPrefix = "mcp-session-"
	ssePrefix  = "sse-session-"
)

// sessions handles the requests for mcp-go's Streamable HTTP server. mcp-go alone would accept
// any ID on GET, and would lose its sessions when the process ends.
type sessions struct {
	options       Options
	stream        *server.StreamableHTTPServer
	streamContext context.Context

	mu     sync.Mutex
	active map[string]map[*context.CancelFunc]bool // running requests by session

	limitMu sync.Mutex // held while sessions are deleted because there are too many
}

func newSessions(options Options, s *server.MCPServer, stopping context.Context) *sessions {
	all := &sessions{options: options, streamContext: stopping, active: map[string]map[*context.CancelFunc]bool{}}
	all.stream = server.NewStreamableHTTPServer(s,
		server.WithSessionIdManagerResolver(issuedSession{}),
		server.WithHeartbeatInterval(heartbeat),
		server.WithStreamableHTTPLogger(options.Log),
		server.WithStreamableHTTPCORS(cors(options)...),
		server.WithDisableLocalhostProtection(true), // package guard checks more
	)
	return all
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	call, isCall := parseCall(r)
	if r.Method == http.MethodGet || call.method == mcp.MethodSubscriptionsListen {
		defer context.AfterFunc(s.streamContext, cancel)()
	}
	if isModern(r, call) || !isCall && r.Method != http.MethodGet && r.Method != http.MethodDelete {
		s.stream.ServeHTTP(w, r.WithContext(ctx)) // needs no session, or is refused by mcp-go
		return
	}
	session, err := s.admit(ctx, r, call)
	if err != nil {
		s.refuse(w, err)
		return
	}
	recordSession(w, session)
	defer s.track(session.id, &cancel)()
	if r.Method == http.MethodDelete {
		s.endRequests(session.id, &cancel)
	}
	s.stream.ServeHTTP(w, r.WithContext(withSession(ctx, session)))
	if seen, ok := w.(*response); ok && call.method == mcp.MethodInitialize && seen.code() != http.StatusOK {
		_ = s.options.Sessions.Delete(context.WithoutCancel(ctx), session.id)
	}
}

func isModern(r *http.Request, call call) bool {
	return mcp.IsModernProtocol(call.version) || mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
}

// admit returns the session of a request. It creates one for initialize and deletes it from the
// store for DELETE.
func (s *sessions) admit(ctx context.Context, r *http.Request, call call) (*Session, error) {
	if call.method == mcp.MethodInitialize {
		return s.create(ctx, httpPrefix)
	}
	session, err := s.find(ctx, r.Header.Get(server.HeaderKeySessionID))
	if err == nil && r.Method == http.MethodDelete {
		err = s.options.Sessions.Delete(ctx, session.id)
	}
	return session, err
}

func (s *sessions) create(ctx context.Context, prefix string) (*Session, error) {
	id := prefix + uuid.NewString()
	if err := s.options.Sessions.Create(ctx, id, time.Now()); err != nil {
		return nil, err
	}
	s.limit(context.WithoutCancel(ctx))
	return &Session{id, s.options.Sessions}, nil
}

var errInvalidID = errors.New("no id that this server issues")

// find looks up an ID and records the use of its session.
func (s *sessions) find(ctx context.Context, id string) (*Session, error) {
	rest, ok := strings.CutPrefix(id, httpPrefix)
	if _, err := uuid.Parse(rest); !ok || err != nil {
		return nil, errInvalidID
	}
	now := time.Now()
	err := s.options.Sessions.Use(ctx, id, now, now.Add(-time.Duration(s.options.SessionIdle)))
	if errors.Is(err, ErrNoSession) && s.isBusy(id) {
		err = s.options.Sessions.Use(ctx, id, now, time.Time{}) // a stream is open, but sweep has not recorded it yet
	}
	if err != nil {
		return nil, err
	}
	return &Session{id, s.options.Sessions}, nil
}

func (s *sessions) refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errInvalidID):
		http.Error(w, "Invalid session ID", http.StatusBadRequest)
	case errors.Is(err, ErrNoSession):
		http.Error(w, "Session not found: initialize a new one", http.StatusNotFound)
	default:
		s.options.Log.Error("session store failed", "err", err)
		http.Error(w, "Sessions are not available", http.StatusServiceUnavailable)
	}
}

// track keeps a session from expiring until the returned function is called. endRequests calls
// cancel.
func (s *sessions) track(id string, cancel *context.CancelFunc) (untrack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[id] == nil {
		s.active[id] = map[*context.CancelFunc]bool{}
	}
	s.active[id][cancel] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.active[id], cancel); len(s.active[id]) == 0 {
			delete(s.active, id)
		}
	}
}

// endRequests cancels the requests of a session, except the one with cancel own.
func (s *sessions) endRequests(id string, own *context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.active[id] {
		if cancel != own {
			(*cancel)()
		}
	}
}
