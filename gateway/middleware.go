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

	"agent-stop-and-go/gateway/codec"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

const headerSession = "X-Session-ID"

// observe logs every request, writes errors, and recovers panics.
func (g *Gateway) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := g.now()
		ctx, span := telemetry.StartRequest(c.Request(), c.Path())
		c.SetRequest(c.Request().WithContext(ctx))
		err := callGuarded(next, c)
		if err != nil {
			err = g.service.WithCause(c.Request().Context(), err)
			c.Error(err)
		}
		took := g.now().Sub(start)
		telemetry.Request(c.Request().Context(), c.Request().Method, c.Path(), c.Response().Status, took)
		span.EndRequest(c.Response().Status, callOf(c).ConversationID)
		g.log(c, took, err)
		return nil
	}
}

// callGuarded returns a panic as an error.
func callGuarded(next echo.HandlerFunc, c echo.Context) (err error) {
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
	status, call := c.Response().Status, callOf(c)
	attrs := []any{
		"method", c.Request().Method, "route", c.Path(), "path", c.Request().URL.Path,
		"status", status, "latency", latency, "sid", call.Caller.Session,
	}
	if call.Caller.Authenticated() {
		attrs = append(attrs, "caller", call.Caller.Identity.Key())
	}
	if call.ConversationID != "" {
		attrs = append(attrs, "conversation", call.ConversationID)
	}
	if trace := telemetry.TraceID(c.Request().Context()); trace != "" {
		attrs = append(attrs, "trace", trace)
	}
	if err != nil {
		attrs = append(attrs, "error", err.Error())
	}
	g.logger.Log(c.Request().Context(), level(status), "request", attrs...)
}

func level(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented: // nothing has failed then
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// identify sets the caller. It keeps a valid session ID and replaces any other.
func (g *Gateway) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		caller := service.Caller{Session: r.Header.Get(headerSession), OwnSession: true, BaseURL: g.publicURL}
		if len(g.callers) == 0 { // otherwise they prove nothing, or something else
			caller.Token, caller.Subject = request.Token(r), r.Header.Get("X-User")
		}
		if !contract.ValidSessionID(caller.Session) {
			caller.Session, caller.OwnSession = newSessionID(), false
		}
		if caller.BaseURL == "" {
			caller.BaseURL = g.proxies.Scheme(r) + "://" + g.hostOf(c)
		}
		c.SetRequest(r.WithContext(request.With(r.Context(), &request.Call{Caller: caller, Client: r.Context()})))
		c.Response().Header().Set(headerSession, caller.Session)
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		return next(c)
	}
}

func newSessionID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand.Read
	return hex.EncodeToString(b[:])
}

// deadline limits how long a request may wait.
func (g *Gateway) deadline(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		ctx, cancel := context.WithTimeout(request.Context(), g.requestTimeout)
		defer cancel()
		callOf(c).Client = request.Context()
		defer c.SetRequest(request) // its context ends when the client disconnects
		c.SetRequest(request.WithContext(ctx))
		return next(c)
	}
}

const (
	maxBody = 1 << 20
	// maxMessages bounds bodies with files, or with all messages of a run.
	maxMessages = 8 << 20
)

// limitToken refuses tokens that are too long to be stored with a message.
func limitToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if n := len(callerOf(c).Token); n > contract.MaxToken {
			return service.Errorf(contract.KindTooLarge, "the bearer token has %d bytes: the limit is %d", n, contract.MaxToken)
		}
		return next(c)
	}
}

var withFiles = []string{pathAGUI, pathA2A, pathChat, pathResponses, pathCompact, pathConversations, pathMessages, codec.PathDecode, codec.PathEncode}

func limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		limit := int64(maxBody)
		if takesFiles(c.Path()) {
			limit = maxMessages
		}
		c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, limit)
		return next(c)
	}
}

// serializer writes JSON without escaping HTML.
type serializer struct{ echo.DefaultJSONSerializer }

func (serializer) Serialize(c echo.Context, v any, indent string) error {
	enc := json.NewEncoder(c.Response())
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}
