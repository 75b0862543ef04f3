package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/activities/outbound"
)

const (
	maxCard     = 1 << 20
	cardTimeout = 5 * time.Second
)

// wellKnown are the paths of cards: of 0.3 and 1.0, and of earlier versions.
var wellKnown = []string{".well-known/agent-card.json", ".well-known/agent.json"}

// candidate is a possible URL of a card.
type candidate struct {
	url string
	// shared means that the URL belongs to the host, and its card may be another agent's.
	shared bool
}

// candidates returns the URLs to try: below the base URL, at the root of its host, and the base
// URL itself. A host may have many agents, so the nearest card comes first.
func candidates(base *url.URL) []candidate {
	var out []candidate
	if strings.HasSuffix(base.Path, ".json") {
		out = append(out, candidate{url: base.String()})
	}
	root := *base
	root.Path, root.RawPath, root.RawQuery = "/", "", ""
	below := *base
	below.RawQuery = ""
	if rooted(base) {
		below = root
	}
	for _, p := range wellKnown {
		out = append(out, candidate{url: below.JoinPath(p).String()})
	}
	if !rooted(base) {
		for _, p := range wellKnown {
			out = append(out, candidate{url: root.JoinPath(p).String(), shared: true})
		}
	}
	if itself := (candidate{url: base.String()}); !slices.Contains(out, itself) {
		out = append(out, itself)
	}
	return out
}

func rooted(u *url.URL) bool { return u.Path == "" || u.Path == "/" }

// discover looks for the card of an agent and returns its endpoints. An agent that cannot be
// reached is an error; one without a card is not.
func (a *agent) discover(ctx context.Context, bearer string) (*cardCache, error) {
	base, err := url.Parse(a.URL)
	if err != nil {
		return nil, fmt.Errorf("read the url: %w", err)
	}
	var ill error
	for _, c := range candidates(base) {
		found, err := a.fetch(ctx, c.url, bearer)
		var status *statusError
		switch {
		case errors.As(err, &status):
			if status.isTemporary() {
				ill = cmp.Or(ill, err)
			}
		case err != nil:
			return nil, err
		case found != nil:
			if k := a.useCard(base, c, found); k != nil {
				return k, nil
			}
		}
	}
	if ill != nil {
		return nil, ill
	}
	return &cardCache{endpoints: a.guessEndpoints()}, nil
}

// fetch gets a card, or nil if the response is not a card.
func (a *agent) fetch(ctx context.Context, from, bearer string) (*card, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, fmt.Errorf("make a request for the card: %w", err)
	}
	a.addHeaders(req.Header, bearer, "")
	req.Header.Set("Accept", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, &wireError{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, newStatusError(resp, data, a.mask(bearer))
	case err != nil:
		return nil, &wireError{err: err}
	case len(data) > maxCard:
		return nil, nil
	}
	c, _ := parseCard(data)
	if c != nil {
		c.hide(a.mask(bearer))
	}
	return c, nil
}

// useCard returns the trusted fields of a card, or nil if it seems to belong to another agent
// on the same host.
func (a *agent) useCard(base *url.URL, from candidate, c *card) *cardCache {
	k := &cardCache{name: c.Name, skills: c.Skills}
	if !c.versioned() {
		k.endpoints = a.guessEndpoints()
		return k
	}
	ways := c.endpoints()
	if from.shared && len(ways) > 0 && !slices.ContainsFunc(ways, func(w endpoint) bool { return belongsTo(base, w.url) }) {
		return nil
	}
	var mine []endpoint
	for _, w := range ways {
		if !from.shared || belongsTo(base, w.url) {
			w.url = a.trustedURL(base, w.url)
			mine = append(mine, w)
		}
	}
	k.endpoints = a.chooseEndpoints(mine)
	return k
}

// belongsTo reports whether the URL in a card at the root of a host belongs to the agent at
// base: its path is the same, below it, or empty.
func belongsTo(base *url.URL, raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || rooted(u) {
		return err == nil
	}
	path := strings.TrimRight(base.Path, "/")
	return u.Path == path || strings.HasPrefix(u.Path, path+"/")
}

// chooseEndpoints filters and orders the endpoints: those of the configured protocol, else 1.0
// before 0.3.
func (a *agent) chooseEndpoints(ways []endpoint) []endpoint {
	want := []Protocol{V1, V03}
	if a.Protocol != Negotiate {
		want = []Protocol{a.Protocol}
	}
	for _, p := range want {
		if i := slices.IndexFunc(ways, func(w endpoint) bool { return w.protocol == p }); i >= 0 {
			return ways[i : i+1]
		}
	}
	if a.Protocol != Negotiate {
		return []endpoint{{protocol: a.Protocol, url: a.URL}}
	}
	return nil
}

// guessEndpoints returns the endpoints to try for an agent of unknown version.
func (a *agent) guessEndpoints() []endpoint {
	if a.Protocol != Negotiate {
		return []endpoint{{protocol: a.Protocol, url: a.URL}}
	}
	return []endpoint{{protocol: Old, url: a.URL}, {protocol: V1, url: a.URL}, {protocol: V03, url: a.URL}}
}

// trustedURL returns the URL for requests to an interface of a card: its path on the configured
// host, because agents behind proxies do not know their own address.
func (a *agent) trustedURL(base *url.URL, raw string) string {
	u, err := url.Parse(raw)
	if err != nil || raw == "" {
		return a.URL
	}
	u = base.ResolveReference(u)
	if u.Scheme == base.Scheme && outbound.SameHost(u, base) && u.User == nil {
		return u.String()
	}
	a.distrust.Do(func() {
		a.opts.Logger.Warn("the card of an agent names another host; the configured one is used",
			"agent", a.Name, "card", withoutSecretParts(u), "configured", withoutSecretParts(base), "local", isLocal(u))
	})
	out := *base
	if !rooted(u) {
		out.Path, out.RawPath, out.RawQuery = u.Path, u.RawPath, u.RawQuery
	}
	return out.String()
}

// withoutSecretParts returns a URL without the parts that may contain keys.
func withoutSecretParts(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

// isLocal reports whether a URL refers to the machine itself.
func isLocal(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		host, _, _ := net.SplitHostPort(u.Host)
		return cmp.Or(host, u.Host) == "localhost"
	}
	return ip.IsLoopback() || ip.IsUnspecified()
}
