package gateway

import (
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
)

const headerReplayed = "Idempotency-Replayed"

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
