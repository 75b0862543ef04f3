package server

import (
	"fmt"
	"log/slog"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract/approvers"
)

// callersOf returns the ways in which callers prove who they are, proxies last: what a caller
// sends itself is judged before a header that a proxy has added. It fails if it does not know a
// way: without any the gateway would be open.
func callersOf(c *config.Config, logger *slog.Logger) (identity.Ways, error) {
	var ways, proxies identity.Ways
	for _, w := range c.Auth {
		grants := identity.Grants{Scopes: w.CallerScopes(), Groups: w.Grant, Known: approvers.Groups(c.Approval.Approvers)}
		switch w.Type {
		case config.AuthKeys:
			ways = append(ways, identity.NewKeys(keys.NewReader(c.KeysFile(), logger)))
		case config.AuthOIDC:
			ways = append(ways, identity.NewOIDC(identity.OIDCSettings{
				Issuer: w.Issuer, Audience: w.Audience, SubjectClaim: w.SubjectClaim, GroupsClaim: w.GroupsClaim,
				ScopesFromToken: w.ScopesFromToken, ClockSkew: w.ClockSkew, Grants: grants,
			}))
		case config.AuthProxy:
			proxies = append(proxies, &identity.Proxy{From: w.Networks(), Header: w.Header, GroupsHeader: w.GroupsHeader, Grants: grants})
		default:
			return nil, fmt.Errorf("auth: no such type %q", w.Type)
		}
	}
	return append(ways, proxies...), nil
}
