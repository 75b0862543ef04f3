package oauth

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/workflows/credential"
)

const (
	// expiryMargin is how long before its end a token is renewed.
	expiryMargin = 30 * time.Second
	// youth is how long a refused token counts as just issued. It bounds how often a server that
	// refuses every token makes the agent ask for another one.
	youth = time.Minute
	// patience bounds all that is done for one renewal.
	patience = 25 * time.Second
	// maxHeld bounds the subjects whose tokens are in memory.
	maxHeld = 1024
)

// ErrLogin is the error of Renew if a person must log in.
var ErrLogin = errors.New("a person must log in")

// Options are what a Client works with.
type Options struct {
	// Agent is the agent's name. Agents that share a store have different names.
	Agent string
	// RedirectURL is where authorization servers send people back to, on the gateway. Without it
	// nobody can log in.
	RedirectURL string
	// MetadataURL is the https URL of the client metadata document, or "".
	MetadataURL string
	Store       Store
	Keyring     *credential.Keyring
	// Now is time.Now if it is nil.
	Now func() time.Time
}

// Client obtains tokens for one server. It is safe for concurrent use.
type Client struct {
	server                          Settings
	agent, redirectURL, metadataURL string
	store                           Store
	keyring                         *credential.Keyring
	now                             func() time.Time
	signer                          crypto.Signer // nil without a key
	reader, sender                  *http.Client  // for metadata, and for secrets
	held                            *lru.Cache[string, *holder]
}

// holder has the grant of one subject in memory. Its slot is taken while the grant is used.
type holder struct {
	slot  chan struct{}
	grant grant
	sent  atomic.Pointer[[]string] // the latest tokens, which may be read without the slot
}

// maxSent bounds the tokens of a subject that are masked.
const maxSent = 4

// record adds the token to those that answers may repeat.
func (h *holder) record() {
	now := h.grant.Access
	known := h.secrets()
	if now == "" || slices.Contains(known, now) {
		return
	}
	known = append([]string{now}, known[:min(len(known), maxSent-1)]...)
	h.sent.Store(&known)
}

// secrets returns the latest tokens.
func (h *holder) secrets() []string {
	if known := h.sent.Load(); known != nil {
		return *known
	}
	return nil
}

// New checks the settings and makes a client.
func New(s Settings, o Options) (*Client, error) {
	signer, err := s.check()
	if err != nil {
		return nil, err
	}
	s.Grant = cmp.Or(s.Grant, AuthorizationCode)
	held, err := lru.New[string, *holder](maxHeld)
	if err != nil {
		return nil, err
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &Client{
		server: s, agent: o.Agent, redirectURL: o.RedirectURL, metadataURL: o.MetadataURL, store: o.Store, keyring: o.Keyring,
		now: now, signer: signer, reader: s.client(3), sender: s.client(0), held: held,
	}, nil
}

// Close ends idle connections.
func (c *Client) Close() {
	c.reader.CloseIdleConnections()
	c.sender.CloseIdleConnections()
}

// Token returns the access token for requests on behalf of a subject, or "" if there is none. It
// renews a token that is about to expire, if that needs nobody.
func (c *Client) Token(ctx context.Context, subject string) (string, error) {
	h, release, err := c.hold(ctx, subject)
	if err != nil {
		return "", err
	}
	defer release()
	if h.grant.fresh(c.now()) {
		return h.grant.Access, nil
	}
	if err := c.load(ctx, c.recordName(subject), &h.grant); err != nil {
		return "", err
	}
	if h.grant.fresh(c.now()) || h.grant.Access == "" {
		return h.grant.Access, nil
	}
	err = c.again(ctx, subject, h)
	switch {
	case err == nil, c.now().Before(h.grant.Expires):
		return h.grant.Access, nil
	case lost(err), errors.Is(err, ErrLogin):
		return "", nil // the server will ask
	}
	return "", err
}

// Renew returns another token after the server has refused one, which may be "". It fails with
// ErrLogin if a person must log in, and with other errors if there is no other token.
func (c *Client) Renew(ctx context.Context, subject, refused string, r Refusal) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.server.PerCaller && subject == "" {
		return "", ErrLogin
	}
	h, release, err := c.hold(ctx, subject)
	if err != nil {
		return "", err
	}
	defer release()
	if err := c.load(ctx, c.recordName(subject), &h.grant); err != nil {
		return "", err
	}
	if h.grant.Access != refused && h.grant.fresh(c.now()) && h.grant.covers(r) {
		return h.grant.Access, nil // renewed meanwhile, perhaps by another worker
	}
	switch err := c.hopeless(h.grant, refused, r); {
	case err != nil && c.server.Grant == AuthorizationCode && !r.MoreScopes:
		return "", c.askPerson(ctx, subject, h, r) // perhaps it was the login of somebody else
	case err != nil:
		return "", err
	}
	if !r.MoreScopes {
		err := c.again(ctx, subject, h)
		if err == nil {
			return h.grant.Access, nil
		}
		if !lost(err) && !errors.Is(err, ErrLogin) {
			return "", err
		}
	}
	if c.server.Grant == AuthorizationCode {
		return "", c.askPerson(ctx, subject, h, r)
	}
	return c.grantItself(ctx, subject, h, r)
}

