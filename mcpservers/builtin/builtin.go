package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"agent-stop-and-go/mcpservers/hosting/typed"

	"github.com/mark3labs/mcp-go/server"
)

// Tools returns the tools of the named servers.
func Tools(names []string) ([]server.ServerTool, error) {
	s := typed.NewServer("builtin", "1")
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		switch name {
		case "echo":
			typed.Add(s, typed.Tool{Name: "echo", Title: "Echo", Description: "Return a text as it is.", Effect: typed.Reads}, echo)
		case "fetch":
			typed.Add(s, typed.Tool{Name: "fetch", Title: "Fetch", Description: "Read a page of the web as text. Only addresses of the Internet can be reached.", Effect: typed.Reads, OpenWorld: true}, newFetcher(public).fetch)
		case "sqlite":
			return nil, errors.New("the server sqlite is not built in: a tool that opens any file by name cannot be limited; use a tool server for one database")
		default:
			return nil, fmt.Errorf("the server %q is not built in: there are echo and fetch", name)
		}
	}
	var tools []server.ServerTool
	all := s.ListTools()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tools = append(tools, *all[name])
	}
	return tools, nil
}

type message struct {
	Message string `json:"message" jsonschema:"the text"`
}

func echo(_ context.Context, in message) (message, error) { return in, nil }

type fetchInput struct {
	URL       string `json:"url" jsonschema:"address that begins with http:// or https://"`
	MaxLength int    `json:"max_length,omitempty" jsonschema:"bytes to return at most, 64000 if it is missing"`
}

type fetchOutput struct {
	Status int    `json:"status" jsonschema:"HTTP status"`
	Type   string `json:"type" jsonschema:"media type"`
	Text   string `json:"text" jsonschema:"the page"`
	Cut    bool   `json:"cut" jsonschema:"whether a part is missing"`
}

const (
	fetchTime    = 30 * time.Second
	defaultFetch = 64_000
	maxFetch     = 1 << 20
)

type fetcher struct{ client *http.Client }

func newFetcher(allowed func(netip.Addr) bool) *fetcher {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(at.Addr().Unmap()) {
			return fmt.Errorf("%s is not an address of the Internet", address)
		}
		return nil
	}}
	return &fetcher{&http.Client{
		Timeout:   fetchTime,
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("more than five redirects")
			}
			return nil
		},
	}}
}

// notInternet are networks and services that are not the Internet: those of the special-purpose
// address registries (RFC 6890), and the metadata of clouds at addresses that look public.
var notInternet = prefixes("0.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
	"2001:db8::/32", "2002::/16", "fec0::/10")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// public reports whether an address belongs to the Internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(notInternet, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (f *fetcher) fetch(ctx context.Context, in fetchInput) (fetchOutput, error) {
	u, err := url.Parse(in.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fetchOutput{}, errors.New("url must begin with http:// or https://")
	}
	limit := in.MaxLength
	if limit == 0 {
		limit = defaultFetch
	}
	if limit < 0 || limit > maxFetch {
		return fetchOutput{}, fmt.Errorf("max_length must be 1 to %d", maxFetch)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, in.URL, nil)
	if err != nil {
		return fetchOutput{}, err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return fetchOutput{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err != nil {
		return fetchOutput{}, err
	}
	out := fetchOutput{Status: response.StatusCode, Type: response.Header.Get("Content-Type"), Cut: len(body) > limit}
	if out.Cut {
		body = body[:limit]
		for n := 0; n < utf8.UTFMax && len(body) > 0 && !utf8.RuneStart(body[len(body)-1]); n++ {
			body = body[:len(body)-1]
		}
		if last, size := utf8.DecodeLastRune(body); last == utf8.RuneError && size == 1 {
			body = body[:len(body)-1]
		}
	}
	out.Text = strings.ToValidUTF8(string(body), "\uFFFD")
	return out, nil
}
