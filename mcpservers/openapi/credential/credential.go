// Package credential puts credentials into requests, as the security schemes of an OpenAPI document say:
// apiKey, http (basic, bearer), oauth2 and openIdConnect. A credential is the value of an environment
// variable:
//
//	apiKey, http bearer             the key or token
//	http basic                      user:password
//	oauth2 with clientCredentials   client_id:client_secret, for which tokens are got and renewed
//	oauth2, openIdConnect           an access token
package credential

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Keeper has credentials by the name of their scheme. It is safe for concurrent use.
type Keeper struct {
	schemes map[string]*openapi3.SecurityScheme
	values  map[string]string
	client  *http.Client // for tokens

	mu     sync.Mutex
	tokens map[string]oauth2.TokenSource // by scheme and scopes
}

// New returns a keeper. names are the environment variables by scheme. client gets tokens.
func New(schemes map[string]*openapi3.SecurityScheme, names map[string]string, getenv func(string) string, client *http.Client) (*Keeper, error) {
	k := &Keeper{schemes: schemes, values: map[string]string{}, client: client, tokens: map[string]oauth2.TokenSource{}}
	for _, scheme := range slices.Sorted(maps.Keys(names)) {
		s, ok := schemes[scheme]
		if !ok {
			return nil, fmt.Errorf("credentials: the document has no security scheme %q, but %s", scheme, strings.Join(slices.Sorted(maps.Keys(schemes)), ", "))
		}
		value := strings.TrimSpace(getenv(names[scheme]))
		if value == "" {
			return nil, fmt.Errorf("credentials: environment variable %s is empty", names[scheme])
		}
		if _, _, ok := strings.Cut(value, ":"); !ok && (isBasic(s) || flowOf(s) != nil) {
			return nil, fmt.Errorf("credentials: %s must have two parts with a colon between, for %s", names[scheme], scheme)
		}
		if !usable(s) {
			return nil, fmt.Errorf("credentials: the security scheme %s of the type %s %s is not supported", scheme, s.Type, s.Scheme)
		}
		k.values[scheme] = value
	}
	return k, nil
}

func isBasic(s *openapi3.SecurityScheme) bool {
	return s.Type == "http" && strings.EqualFold(s.Scheme, "basic")
}

func flowOf(s *openapi3.SecurityScheme) *openapi3.OAuthFlow {
	if s.Type != "oauth2" || s.Flows == nil {
		return nil
	}
	return s.Flows.ClientCredentials
}

func usable(s *openapi3.SecurityScheme) bool {
	switch s.Type {
	case "apiKey":
		return slices.Contains([]string{"header", "query", "cookie"}, s.In)
	case "http":
		return isBasic(s) || strings.EqualFold(s.Scheme, "bearer")
	}
	return s.Type == "oauth2" || s.Type == "openIdConnect"
}

// Schemes returns the names of those that have a credential.
func (k *Keeper) Schemes() []string { return slices.Sorted(maps.Keys(k.values)) }

// For returns what adds the credentials of the first alternative for which all are there. It is an error if
// there is none, before anything is sent.
func (k *Keeper) For(ctx context.Context, alternatives openapi3.SecurityRequirements) (func(http.Header, url.Values), error) {
	if len(alternatives) == 0 {
		return nil, nil
	}
	var open bool
	for _, all := range alternatives {
		if len(all) == 0 {
			open = true
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(scheme string) bool { return k.values[scheme] == "" }) {
			return k.add(ctx, all)
		}
	}
	if open {
		return nil, nil
	}
	var names []string
	for _, all := range alternatives {
		names = append(names, strings.Join(slices.Sorted(maps.Keys(all)), " and "))
	}
	return nil, fmt.Errorf("the operation needs credentials for %s: start the server with --credential SCHEME=VARIABLE", strings.Join(names, ", or "))
}

func (k *Keeper) add(ctx context.Context, all openapi3.SecurityRequirement) (func(http.Header, url.Values), error) {
	bearers := map[string]string{}
	for scheme, scopes := range all {
		token, err := k.token(ctx, scheme, scopes)
		if err != nil {
			return nil, err
		}
		bearers[scheme] = token
	}
	return func(header http.Header, query url.Values) {
		for scheme := range all {
			k.put(k.schemes[scheme], k.values[scheme], bearers[scheme], header, query)
		}
	}, nil
}

// token returns an access token, "" for schemes that have none.
func (k *Keeper) token(ctx context.Context, scheme string, scopes []string) (string, error) {
	s := k.schemes[scheme]
	flow := flowOf(s)
	if flow == nil {
		return k.values[scheme], nil
	}
	k.mu.Lock()
	key := scheme + "\n" + strings.Join(scopes, " ")
	source := k.tokens[key]
	if source == nil {
		id, secret, _ := strings.Cut(k.values[scheme], ":")
		c := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: flow.TokenURL, Scopes: scopes}
		// Tokens outlive the call, so its context only lends the values.
		source = c.TokenSource(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, k.client))
		k.tokens[key] = source
	}
	k.mu.Unlock()
	token, err := source.Token()
	if err != nil {
		return "", fmt.Errorf("get a token for %s: %w", scheme, k.Masked(err))
	}
	return token.AccessToken, nil
}

func (k *Keeper) put(s *openapi3.SecurityScheme, value, token string, header http.Header, query url.Values) {
	switch {
	case isBasic(s):
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	case s.Type != "apiKey":
		header.Set("Authorization", "Bearer "+token)
	case s.In == "header":
		header.Set(s.Name, value)
	case s.In == "query":
		query.Set(s.Name, value)
	default:
		cookie := s.Name + "=" + url.QueryEscape(value)
		if before := header.Get("Cookie"); before != "" {
			cookie = before + "; " + cookie
		}
		header.Set("Cookie", cookie)
	}
}

// shortest is the length from which a credential is replaced in texts.
const shortest = 6

// Mask replaces credentials in a text.
func (k *Keeper) Mask(text string) string {
	for _, value := range k.values {
		parts := []string{value, base64.StdEncoding.EncodeToString([]byte(value))}
		if _, secret, ok := strings.Cut(value, ":"); ok {
			parts = append(parts, secret)
		}
		for _, part := range parts {
			if len(part) >= shortest {
				text = strings.ReplaceAll(text, part, "…")
				text = strings.ReplaceAll(text, url.QueryEscape(part), "…")
			}
		}
	}
	return text
}

// Masked returns an error whose text has no credentials.
func (k *Keeper) Masked(err error) error { return masked{k.Mask(err.Error()), err} }

type masked struct {
	text  string
	inner error
}

func (m masked) Error() string { return m.text }
func (m masked) Unwrap() error { return m.inner }