// covers reports whether a grant has the scopes that a server demands.
func (g grant) covers(r Refusal) bool {
	return !r.MoreScopes || !slices.ContainsFunc(r.Scopes, func(one string) bool { return !slices.Contains(g.Scopes, one) })
}

// hopelessError says why another token would be refused like the last one.
type hopelessError string

func (e hopelessError) Error() string { return string(e) }

// hopeless reports, as an error, that another token would be refused like the last one.
func (c *Client) hopeless(g grant, refused string, r Refusal) error {
	switch {
	case refused == "" || refused != g.Access:
		return nil
	case r.MoreScopes && g.covers(r):
		return hopelessError("the server demands scopes that the refused token has")
	case !r.MoreScopes && c.now().Sub(g.Issued) < youth:
		return hopelessError("the server refuses a token that was just issued for it")
	}
	return nil
}

// again renews a grant where it came from: by its refresh token, or with client credentials. It
// fails with ErrLogin if there is nothing to renew it with.
func (c *Client) again(ctx context.Context, subject string, h *holder) error {
	old := h.grant
	var fresh grant
	var err error
	switch {
	case old.Source.Token == "" || c.server.Issuer != "" && !sameIssuer(c.server.Issuer, old.Source.Issuer):
		return ErrLogin
	case old.Refresh != "":
		fresh, err = c.request(ctx, old.Source, nil, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}})
	case c.server.Grant == ClientCredentials:
		fresh, err = c.request(ctx, old.Source, old.Scopes, url.Values{})
	default:
		return ErrLogin
	}
	if unknownClient(err) {
		err = errors.Join(err, c.unregister(ctx, old.Source.Issuer))
	}
	if lost(err) {
		return c.forget(ctx, subject, h, old, err)
	}
	if err != nil {
		return fmt.Errorf("renew the token: %w", err)
	}
	fresh.Refresh = cmp.Or(fresh.Refresh, old.Refresh)
	if fresh.Scopes == nil {
		fresh.Scopes = old.Scopes
	}
	fresh.Wanted, fresh.Login = old.Wanted, old.Login
	return c.keep(ctx, subject, h, fresh)
}

// forget drops a grant that the authorization server no longer accepts, unless another worker
// has stored a later one.
func (c *Client) forget(ctx context.Context, subject string, h *holder, old grant, why error) error {
	h.grant = grant{}
	if err := c.load(ctx, c.recordName(subject), &h.grant); err != nil {
		return err
	}
	if h.grant.Access != old.Access && h.grant.fresh(c.now()) {
		return nil
	}
	h.grant.Access, h.grant.Refresh = "", ""
	if err := c.save(ctx, c.recordName(subject), h.grant); err != nil {
		return err
	}
	return why
}

// grantItself requests a token with client credentials.
func (c *Client) grantItself(ctx context.Context, subject string, h *holder, r Refusal) (string, error) {
	from, scopes, err := c.prepare(ctx, h.grant, r)
	if err != nil {
		return "", err
	}
	fresh, err := c.request(ctx, from.source(), scopes, url.Values{})
	if err != nil {
		return "", err
	}
	if err := c.keep(ctx, subject, h, fresh); err != nil {
		return "", err
	}
	return fresh.Access, nil
}

// offer is an authorization server and the agent's client there.
type offer struct {
	place
	client client
}

func (o offer) source() source {
	return source{Issuer: o.Issuer, Token: o.TokenEndpoint, Resource: o.Resource, Metadata: o.Metadata, Client: o.client}
}

// prepare finds out where a token is obtained, as whom, and with which scopes: those that the
// server names, together with those of the grant.
func (c *Client) prepare(ctx context.Context, g grant, r Refusal) (offer, []string, error) {
	r.Metadata = cmp.Or(r.Metadata, g.Source.Metadata)
	at, err := c.discover(ctx, r)
	if err != nil {
		return offer{}, nil, err
	}
	named, err := c.server.scopesFor(r.Scopes)
	if err != nil {
		return offer{}, nil, err
	}
	if len(named) == 0 {
		named = at.Offered
	}
	who, err := c.clientAt(ctx, at)
	if err != nil {
		return offer{}, nil, err
	}
	return offer{at, who}, union(g.Scopes, named), nil
}

// keep stores a grant. A token that cannot be stored is used by this worker alone.
func (c *Client) keep(ctx context.Context, subject string, h *holder, g grant) error {
	h.grant = g
	return c.save(context.WithoutCancel(ctx), c.recordName(subject), g)
}

// Secrets are the latest tokens that requests of a subject contained.
func (c *Client) Secrets(subject string) []string {
	if h, ok := c.held.Get(c.own(subject)); ok {
		return h.secrets()
	}
	return nil
}

// own is the subject that a token belongs to: nobody if it is the agent's.
func (c *Client) own(subject string) string {
	if !c.server.PerCaller {
		return ""
	}
	return subject
}

func (c *Client) recordName(subject string) string {
	return recordName("grant", c.agent, c.server.Name, c.server.URL, c.server.ClientID, c.own(subject))
}

// hold returns the grant of a subject for exclusive use until release.
func (c *Client) hold(ctx context.Context, subject string) (h *holder, release func(), err error) {
	fresh := &holder{slot: make(chan struct{}, 1)}
	h, known, _ := c.held.PeekOrAdd(c.own(subject), fresh)
	if !known {
		h = fresh
	}
	select {
	case h.slot <- struct{}{}:
		return h, func() { h.record(); <-h.slot }, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}
