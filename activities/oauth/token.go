package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"agent-stop-and-go/activities/mask"
)

// requestTime bounds a request for a token.
const requestTime = 15 * time.Second

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// tokenError is a refusal of a token endpoint.
type tokenError struct {
	code, text string
}

func (e *tokenError) Error() string {
	return "the authorization server refused: " + e.text
}

// lost reports whether an error means that a grant, or the client it was made for, is no longer
// valid.
func lost(err error) bool { return refusedWith(err, "invalid_grant") || unknownClient(err) }

// unknownClient reports whether an error means that the authorization server does not know the
// client.
func unknownClient(err error) bool {
	return refusedWith(err, "invalid_client") || refusedWith(err, "unauthorized_client")
}

func refusedWith(err error, code string) bool {
	var refused *tokenError
	return errors.As(err, &refused) && refused.code == code
}

// request sends a request of any grant to the token endpoint of a source. It does not end with
// ctx: what is sent can be used once, and the answer must not be lost.
func (c *Client) request(ctx context.Context, from source, scopes []string, params url.Values) (grant, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	params.Set("resource", from.Resource)
	config := clientcredentials.Config{
		ClientID: from.Client.ID, ClientSecret: from.Client.Secret, TokenURL: from.Token, Scopes: scopes,
		EndpointParams: params, AuthStyle: oauth2.AuthStyleInParams,
	}
	switch from.Client.Method {
	case byBasic:
		config.AuthStyle = oauth2.AuthStyleInHeader
	case byNone:
		config.ClientSecret = ""
	case byKey:
		signed, err := c.assertion(from.Client, from.Issuer)
		if err != nil {
			return grant{}, err
		}
		config.ClientSecret = ""
		params.Set("client_assertion_type", assertionType)
		params.Set("client_assertion", signed)
	}
	issued := c.now()
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, c.sender))
	if err != nil {
		return grant{}, c.explain(err, from, params)
	}
	if !strings.EqualFold(token.Type(), "bearer") || !usable(token.AccessToken) {
		return grant{}, errors.New("the authorization server issued a token that is not a bearer token")
	}
	out := grant{Access: token.AccessToken, Refresh: token.RefreshToken, Issued: issued, Scopes: scopes, Source: from}
	if !token.Expiry.IsZero() {
		out.Expires = issued.Add(time.Until(token.Expiry))
	}
	if granted, ok := token.Extra("scope").(string); ok {
		out.Scopes = union(strings.Fields(granted), nil)
	}
	return out, nil
}

// maxToken bounds access tokens: they are sent with every request.
const maxToken = 16 << 10

// usable reports whether a token can be sent in a header.
func usable(token string) bool {
	return token != "" && len(token) <= maxToken && !strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' })
}

// explain describes why there is no token, without what was sent.
func (c *Client) explain(err error, from source, params url.Values) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		if failed := requestError(err); failed != err {
			return failed
		}
		return errors.New("the authorization server did not answer with a token")
	}
	hidden := mask.New(mask.Value(from.Client.Secret), mask.Value(params.Get("code")), mask.Value(params.Get("refresh_token")),
		mask.Value(params.Get("code_verifier")), mask.Value(params.Get("client_assertion")))
	text := fmt.Sprintf("%s %s", refused.ErrorCode, refused.ErrorDescription)
	if refused.ErrorCode == "" && refused.Response != nil {
		text = fmt.Sprintf("answered %d", refused.Response.StatusCode)
	}
	return &tokenError{code: refused.ErrorCode, text: quote(strings.TrimSpace(hidden.Excerpt(text)))}
}
