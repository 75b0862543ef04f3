package outbound

import (
	"net/http"
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract/network"
)

// Options are the settings of a client. The zero value allows public addresses only and follows
// no redirects.
type Options struct {
	// Trusted are URLs whose host and port may have any address. An http URL also trusts https,
	// on the default ports.
	Trusted []string
	// Reach selects the addresses of hosts that are not trusted.
	Reach network.Reach
	// Redirects bounds the redirects that are followed. The response with one more redirect, or
	// with one that would change the method or leave https, is the answer.
	Redirects int
	// Keep are headers that are also sent to another host after a redirect. Besides these only
	// headers about the content are: all others are meant for the first host.
	Keep []string
	// Fresh uses a new connection for every request. On a reused connection net/http does not
	// report whether a failed request was sent.
	Fresh bool
	// DialTimeout bounds the time to connect, 10s if zero.
	DialTimeout time.Duration
	// Base is cloned for the transport, http.DefaultTransport if nil. Its dial functions are
	// replaced.
	Base *http.Transport
}

// contentHeaders describe the content of a request, not its sender.
var contentHeaders = []string{"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent"}

// Client makes a client. It has no timeout; requests have contexts. Idle
// connections are closed by CloseIdleConnections.
func Client(o Options) *http.Client {
	return &http.Client{Transport: newGuard(o), CheckRedirect: o.redirect}
}

// redirect is called by net/http with the next request, which has the headers of the first one.
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
		if !slices.ContainsFunc(contentHeaders, same) && !slices.ContainsFunc(o.Keep, same) {
			header.Del(name)
		}
	}
}
