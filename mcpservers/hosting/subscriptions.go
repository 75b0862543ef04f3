package hosting

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	subscriptionsKey = "hosting/subscriptions"

	maxSubscriptions = 1000    // of one session
	maxURI           = 2 << 10 // bytes of what it subscribes to
)

// Subscriptions know which client wants to be told when which resource changes:
// by resources/subscribe, or by subscriptions/listen from protocol 2026-07-28 on.
type Subscriptions struct {
	server *server.MCPServer

	saving   sync.Mutex // held while a session's list is changed and stored
	mu       sync.Mutex
	sessions map[string]map[string]bool // URIs by session of mcp-go
	listens  map[*subscriber]bool
}

type subscriber struct {
	ctx  context.Context // of the running request
	uris []string
}

// NewSubscriptions makes s keep track of subscriptions. Call it before s serves
// and declare server.WithResourceCapabilities(true, …). With sessions in a file
// subscriptions outlive a restart: they count again once the client has
// reopened its stream. One client is told of 1000 resources at most, whose URIs
// have up to 2 KiB; further subscriptions are acknowledged without effect.
func NewSubscriptions(s *server.MCPServer) *Subscriptions {
	all := &Subscriptions{server: s, sessions: map[string]map[string]bool{}, listens: map[*subscriber]bool{}}
	hooks := hooksOf(s)
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, r *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		all.change(ctx, func(uris map[string]bool) {
			if uri := r.Params.URI; len(uri) <= maxURI && len(uris) < maxSubscriptions {
				uris[uri] = true
			}
		})
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, r *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		all.change(ctx, func(uris map[string]bool) { delete(uris, r.Params.URI) })
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, r *mcp.SubscriptionsListenRequest) {
		all.listen(ctx, r.Params.Notifications.ResourceSubscriptions)
	})
	hooks.AddOnRegisterSession(all.restore)
	hooks.AddOnUnregisterSession(func(_ context.Context, client server.ClientSession) { all.drop(client.SessionID()) })
	return all
}

// Updated tells every subscriber that these resources changed or are gone. It
// does not block: a client that does not read loses messages.
func (s *Subscriptions) Updated(uris ...string) {
	for _, uri := range uris {
		sessions, listens := s.subscribers(uri)
		params := map[string]any{"uri": uri}
		for _, id := range sessions {
			err := s.server.SendNotificationToSpecificClient(id, mcp.MethodNotificationResourceUpdated, params)
			if errors.Is(err, server.ErrSessionNotFound) {
				s.drop(id) // comes back with restore
			}
		}
		for _, ctx := range listens {
			_ = s.server.SendNotificationToClient(ctx, mcp.MethodNotificationResourceUpdated, params)
		}
	}
}

func (s *Subscriptions) subscribers(uri string) (sessions []string, listens []context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, uris := range s.sessions {
		if uris[uri] {
			sessions = append(sessions, id)
		}
	}
	for l := range s.listens {
		if slices.Contains(l.uris, uri) {
			listens = append(listens, l.ctx)
		}
	}
	return sessions, listens
}

// change applies edit to the list of the calling client and stores it in its
// session. Storing is for after a restart; when it fails, the list still counts.
func (s *Subscriptions) change(ctx context.Context, edit func(map[string]bool)) {
	client := server.ClientSessionFromContext(ctx)
	if client == nil {
		return
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	saved := savedIn(ctx)
	s.mu.Lock()
	uris := s.known(client.SessionID(), saved)
	edit(uris)
	list := slices.Sorted(maps.Keys(uris))
	s.mu.Unlock()
	if session, ok := SessionFrom(ctx); ok {
		_ = session.Set(ctx, subscriptionsKey, list)
	}
}

// restore makes a client that connects known, with what it subscribed to before.
func (s *Subscriptions) restore(ctx context.Context, client server.ClientSession) {
	saved := savedIn(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known(client.SessionID(), saved)
}

func savedIn(ctx context.Context) (uris []string) {
	if session, ok := SessionFrom(ctx); ok {
		_, _ = session.Get(ctx, subscriptionsKey, &uris)
	}
	return uris
}

// known returns the set of one client, with saved in it.
func (s *Subscriptions) known(id string, saved []string) map[string]bool {
	uris := s.sessions[id]
	if uris == nil {
		uris = map[string]bool{}
		s.sessions[id] = uris
	}
	for _, uri := range saved {
		uris[uri] = true
	}
	return uris
}

func (s *Subscriptions) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

// listen counts as long as the request that ctx belongs to.
func (s *Subscriptions) listen(ctx context.Context, uris []string) {
	if len(uris) == 0 {
		return
	}
	l := &subscriber{ctx, slices.Clone(uris)}
	s.mu.Lock()
	s.listens[l] = true
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listens, l)
	})
}
