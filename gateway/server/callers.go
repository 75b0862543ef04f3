package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/forwarded"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/workflows/contract/approvers"
)

// callers are who may call, and how people log in.
type callers struct {
	ways     identity.Ways
	sessions *session.Sessions
	methods  []identity.Method
	shared   map[string][]string // groups that share conversations, by the issuer of their members
	proxies  forwarded.Proxies   // whose forwarding headers are believed
}

// callersOf returns the ways in which callers prove who they are, proxies last: what a caller
// sends itself is judged before a header that a proxy has added. It fails if it does not know a
// way: without any the gateway would be open.
func callersOf(c *config.Config, p Parts) (callers, error) {
	out := callers{shared: map[string][]string{}, proxies: c.Proxies()}
	var proxies identity.Ways
	jar := &session.Jar{Keyring: p.Keyring, PublicURL: strings.TrimRight(c.PublicURL, "/"), Now: time.Now}
	o := session.Options{Jar: jar}
	for _, w := range c.Auth {
		grants := identity.Grants{Scopes: w.CallerScopes(), Groups: w.Grant, Known: slices.Concat(approvers.Groups(c.Approval.Approvers), c.Policy().Groups(), w.SharedGroups)}
		var err error
		switch w.Type {
		case config.AuthKeys:
			out.addKeys(c, w, p, &o)
		case config.AuthOIDC:
			err = out.addOIDC(c, w, grants, p, &o)
		case config.AuthProxy:
			proxies = append(proxies, &identity.Proxy{From: w.Networks(), Header: w.Header, GroupsHeader: w.GroupsHeader, Grants: grants})
			out.methods = append(out.methods, identity.Method{Type: w.Type})
			out.share(identity.IssuerProxy, w)
		default:
			err = fmt.Errorf("auth: no such type %q", w.Type)
		}
		if err != nil {
			return callers{}, err
		}
	}
	jar.Proxies = out.proxies
	if out.sessions = session.New(o); out.sessions != nil {
		out.ways = append(out.ways, out.sessions)
	}
	out.ways = append(out.ways, proxies...)
	return out, nil
}

func (out *callers) addKeys(c *config.Config, w config.AuthWay, p Parts, o *session.Options) {
	way := identity.NewKeys(keys.NewReader(c.KeysFile(), p.Logger))
	if p.Keyring != nil {
		o.Keys, o.KeyLasts = way, w.Session
	}
	out.ways = append(out.ways, way)
	out.methods = append(out.methods, identity.Method{Type: w.Type, Login: p.Keyring != nil})
}

func (out *callers) addOIDC(c *config.Config, w config.AuthWay, grants identity.Grants, p Parts, o *session.Options) error {
	way := identity.NewOIDC(identity.OIDCSettings{
		Issuer: w.Issuer, Audience: w.Audience, SubjectClaim: w.SubjectClaim, GroupsClaim: w.GroupsClaim,
		ScopesFromToken: w.ScopesFromToken, ClockSkew: w.ClockSkew, Grants: grants, Now: p.Now,
	})
	out.share(w.Issuer, w)
	method := identity.Method{Type: w.Type, Login: w.ClientID != "", Issuer: w.Issuer, Audience: w.Audience}
	if w.DeviceClientID != "" {
		method.Device = &identity.Device{ClientID: w.DeviceClientID, Scopes: w.LoginScopes}
	}
	out.ways, out.methods = append(out.ways, way), append(out.methods, method)
	if !method.Login {
		return nil
	}
	login, err := loginOf(w, way, p)
	if err != nil {
		return err
	}
	login.KeepAccessTokens = slices.ContainsFunc(c.Credentials(), derivesToken)
	o.Logins = append(o.Logins, login)
	return nil
}

func (out *callers) share(issuer string, w config.AuthWay) {
	if len(w.SharedGroups) > 0 {
		out.shared[issuer] = append(out.shared[issuer], w.SharedGroups...)
	}
}

// loginOf returns the login of a provider.
func loginOf(w config.AuthWay, way *identity.OIDC, p Parts) (*session.Login, error) {
	if p.Keyring == nil {
		return nil, errors.New("auth: client_id: sessions need a key that seals them: set the keys of the agent as for bearer tokens")
	}
	secret, err := w.Secret(p.Getenv)
	if err != nil {
		return nil, err
	}
	return &session.Login{Way: way, ClientID: w.ClientID, ClientSecret: secret, Scopes: w.LoginScopes, Lasts: w.Session, Now: time.Now}, nil
}
