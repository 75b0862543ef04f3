package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Keys of values in a request's context.
const (
	keySession      = "session"
	keyConversation = "conversation"
	keyClient       = "client"
)

const headerSession = "X-Session-ID"

// observe logs every request, writes errors, and survives panics.
func (g *Gateway) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := g.Now()
		err := g.guard(next, c)
		if err != nil {
			err = g.withCause(c.Request().Context(), err)
			c.Error(err)
		}
		g.log(c, g.Now().Sub(start), err)
		return nil
	}
}

func (g *Gateway) guard(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if cause, ok := p.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
			panic(p)
		}
		err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}()
	return next(c)
}

func (g *Gateway) log(c echo.Context, latency any, err error) {
	status := c.Response().Status
	attrs := []any{
		"method", c.Request().Method, "route", c.Path(), "path", c.Request().URL.Path,
		"status", status, "latency", latency, "sid", sessionOf(c),
	}
	if id, _ := c.Get(keyConversation).(string); id != "" {
		attrs = append(attrs, "conversation", id)
	}
	if err != nil {
		attrs = append(attrs, "error", err.Error())
	}
	g.Logger.Log(c.Request().Context(), level(status), "request", attrs...)
}

func level(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// session keeps a valid session ID and replaces any other.
func session(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		sid := c.Request().Header.Get(headerSession)
		if !contract.ValidSessionID(sid) {
			sid = newSessionID()
		}
		c.Set(keySession, sid)
		c.Response().Header().Set(headerSession, sid)
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		return next(c)
	}
}

func newSessionID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand.Read
	return hex.EncodeToString(b[:])
}

func sessionOf(c echo.Context) string {
	sid, _ := c.Get(keySession).(string)
	return sid
}

// clientOf is the context that ends when the client goes away, for what has no
// deadline.
func clientOf(c echo.Context) context.Context {
	ctx, _ := c.Get(keyClient).(context.Context)
	return ctx
}

// deadline bounds what a request waits for.
func (g *Gateway) deadline(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		ctx, cancel := context.WithTimeout(request.Context(), g.RequestTimeout)
		defer cancel()
		c.Set(keyClient, request.Context())
		defer c.SetRequest(request) // whose context tells whether the client is still there
		c.SetRequest(request.WithContext(ctx))
		return next(c)
	}
}

const (
	maxBody = 1 << 20
	maxRun  = 8 << 20 // a run brings all messages there are
)

// limitToken refuses tokens that are too long to be kept with a message.
func limitToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if n := len(bearer(c)); n > contract.MaxToken {
			return service.Errorf(contract.KindTooLarge, "the bearer token has %d bytes: the limit is %d", n, contract.MaxToken)
		}
		return next(c)
	}
}

func limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		limit := int64(maxBody)
		if c.Path() == pathAGUI || c.Path() == pathA2A {
			limit = maxRun
		}
		c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, limit)
		return next(c)
	}
}

// serializer writes JSON without escaping HTML: texts stay readable.
type serializer struct{ echo.DefaultJSONSerializer }

func (serializer) Serialize(c echo.Context, v any, indent string) error {
	enc := json.NewEncoder(c.Response())
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}
