package gateway

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// startupPatience is longer than a start takes where nothing is in its way.
const startupPatience = 5 * time.Second

const startingText = "the agent is starting: it waits for its Temporal server; its log says more"

// Startup answers in the place of a gateway that is not there yet. Probes learn at once
// that the process lives and is not ready. Other requests wait for a moment, and go on
// where the gateway comes. Its zero value is not usable: make it with NewStartup.
type Startup struct {
	over    chan struct{}
	end     sync.Once
	gateway http.Handler // nil when it never came
}

// NewStartup returns one that has no gateway yet.
func NewStartup() *Startup { return &Startup{over: make(chan struct{})} }

// Open passes requests on, those that wait as well. Only the first Open or Close counts.
func (s *Startup) Open(h http.Handler) { s.end.Do(func() { s.gateway = h; close(s.over) }) }

// Close lets nobody wait any more.
func (s *Startup) Close() { s.Open(nil) }

// ServeHTTP implements http.Handler.
func (s *Startup) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := tidy(r).URL.Path
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

// opens waits for the gateway, but not for a probe.
func (s *Startup) opens(r *http.Request, probe bool) bool {
	select {
	case <-s.over:
		return s.gateway != nil
	default:
	}
	if probe {
		return false
	}
	patience := time.NewTimer(startupPatience)
	defer patience.Stop()
	select {
	case <-s.over:
		return s.gateway != nil
	case <-patience.C:
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
	_ = json.NewEncoder(w).Encode(body) // else the client is gone
}
