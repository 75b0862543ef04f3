package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// ErrRefused is in the error of a token that is not valid, or not for the server.
var ErrRefused = errors.New("the token is refused")

// Holder is whose a token is.
type Holder struct {
	Name    string
	Scopes  []string
	Expires time.Time
}

// Verified returns a guard for tokens that only their issuer can read, such as those of Google: verify asks it.
// Issuer, Scopes and Resource of the settings are for the challenge and the metadata.
func Verified(s Settings, verify func(ctx context.Context, token string) (Holder, error)) *Guard {
	s.Kind = OIDC
	return &Guard{s, func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		h, err := verify(ctx, token)
		if errors.Is(err, ErrRefused) {
			return nil, fmt.Errorf("%w: %w", auth.ErrInvalidToken, err)
		}
		if err != nil {
			return nil, err
		}
		return &auth.TokenInfo{UserID: h.Name, Scopes: h.Scopes, Expiration: h.Expires}, nil
	}}
}
