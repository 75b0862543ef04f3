//go:build cluster

package cluster

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// fault is something that goes wrong on purpose, to see that it is found.
type fault string

const (
	faultTwice  fault = "twice"  // one call of a tool in twenty is passed on twice
	faultForget fault = "forget" // PostgreSQL has lost workflows after its crash
	faultDrop   fault = "drop"   // one message in twenty is acknowledged and dropped
)

var faults = []fault{"", faultTwice, faultForget, faultDrop}

// check refuses a fault that there is not.
func (f fault) check(t *testing.T) {
	t.Helper()
	if !slices.Contains(faults, f) {
		t.Fatalf("there is no fault %q: %q", f, faults)
	}
}

// forget removes some workflows from the database if that is the fault.
func (f fault) forget(t *testing.T, db *database) {
	t.Helper()
	if f != faultForget {
		return
	}
	if _, err := db.psql("temporal", "-c", "DELETE FROM current_executions WHERE random() < 0.2"); err != nil {
		t.Error(err)
	}
}

// proxy is what is in front of the gateways with the fault; nil for nothing.
func (f fault) proxy() func(http.Handler) http.Handler {
	if f == faultDrop {
		return dropping
	}
	return nil
}

// oneIn counts, and reports whether it is the turn of one in n.
type oneIn struct {
	n     int64
	count atomic.Int64
}

func (o *oneIn) now() bool { return o.count.Add(1)%o.n == 0 }

// twice passes one call in twenty on twice.
func twice(next http.Handler) http.Handler {
	again := &oneIn{n: 20}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		pass := func(w http.ResponseWriter) {
			copied := r.Clone(r.Context())
			copied.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, copied)
		}
		if strings.Contains(string(body), `"tools/call"`) && again.now() {
			pass(httptest.NewRecorder())
		}
		pass(w)
	})
}

// dropping answers one message in twenty that continues a conversation with 202, and drops it.
func dropping(next http.Handler) http.Handler {
	drop := &oneIn{n: 20}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/messages") && drop.now() {
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "{}")
			return
		}
		next.ServeHTTP(w, r)
	})
}
