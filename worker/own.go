package worker

import (
	"errors"
	"fmt"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/own"
)

// clients are the agent as an OAuth client of servers and other agents, by their names.
type clients struct {
	servers, agents map[string]*oauth.Client
	problems        map[*own.Client]error // why there is no client with these settings
}

// newClients makes the clients of all that get tokens of the agent's own.
func newClients(c *config.Config, p Parts) *clients {
	out := &clients{servers: map[string]*oauth.Client{}, agents: map[string]*oauth.Client{}, problems: map[*own.Client]error{}}
	for _, s := range c.MCPServers {
		if c.Credential(s.Credential) == config.CredentialOwn {
			out.add(out.servers, s.Name, s.URL, s.Own, c, p)
		}
	}
	for _, a := range c.Delegates() {
		if c.Credential(a.Credential) == config.CredentialOwn {
			out.add(out.agents, a.Name, a.URL, a.Own, c, p)
		}
	}
	return out
}

// newTryClients makes clients that keep no token beyond their end.
func newTryClients(c *config.Config, getenv func(string) string) (*clients, error) {
	o, err := oauth.InMemory(c.Name)
	return newClients(c, Parts{Getenv: getenv, Records: o.Store, Keyring: o.Keyring}), err
}

func (cs *clients) add(to map[string]*oauth.Client, name, url string, s *own.Client, c *config.Config, p Parts) {
	client, err := newClient(name, url, s, c, p)
	if err != nil {
		cs.problems[s] = fmt.Errorf("own: %w", err)
		return
	}
	to[name] = client
}

func newClient(name, url string, s *own.Client, c *config.Config, p Parts) (*oauth.Client, error) {
	if p.Records == nil || p.Keyring == nil {
		return nil, errors.New("there is no store for its tokens")
	}
	secret, key, err := s.Secret(p.Getenv)
	if err != nil {
		return nil, err
	}
	return oauth.New(oauth.Settings{
		Name: name, URL: url, Issuer: s.Issuer, Grant: oauth.ClientCredentials, ClientID: s.ClientID, Secret: secret, Key: key,
		KeyID: s.KeyID, Scopes: s.Scopes,
	}, oauth.Options{Agent: c.Name, Store: p.Records, Keyring: p.Keyring})
}

// problem returns why there is no client with some settings, or "".
func (cs *clients) problem(s *own.Client) string {
	if err := cs.problems[s]; err != nil {
		return err.Error()
	}
	return ""
}

// agent returns the source of the tokens for another agent.
func (cs *clients) agent(name string, s *own.Client) bearer.Source {
	if problem := cs.problem(s); problem != "" {
		return withoutToken(problem)
	}
	return oauth.Source{Client: cs.agents[name]}
}

func (cs *clients) close() {
	for _, list := range []map[string]*oauth.Client{cs.servers, cs.agents} {
		for _, client := range list {
			client.Close()
		}
	}
}
