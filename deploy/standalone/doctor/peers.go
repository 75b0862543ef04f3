package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"agent-stop-and-go/config"
)

// onward says what an agent gets of its callers, by the value of credential.
var onward = map[string]string{
	config.CredentialNone:     "it gets no token: set its credential or its headers",
	config.CredentialForward:  "the caller's token is forwarded to it, or set its headers",
	config.CredentialExchange: "callers' tokens are exchanged for it",
	config.CredentialOwn:      "the agent has a token of its own for it",
}

// checkPeers asks every other agent for its card.
func (x *examination) checkPeers(ctx context.Context, c *config.Config) {
	for _, a := range c.Delegates() {
		part := "agent " + a.Name
		headers, err := a.HTTPHeaders(x.Getenv)
		if err != nil {
			continue // the environment lacks a variable, which has been said
		}
		switch status, err := x.card(ctx, a.URL, headers); {
		case err != nil:
			x.problem(part, err.Error(), "start it, or correct its url")
		case status == http.StatusUnauthorized, status == http.StatusForbidden:
			x.note(part, fmt.Sprintf("%s answers %d to a caller without a token", a.URL, status), onward[c.Credential(a.Credential)])
		case status != http.StatusOK:
			x.problem(part, fmt.Sprintf("%s has no agent card (%d)", a.URL, status), "is it the URL of an A2A agent?")
		default:
			x.ok(part, a.URL+" has an agent card")
		}
	}
}

// card returns the status of the agent card of a URL: below it, below its host, or there.
func (x *examination) card(ctx context.Context, address string, headers map[string]string) (status int, err error) {
	base, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	root := &url.URL{Scheme: base.Scheme, Host: base.Host}
	var places []string
	for _, u := range []*url.URL{base, root} {
		places = append(places, u.JoinPath(".well-known/agent-card.json").String(), u.JoinPath(".well-known/agent.json").String())
	}
	for _, place := range append(places, address) {
		if status, err = x.status(ctx, place, headers); err != nil || status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
			return status, err
		}
	}
	return status, nil
}

func (x *examination) status(ctx context.Context, address string, headers map[string]string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the headers are for this host
	res, err := (&http.Client{Transport: x.HTTP, CheckRedirect: stay}).Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}
