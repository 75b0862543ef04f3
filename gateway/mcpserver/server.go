package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/workflows/contract"
)

// Options are the dependencies and settings of a Server.
type Options struct {
	Exchanges *exchange.Exchanges
	// Models are the agent and the nodes that can be asked.
	Models offers.Models
	// Codes seal what clients bring back with their answers.
	Codes   *passcode.Codes
	Version string
	Logger  *slog.Logger
	// Issuers are the OpenID providers whose tokens callers may send.
	Issuers []string
}

// Server is the MCP server. It is safe for concurrent use. It must be closed.
type Server struct {
	Options
	http  *hosting.HTTP
	calls *calls
}

// New makes the server of an agent.
func New(o Options) *Server {
	s := &Server{Options: o, calls: newCalls()}
	m := server.NewMCPServer(o.Models.Agent.Name, cmp.Or(o.Version, "0"),
		server.WithToolCapabilities(false), server.WithResourceCapabilities(false, false), server.WithElicitation(),
		server.WithDescription(o.Models.Agent.Description), hosting.WithIdempotency(), server.WithHooks(&server.Hooks{}))
	s.addTools(m)
	s.addResources(m)
	s.http = hosting.NewHTTP(hosting.Options{
		// The door of the gateway has checked names and origins, and who calls.
		Settings: hosting.Settings{Transport: hosting.TransportHTTP, AllowedHosts: []string{"*"}},
		Name:     o.Models.Agent.Name, Sessions: newSessions(), Log: slog.New(errorsOnly{o.Logger.Handler()}), MaxBody: maxBody,
	}, m)
	return s
}

// maxBody is the limit of the gateway for other requests.
const maxBody = 1 << 20

// Close ends streams. Calls end because the service closes.
func (s *Server) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nothing is waited for
	_ = s.http.Shutdown(ctx)
}

type ownerKey struct{}

// anyone is whose all sessions are without authentication: the headers of a client differ from request to
// request.
const anyone = "anyone"

// keyOf returns whose requests a caller sends.
func keyOf(c service.Caller) string {
	if c.Authenticated() {
		return c.Identity.Key()
	}
	return anyone
}

// ownerOf returns whose request it is, "" for what the server does itself.
func ownerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}

// Serve handles a request. It lasts as long as the client is there.
func (s *Server) Serve(c echo.Context) error {
	r := c.Request()
	call := request.From(r.Context())
	body, err := io.ReadAll(r.Body)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return service.Errorf(contract.KindTooLarge, "request body too large: the limit is %d bytes", tooLarge.Limit)
	} else if err != nil {
		return service.Errorf(contract.KindInvalid, "the request body could not be read").Because(err)
	}
	if !call.Caller.Authenticated() { // a token that proves nothing is for nobody else either
		call.Caller.Token = request.ToolToken(r)
	}
	ctx := context.WithValue(call.Client, ownerKey{}, keyOf(call.Caller))
	r = r.WithContext(s.take(ctx, r.Header.Get(server.HeaderKeySessionID), body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.URL.Path = Path
	w := &plainErrors{ResponseWriter: c.Response()}
	s.http.ServeHTTP(w, r)
	return w.finish()
}

// errorsOnly drops what the gateway logs itself.
type errorsOnly struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h errorsOnly) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (h errorsOnly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return errorsOnly{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h errorsOnly) WithGroup(name string) slog.Handler { return errorsOnly{h.Handler.WithGroup(name)} }
