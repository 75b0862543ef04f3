package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
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

// newClient makes an OAuth client that forgets everything at its end, and says whether people log in
// with it.
func newClient(address string, getenv func(string) string) (client *oauth.Client, personal bool, err error) {
	s := scenario{Name: getenv(scenarioVariable)}
	if text := getenv(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, false, fmt.Errorf("%s: %w", contextVariable, err)
		}
	}
	options, err := oauth.InMemory("mcp-client")
	if err != nil {
		return nil, false, err
	}
	options.RedirectURL, options.MetadataURL = redirectURL, metadataURL
	settings := s.settings(address)
	client, err = oauth.New(settings, options)
	return client, settings.Grant != oauth.ClientCredentials, err
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

// person uses a server as who talks to an agent does: with a token of their own, for which they log
// in when the server asks for it.
type person struct {
	client *oauth.Client
	book   bearer.Book
	logins int
}

// place is the server in the book.
var place = bearer.Server{Name: "server"}

func newPerson(client *oauth.Client) *person {
	p := &person{client: client}
	p.book.Add(place, oauth.Source{Client: client})
	return p
}

// tools returns the tools, after a login if the server lists them for nobody else.
func (p *person) tools(ctx context.Context, box *toolbox.Toolbox) ([]toolbox.Tool, error) {
	tools := box.Tools(ctx)
	state := box.States()[0]
	switch {
	case state.Ready:
		return tools, nil
	case state.Error != contract.ErrorAuthentication:
		return nil, errors.New(state.Error)
	}
	err := p.send(ctx, func(token string) *bearer.Refusal {
		if token == "" {
			return bearer.RefusalOf(box.Challenges(place.Name))
		}
		tools = box.Tools(bearer.NewContext(ctx, bearer.NewTokens(func(context.Context, string) string { return token })))
		return nil
	})
	if err == nil && len(tools) == 0 {
		err = errors.New("the server lists no tools for the token that it asked for")
	}
	return tools, err
}

// call makes a call, again after a login.
func (p *person) call(ctx context.Context, box *toolbox.Toolbox, c toolbox.Call) (result toolbox.Result, err error) {
	failed := p.send(ctx, func(token string) *bearer.Refusal {
		c.Bearer = token
		result, err = box.Call(ctx, c)
		return toolbox.Refused(result, err)
	})
	return result, cmp.Or(err, failed)
}

// send makes a request with the token of the person, who logs in for it if they must.
func (p *person) send(ctx context.Context, request func(token string) *bearer.Refusal) error {
	for {
		err := p.book.Call(ctx, place, credential.Token{}, request)
		if bearer.Login(err) == nil || p.logins == maxLogins {
			return err
		}
		p.logins++
		if err := login(ctx, p.client); err != nil {
			return err
		}
	}
}
