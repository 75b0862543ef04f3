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
	"cmp"
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
)

// Keeper has credentials by the name of their scheme. It is safe for concurrent use.
type Keeper struct {
	schemes map[string]*openapi3.SecurityScheme
	values  map[string]string
	client  *http.Client // for tokens

	mu     sync.Mutex
	tokens map[string]*source // by scheme and scopes
}

// New returns a keeper. names are the environment variables by scheme. client gets tokens.
func New(schemes map[string]*openapi3.SecurityScheme, names map[string]string, getenv func(string) string, client *http.Client) (*Keeper, error) {
	k := &Keeper{schemes: schemes, values: map[string]string{}, client: client, tokens: map[string]*source{}}
	for _, scheme := range slices.Sorted(maps.Keys(names)) {
		s, ok := schemes[scheme]
		if !ok {
			return nil, fmt.Errorf("credentials: the document has no security scheme %q; it has: %s", scheme, cmp.Or(strings.Join(slices.Sorted(maps.Keys(schemes)), ", "), "none"))
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

// For returns the credentials of the first alternative for which all are there. It is an error if there is
// none, before anything is sent.
func (k *Keeper) For(ctx context.Context, alternatives openapi3.SecurityRequirements) (*Grant, error) {
	if len(alternatives) == 0 {
		return &Grant{}, nil
	}
	var open bool
	for _, all := range alternatives {
		if len(all) == 0 {
			open = true
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(scheme string) bool { return k.values[scheme] == "" }) {
			return k.grant(ctx, all)
		}
	}
	if open {
		return &Grant{}, nil
	}
	var names []string
	for _, all := range alternatives {
		names = append(names, strings.Join(slices.Sorted(maps.Keys(all)), " and "))
	}
	return nil, fmt.Errorf("the operation needs credentials for %s: start the server with --credential SCHEME=VARIABLE", strings.Join(names, ", or "))
}

func (k *Keeper) grant(ctx context.Context, all openapi3.SecurityRequirement) (*Grant, error) {
	g := &Grant{keeper: k, bearers: map[string]string{}, got: map[*source]string{}}
	for scheme, scopes := range all {
		if flowOf(k.schemes[scheme]) == nil {
			g.bearers[scheme] = k.values[scheme]
			continue
		}
		s := k.source(scheme, scopes)
		token, err := s.token(ctx, k.client)
		if err != nil {
			return nil, fmt.Errorf("get a token for %s: %w", scheme, k.Short(err))
		}
		g.bearers[scheme], g.got[s] = token, token
	}
	return g, nil
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
