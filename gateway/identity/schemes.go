package identity

import (
	"fmt"
	"strings"
)

// Scheme describes to clients how to prove who calls. It is a bearer token.
type Scheme struct {
	Name, Description string
	// DiscoveryURL has the configuration of the OpenID provider that makes the tokens; "" for
	// keys.
	DiscoveryURL string
}

// Schemes are the schemes of the ways, by different names. A proxy is none of them: what it
// wants of a client is not known here.
func (ways Ways) Schemes() []Scheme {
	var out []Scheme
	for _, way := range ways {
		scheme := Scheme{Description: way.String()}
		switch way := way.(type) {
		case *Keys:
			scheme.Name = "key"
		case *OIDC:
			scheme.Name = "openIdConnect"
			scheme.DiscoveryURL = strings.TrimSuffix(way.Issuer, "/") + "/.well-known/openid-configuration"
		default:
			continue
		}
		for _, other := range out {
			if other.Name == scheme.Name {
				scheme.Name = fmt.Sprintf("%s%d", scheme.Name, len(out)+1)
			}
		}
		out = append(out, scheme)
	}
	return out
}
