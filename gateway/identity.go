package gateway

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
	maxKey         = 255
)

// idempotencyKey returns the caller's key, or "" when there is none.
func idempotencyKey(c echo.Context) (string, error) {
	values := c.Request().Header.Values(headerKey)
	if len(values) == 0 {
		return "", nil
	}
	visible := func(r rune) bool { return r > ' ' && r <= '~' }
	if len(values) > 1 || values[0] == "" || len(values[0]) > maxKey ||
		strings.ContainsFunc(values[0], func(r rune) bool { return !visible(r) }) {
		return "", service.Errorf(contract.KindInvalid, "%s: expected one value of 1 to %d visible ASCII characters", headerKey, maxKey)
	}
	return values[0], nil
}

// ownKey is a key as its caller's own, as far as the caller is known: by the token and
// the session that came with the request. Without either it is the key.
func ownKey(c echo.Context, key string) string {
	token, sid := bearer(c), c.Request().Header.Get(headerSession)
	if !contract.ValidSessionID(sid) {
		sid = "" // the one of the request is made up, and another with the next
	}
	if key == "" || token == "" && sid == "" {
		return key
	}
	return contract.Sum([]byte(token)) + " " + sid + " " + key
}

// conversationID is random without a key, else always the same for that key of the
// caller.
func conversationID(c echo.Context, key string) string {
	if key == "" {
		return uuid.NewString()
	}
	return contract.NameUUID("create", ownKey(c, key))
}

// requestID is random without a key. Else it is derived from what the request is
// about, the route, the caller and the key, so the same key may serve on other routes.
func requestID(c echo.Context, subject, key string) string {
	if key == "" {
		return uuid.NewString()
	}
	return contract.NameUUID(subject, c.Request().Method+" "+c.Path()+" "+ownKey(c, key))
}

func keyReused() *service.Error {
	return service.Errorf(contract.KindKeyReused, "%s was used for a different request", headerKey)
}

// seal returns the caller's bearer token sealed for a conversation, or "".
func (g *Gateway) seal(c echo.Context, conversationID string) (string, error) {
	token := bearer(c)
	if token == "" || g.Keyring == nil {
		return "", nil
	}
	sealed, err := g.Keyring.Seal(conversationID, credential.NewToken(token))
	if err != nil {
		return "", fmt.Errorf("seal the caller's token: %w", err)
	}
	return sealed, nil
}

func bearer(c echo.Context) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(c.Request().Header.Get("Authorization")), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// prefersAsync reports whether the caller sent Prefer: respond-async (RFC 7240).
func prefersAsync(c echo.Context) bool {
	for _, value := range c.Request().Header.Values("Prefer") {
		for _, preference := range strings.Split(value, ",") {
			name, _, _ := strings.Cut(preference, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}
