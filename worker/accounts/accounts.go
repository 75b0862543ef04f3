// Package accounts makes the clients by which the agent gets tokens of its own from a
// configuration. Workers get tokens with them, and gateways let people log in: both share what is
// stored, so both must make the same clients.
package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/own"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

// Paths of the gateway.
const (
	PathCallback = "/auth/servers/callback"
	PathMetadata = "/auth/client.json"
)

// Parts are the dependencies of clients.
type Parts struct {
	Records oauth.Store
	Keyring *credential.Keyring
	Getenv  func(string) string
}

// Accounts are the clients of the servers and agents of a configuration.
type Accounts struct {
	servers, agents map[string]*oauth.Client
	problems        map[*own.Client]error // why there is no client with these settings
	at              own.Place
	agent           string
}

// New makes the clients of all that get tokens of the agent's own.
func New(c *config.Config, p Parts) *Accounts {
	out := &Accounts{
		servers: map[string]*oauth.Client{}, agents: map[string]*oauth.Client{}, problems: map[*own.Client]error{},
		at: own.At(len(c.Auth) > 0, c.PublicURL, c.Host, c.Port), agent: c.Name,
	}
	for _, s := range c.MCPServers {
		if c.Credential(s.Credential) == config.CredentialOwn {
			out.add(out.servers, s.Name, s.URL, s.Own, p)
		}
	}
	for _, a := range c.Delegates() {
		if c.Credential(a.Credential) == config.CredentialOwn {
			out.add(out.agents, a.Name, a.URL, a.Own, p)
		}
	}
	return out
}

// Temporary makes clients that keep no token beyond their end.
func Temporary(c *config.Config, getenv func(string) string) (*Accounts, error) {
	o, err := oauth.InMemory(c.Name)
	return New(c, Parts{Getenv: getenv, Records: o.Store, Keyring: o.Keyring}), err
}

func (a *Accounts) add(to map[string]*oauth.Client, name, url string, s *own.Client, p Parts) {
	client, err := a.client(name, url, s, p)
	if err != nil {
		a.problems[s] = fmt.Errorf("own: %w", err)
		return
	}
	to[name] = client
}

func (a *Accounts) client(name, url string, s *own.Client, p Parts) (*oauth.Client, error) {
	if p.Records == nil || p.Keyring == nil {
		return nil, errors.New("there is no store for its tokens")
	}
	secret, key, err := s.Secret(p.Getenv)
	if err != nil {
		return nil, err
	}
	settings := oauth.Settings{
		Name: name, URL: url, Issuer: s.Issuer, Grant: oauth.ClientCredentials, ClientID: s.ClientID, Secret: secret, Key: key,
		KeyID: s.KeyID, Scopes: s.Scopes, PerCaller: s.OfCallers(a.at),
	}
	options := oauth.Options{Agent: a.agent, Store: p.Records, Keyring: p.Keyring}
	if s.Logins() {
		settings.Grant = oauth.AuthorizationCode
		options.RedirectURL, options.MetadataURL = a.callback(), a.metadata()
	}
	return oauth.New(settings, options)
}

func (a *Accounts) callback() string { return a.at.Base + PathCallback }

// metadata is the URL of the client metadata document, or "": authorization servers read it over
// https only.
func (a *Accounts) metadata() string {
	if !strings.HasPrefix(a.at.Base, "https://") {
		return ""
	}
	return a.at.Base + PathMetadata
}

// Base is the URL at which people reach the agent, or "".
func (a *Accounts) Base() string { return a.at.Base }

// Problem returns why there is no client with some settings, or "".
func (a *Accounts) Problem(s *own.Client) string {
	if err := a.problems[s]; err != nil {
		return err.Error()
	}
	return ""
}

// Server returns the client of a tool server, or nil.
func (a *Accounts) Server(name string) *oauth.Client { return a.servers[name] }

// Agent returns the client of another agent, or nil.
func (a *Accounts) Agent(name string) *oauth.Client { return a.agents[name] }

// Close ends idle connections.
func (a *Accounts) Close() {
	for _, list := range []map[string]*oauth.Client{a.servers, a.agents} {
		for _, client := range list {
			client.Close()
		}
	}
}

var errGone = errors.New("the agent has no login for this server any more: its configuration has changed")

func (a *Accounts) of(n login.Need) (*oauth.Client, error) {
	client := a.servers[n.Server]
	if n.Agent {
		client = a.agents[n.Server]
	}
	if client == nil {
		return nil, errGone
	}
	return client, nil
}

// Begin returns the address at which a person logs in. browser identifies the browser; only the
// same one can finish the login.
func (a *Accounts) Begin(ctx context.Context, n login.Need, browser string) (string, error) {
	client, err := a.of(n)
	if err != nil {
		return "", err
	}
	return client.BeginLogin(ctx, n.Caller, browser)
}

// Finish takes what the authorization server has sent back. A login can be finished once.
func (a *Accounts) Finish(ctx context.Context, n login.Need, browser string, got login.Answer) error {
	client, err := a.of(n)
	if err != nil {
		return err
	}
	return client.FinishLogin(ctx, oauth.Answer{State: got.State, Code: got.Code, Issuer: got.Issuer, Error: got.Error, Browser: browser})
}

// Done reports whether somebody has logged in for a need since a time.
func (a *Accounts) Done(ctx context.Context, n login.Need, since time.Time) (bool, error) {
	client, err := a.of(n)
	if err != nil {
		return false, err
	}
	at, err := client.LoggedIn(ctx, n.Caller)
	return at.After(since), err
}

// Metadata is the client metadata document, or nil if authorization servers cannot read it.
func (a *Accounts) Metadata() ([]byte, error) {
	if a.metadata() == "" {
		return nil, nil
	}
	document := struct {
		ClientID string `json:"client_id"`
		oauth.ClientMetadata
	}{a.metadata(), oauth.Metadata(a.agent, a.callback())}
	return json.Marshal(document)
}
