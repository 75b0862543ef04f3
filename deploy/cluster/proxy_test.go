//go:build cluster

package cluster

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// startProxy starts a proxy that gives one request after the other to the next server. It
// streams, and keeps no session with a server.
func startProxy(t *testing.T, servers []string) string {
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
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(targets[next.Add(1)%uint64(len(targets))])
		},
	}
	web := httptest.NewServer(proxy)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}
