package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// Where the person's browser returns to, and the client metadata document. Nobody listens there:
// visit reads the address of the redirection, and suites know this document.
const (
	redirectURL = "http://localhost:3000/callback"
	metadataURL = "https://conformance-test.local/client-metadata.json"
)

// The variables in which a suite names its scenario and has, as JSON, what the client must know.
const (
	scenarioVariable = "MCP_CONFORMANCE_SCENARIO"
	contextVariable  = "MCP_CONFORMANCE_CONTEXT"
)

// scenario is what an operator would have configured.
type scenario struct {
	Name         string `json:"-"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
}

// settings are those of an OAuth client of a server.
func (s scenario) settings(address string) oauth.Settings {
	out := oauth.Settings{Name: "server", URL: address, ClientID: s.ClientID, Secret: s.ClientSecret, Key: s.PrivateKey}
	if s.Name == "auth/client-credentials-basic" || s.Name == "auth/client-credentials-jwt" {
		out.Grant = oauth.ClientCredentials
	}
	return out
}

// newClient makes an OAuth client that forgets everything at its end.
func newClient(address string, getenv func(string) string) (*oauth.Client, error) {
	s := scenario{Name: getenv(scenarioVariable)}
	if text := getenv(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("%s: %w", contextVariable, err)
		}
	}
	options, err := oauth.InMemory("mcp-client")
	if err != nil {
		return nil, err
	}
	options.RedirectURL, options.MetadataURL = redirectURL, metadataURL
	return oauth.New(s.settings(address), options)
}

// login logs in as a person would, at an authorization server that asks nothing.
func login(ctx context.Context, client *oauth.Client) error {
	browser := rand.Text()
	address, err := client.BeginLogin(ctx, "", browser)
	if err != nil {
		return err
	}
	back, err := visit(ctx, address)
	if err != nil {
		return err
	}
	q := back.Query()
	return client.FinishLogin(ctx, oauth.Answer{
		State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Error: q.Get("error"), Browser: browser,
	})
}

// visit opens an address and returns where it redirects to.
func visit(ctx context.Context, address string) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return resp.Location()
}

// maxLogins bounds the logins of one run.
const maxLogins = 3

// person logs in when the server asks for it.
type person struct {
	client *oauth.Client
	logins int
}

// tools returns the tools once the server is connected.
func (p *person) tools(ctx context.Context, box *toolbox.Toolbox) ([]toolbox.Tool, error) {
	for {
		tools := box.Tools(ctx)
		state := box.States()[0]
		switch {
		case state.Ready:
			return tools, nil
		case state.Error != contract.ErrorAuthentication || p.logins == maxLogins:
			return nil, errors.New(state.Error)
		}
		if err := p.login(ctx); err != nil {
			return nil, err
		}
		for range 50 { // the box connects again by itself
			if box.States()[0].Ready {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// call makes a call, again after a login.
func (p *person) call(ctx context.Context, box *toolbox.Toolbox, c toolbox.Call) (toolbox.Result, error) {
	for {
		result, err := box.Call(ctx, c)
		if err != nil || result.AuthRequired == "" || p.logins == maxLogins {
			return result, err
		}
		if err := p.login(ctx); err != nil {
			return toolbox.Result{}, err
		}
	}
}

func (p *person) login(ctx context.Context) error {
	p.logins++
	return login(ctx, p.client)
}
