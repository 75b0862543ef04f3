package hosting

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	subscriptionsKey = "hosting/subscriptions"

	maxSubscriptions = 1000    // per session
	maxURI           = 2 << 10 // bytes of a resource URI
)

// Subscriptions stores which clients are notified of which resources. Clients subscribe with
// resources/subscribe, or since protocol 2026-07-28 with subscriptions/listen.
type Subscriptions struct {
	server *server.MCPServer

	saveMu   sync.Mutex // held while a session's list is changed and stored
	mu       sync.Mutex
	sessions map[string]map[string]bool // URIs by session of mcp-go
	listens  map[*subscriber]bool
}

type subscriber struct {
	ctx  context.Context // of the running request
	uris []string
}

// NewSubscriptions makes s track subscriptions. Call it before s serves, and declare
// server.WithResourceCapabilities(true, …). With sessions in a file, subscriptions survive a
// restart and take effect again when the client reopens its stream. A client can subscribe to
// 1000 resources, with URIs up to 2 KiB; further subscriptions are acknowledged without effect.
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

// Updated notifies all subscribers that these resources were changed or removed. It does not
// block: a client that does not read loses messages.
func (s *Subscriptions) Updated(uris ...string) {
	for _, uri := range uris {
		sessions, listens := s.subscribers(uri)
		params := map[string]any{"uri": uri}
		for _, id := range sessions {
			err := s.server.SendNotificationToSpecificClient(id, mcp.MethodNotificationResourceUpdated, params)
			if errors.Is(err, server.ErrSessionNotFound) {
				s.drop(id) // restore adds it again
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

// change applies edit to the list of the calling client and stores the list in its session. The
// stored list is only needed after a restart, so an error of storing is ignored.
func (s *Subscriptions) change(ctx context.Context, edit func(map[string]bool)) {
	client := server.ClientSessionFromContext(ctx)
	if client == nil {
		return
	}
	s.saveMu.Lock()
	defer s.saveMu.Unlock()
	saved := storedURIs(ctx)
	s.mu.Lock()
	uris := s.uriSet(client.SessionID(), saved)
	edit(uris)
	list := slices.Sorted(maps.Keys(uris))
	s.mu.Unlock()
	if session, ok := SessionFrom(ctx); ok {
		_ = session.Set(ctx, subscriptionsKey, list)
	}
}

// restore adds a connecting client with its stored subscriptions.
func (s *Subscriptions) restore(ctx context.Context, client server.ClientSession) {
	saved := storedURIs(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uriSet(client.SessionID(), saved)
}

func storedURIs(ctx context.Context) (uris []string) {
	if session, ok := SessionFrom(ctx); ok {
		_, _ = session.Get(ctx, subscriptionsKey, &uris)
	}
	return uris
}

// uriSet returns the set of one client, including saved.
func (s *Subscriptions) uriSet(id string, saved []string) map[string]bool {
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

// listen subscribes until the request of ctx ends.
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

// awaitAcknowledgement keeps a stream open until its first message is sent: the acknowledgement, as the protocol
// demands. Where nothing of what the client asked for can be subscribed to, mcp-go ends the stream at once, and may drop the message
// that another goroutine is about to send.
func awaitAcknowledgement(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
	begun, ok := ctx.Value(begunKey{}).(chan struct{})
	if !ok { // not over HTTP
		return
	}
	select {
	case <-begun:
	case <-ctx.Done():
	case <-time.After(time.Second): // there is none
	}
}
