package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrRefused is in the error of every request that is refused.
var ErrRefused = errors.New("refused")

// maxRedirects is the number of redirects that a client follows.
const maxRedirects = 5

// Rules say what may be connected to. The zero value allows the public Internet. It is safe for
// concurrent use.
type Rules struct {
	names    []string // in lower case; a name that begins with "*." is for all below it
	networks []netip.Prefix
	resolver *net.Resolver // nil: that of the system
}

var hostName = regexp.MustCompile(`^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

// New returns rules that also allow private hosts: names, *.names, addresses and networks.
func New(private []string) (Rules, error) {
	var r Rules
	var errs []error
	for _, host := range private {
		name := strings.TrimSuffix(strings.ToLower(host), ".")
		if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			r.networks = append(r.networks, netip.PrefixFrom(canonical(address), canonical(address).BitLen()))
		} else if network, err := netip.ParsePrefix(host); err == nil {
			r.networks = append(r.networks, network.Masked())
		} else if hostName.MatchString(name) {
			r.names = append(r.names, name)
		} else {
			errs = append(errs, fmt.Errorf("private host %q is no name, address or network: leave out scheme, port and path", host))
		}
	}
	return r, errors.Join(errs...)
}

// Client returns a client that sends what the rules allow. It follows at most five redirects, uses no
// proxy and keeps no cookies. A request with its response takes at most timeout.
func (r Rules) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: checked{r, &http.Transport{
			DialContext: r.dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10, MaxIdleConns: 20, IdleConnTimeout: 30 * time.Second,
		}},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("more than five redirects")
			}
			return nil
		},
	}
}

// checked checks the URL of each request, also of redirects.
type checked struct {
	rules Rules
	next  http.RoundTripper
}

func (c checked) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := c.rules.CheckURL(request.URL); err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // as http.RoundTripper has it
		}
		return nil, err
	}
	return c.next.RoundTrip(request)
}

// CheckURL reports what is wrong with a URL itself. What its name resolves to is checked when a connection
// is made.
func (r Rules) CheckURL(u *url.URL) error {
	port, err := strconv.Atoi(u.Port())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: the url must begin with http:// or https://", ErrRefused)
	case u.Hostname() == "":
		return fmt.Errorf("%w: the url has no host", ErrRefused)
	case u.User != nil:
		return fmt.Errorf("%w: the url must not have a user or a password", ErrRefused)
	case u.Port() != "" && (err != nil || port < 1 || port > 65535):
		return fmt.Errorf("%w: %q is no port", ErrRefused, u.Port())
	case u.Port() != "" && port != 80 && port != 443 && port < 1024 && !r.listed(u.Hostname()):
		return fmt.Errorf("%w: port %d is not one of the web", ErrRefused, port)
	}
	return nil
}

// listed reports whether a host is one of the private hosts, by its name or its address.
func (r Rules) listed(host string) bool {
	address, err := netip.ParseAddr(host)
	return r.named(host) || err == nil && r.contains(canonical(address))
}

func (r Rules) named(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.ContainsFunc(r.names, func(name string) bool {
		if parent, ok := strings.CutPrefix(name, "*"); ok {
			return strings.HasSuffix(host, parent)
		}
		return host == name
	})
}

func (r Rules) contains(a netip.Addr) bool {
	return slices.ContainsFunc(r.networks, func(n netip.Prefix) bool { return n.Contains(a) && (n.IsSingleIP() || !sensitive(a)) })
}

// dial connects to an address that is allowed, of those that the host has.
func (r Rules) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	named := r.named(host)
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: r.resolver, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !r.allows(canonical(at.Addr()), named) {
			return fmt.Errorf("%w: %s is not an address of the Internet", ErrRefused, address)
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, hostport)
}

// allows reports whether a canonical address may be connected to, under a name that is listed or not.
func (r Rules) allows(a netip.Addr, named bool) bool {
	return Public(a) || r.contains(a) || named && !sensitive(a)
}
