package gateway

import (
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
	maxKey         = 255
)

// idempotencyKey returns the caller's key, or "".
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

func callOf(c echo.Context) *request.Call { return request.From(c.Request().Context()) }

func callerOf(c echo.Context) service.Caller { return callOf(c).Caller }

// requestID returns the request ID for a subject, such as a conversation, and the route.
func requestID(c echo.Context, subject, key string) string {
	return callerOf(c).RequestID(subject, c.Request().Method+" "+c.Path(), key)
}

// fingerprintOf returns a hash of the path and the body, which distinguishes a repeated
// request from a different one.
func fingerprintOf(c echo.Context, body []byte) string {
	return service.Fingerprint(c.Request().Method+"\n"+c.Request().URL.Path, body)
}
