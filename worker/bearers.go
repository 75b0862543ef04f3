package worker

import (
	"context"
	"net/http"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/credential"
)

// metadataTimeout limits the reading of a server's metadata.
const metadataTimeout = 10 * time.Second

// newBearers returns the sources of the tokens that calls carry.
func newBearers(c *config.Config, own *clients) *bearer.Book {
	client := &http.Client{
		Timeout:       metadataTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	book := &bearer.Book{}
	if c.Credential("") == config.CredentialForward { // an agent that conversations began with, and that is not configured any more
		book.Default = bearer.Forward{}
	}
	for _, s := range c.MCPServers {
		book.Add(bearer.Server{Name: s.Name, URL: s.URL}, newSource(c, s.Credential, client))
	}
	for _, a := range c.Delegates() {
		source := newSource(c, a.Credential, client)
		if c.Credential(a.Credential) == config.CredentialOwn {
			source = own.agent(a.Name, a.Own)
		}
		book.Add(bearer.Server{Name: a.Name, URL: a.URL, Agent: true}, source)
	}
	return book
}

// newSource returns the source of a server with a setting, or nil if it gets no token of a caller.
func newSource(c *config.Config, setting string, client *http.Client) bearer.Source {
	switch c.Credential(setting) {
	case config.CredentialForward:
		if setting == "" {
			return bearer.Forward{}
		}
		return &bearer.Guarded{Client: client, Now: time.Now}
	case config.CredentialExchange:
		return withoutToken("credential: exchange is not supported by this version")
	}
	return nil
}

// withoutToken is the source of a server that no token can be got for, for this reason.
type withoutToken string

func (w withoutToken) Token(_ context.Context, r bearer.Request) (credential.Token, error) {
	return credential.Token{}, &bearer.Refused{Server: r.Server.Name, Reason: string(w)}
}
