package identity

import (
	"net/http"
	"net/netip"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// IssuerProxy is the issuer of callers whom a trusted proxy names.
const IssuerProxy = "proxy"

// Proxy are the callers whom a trusted proxy names in a header.
type Proxy struct {
	// From are the networks of the proxy. The headers of other connections are not read.
	From []netip.Prefix
	// Header names the caller, GroupsHeader lists the groups, separated by commas. GroupsHeader
	// may be "".
	Header, GroupsHeader string
	Grants               Grants
}

// Shown implements Way.
func (p *Proxy) Shown(r *http.Request) bool { return p.trusts(r) && len(r.Header.Values(p.Header)) > 0 }

// trusts reports whether the proxy made the connection.
func (p *Proxy) trusts(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	address := peer.Addr().Unmap().WithZone("")
	for _, network := range p.From {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// Identify implements Way.
func (p *Proxy) Identify(r *http.Request) (contract.Identity, error) {
	subjects := r.Header.Values(p.Header)
	if len(subjects) != 1 { // the proxy has added its own to the caller's
		return contract.Identity{}, refusef("%s is there %d times: the proxy must replace it", p.Header, len(subjects))
	}
	caller := contract.Identity{Subject: strings.TrimSpace(subjects[0]), Issuer: IssuerProxy}
	groups, err := p.groups(r)
	if err != nil {
		return contract.Identity{}, err
	}
	return p.Grants.apply(caller, groups, nil), nil
}

func (p *Proxy) groups(r *http.Request) ([]string, error) {
	if p.GroupsHeader == "" {
		return nil, nil
	}
	values := r.Header.Values(p.GroupsHeader)
	if len(values) > 1 {
		return nil, refusef("%s is there %d times: the proxy must replace it", p.GroupsHeader, len(values))
	}
	var groups []string
	for _, value := range values {
		for group := range strings.SplitSeq(value, ",") {
			if group = strings.TrimSpace(group); group != "" {
				groups = append(groups, group)
			}
		}
	}
	return groups, nil
}

func (p *Proxy) String() string { return "a login at the proxy in front of this agent" }
