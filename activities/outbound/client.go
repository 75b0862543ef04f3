package outbound

import (
	"net/http"
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract/network"
)

// Options say where a client may go. The zero value goes to public addresses, and
// follows no redirect.
type Options struct {
	// Trusted are URLs whose host and port may have any address. One of http is
	// trusted on https too, on the usual ports.
	Trusted []string
	// Reach is which addresses hosts may have that are not trusted.
	Reach network.Reach
	// Redirects is how many redirects are followed. The response that asks for one
	// more, or for one that would change the method or leave https, is the answer.
	Redirects int
	// Keep are the headers that go along to another host besides those that describe
	// the body. All others stay behind: they are meant for the first one.
	Keep []string
	// Fresh: every request has a connection of its own. On one that was used before
	// net/http cannot tell whether a request that failed was sent.
	Fresh bool
	// DialTimeout is how long a connection may take, 10s if zero.
	DialTimeout time.Duration
	// Base is what the transport is made from, a copy of http.DefaultTransport if nil.
	// How it dials is replaced.
	Base *http.Transport
}

// described are the headers that say what a request is, not who sends it.
var described = []string{"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent"}

// Client makes a client. It has no timeout; requests have contexts. Idle
// connections are closed by CloseIdleConnections.
func Client(o Options) *http.Client {
	return &http.Client{Transport: newGuard(o), CheckRedirect: o.redirect}
}

// redirect is called by net/http with the request it would send next, which has
// the headers of the first one.
func (o Options) redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	downgrade := via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https"
	if len(via) > o.Redirects || downgrade || req.Method != first.Method {
		return http.ErrUseLastResponse
	}
	away := func(r *http.Request) bool { return authority(r.URL) != authority(first.URL) }
	if away(req) || slices.ContainsFunc(via, away) {
		o.strip(req.Header)
	}
	return nil
}

func (o Options) strip(header http.Header) {
	for name := range header {
		same := func(kept string) bool { return http.CanonicalHeaderKey(kept) == name }
		if !slices.ContainsFunc(described, same) && !slices.ContainsFunc(o.Keep, same) {
			header.Del(name)
		}
	}
}
