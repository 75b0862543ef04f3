//go:build cluster

package cluster

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// startProxy starts a proxy that gives one request after the other to the next server. It
// streams, and keeps no session with a server. What is between, if anything, sees the requests first.
func startProxy(t *testing.T, servers []string, between func(http.Handler) http.Handler) string {
	t.Helper()
	var targets []*url.URL
	for _, s := range servers {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, u)
	}
	var next atomic.Uint64
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 200
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     transport,
		ErrorLog:      log.New(io.Discard, "", 0), // callers see the 502
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(targets[next.Add(1)%uint64(len(targets))])
			r.Out.Host = r.In.Host // by which cookies of sessions are named
		},
	}
	handler := http.Handler(proxy)
	if between != nil {
		handler = between(proxy)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}
