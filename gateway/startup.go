package gateway

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/workflows/contract"
)

// startupTimeout is longer than an undisturbed start takes.
const startupTimeout = 5 * time.Second

const startingText = "the agent is starting: it waits for its Temporal server; its log says more"

// Startup answers until the gateway exists. Probes learn at once that the process runs and is
// not ready. Other requests wait for a moment, and are served if the gateway opens in time.
// Make one with NewStartup.
type Startup struct {
	opened  chan struct{}
	end     sync.Once
	gateway http.Handler // nil if it was closed without one
}

func NewStartup() *Startup { return &Startup{opened: make(chan struct{})} }

// Open passes requests on to h, including those that wait. Only the first Open or Close
// counts.
func (s *Startup) Open(h http.Handler) { s.end.Do(func() { s.gateway = h; close(s.opened) }) }

// Close ends all waits.
func (s *Startup) Close() { s.Open(nil) }

// ServeHTTP implements http.Handler.
func (s *Startup) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := request.Tidy(r).URL.Path
	probe := path == pathHealth || path == pathReady
	if s.opens(r, probe) {
		s.gateway.ServeHTTP(w, r)
		return
	}
	switch path {
	case pathHealth:
		writeJSON(w, http.StatusOK, healthReply{"ok"})
	case pathReady:
		writeJSON(w, http.StatusServiceUnavailable, readyReply{Status: "unavailable", Problems: []string{startingText}, Servers: []contract.ServerState{}})
	default:
		writeJSON(w, http.StatusServiceUnavailable, errorBody{Error: startingText})
	}
}

// opens waits for the gateway, unless the request is a probe.
func (s *Startup) opens(r *http.Request, probe bool) bool {
	select {
	case <-s.opened:
		return s.gateway != nil
	default:
	}
	if probe {
		return false
	}
	timeout := time.NewTimer(startupTimeout)
	defer timeout.Stop()
	select {
	case <-s.opened:
		return s.gateway != nil
	case <-timeout.C:
	case <-r.Context().Done():
	}
	return false
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the client is gone
}
