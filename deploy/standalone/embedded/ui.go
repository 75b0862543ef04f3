package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"agent-stop-and-go/mcpservers/hosting/guard"
)

// serveUI serves the Web UI on l until the returned function is called. It mirrors NewServer of
// the ui-server, without logins, other origins and the check for new releases, and with a
// connection that can be closed. Because there is no login, the guard is what prevents other
// web pages from deciding approvals.
func serveUI(l net.Listener, address string, o Options) (stop func() error, err error) {
	cfg, err := config.NewConfigProviderWithRefresh(uiConfig(l, address, o))
	if err != nil {
		return nil, fmt.Errorf("configure web UI: %w", err)
	}
	conn, err := api.CreateGRPCConnection(cfg)
	if err != nil {
		return nil, fmt.Errorf("connect web UI: %w", err)
	}
	handler, err := uiHandler(cfg, conn)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("build web UI: %w", err), conn.Close())
	}
	server := &http.Server{
		Handler:           guard.Rules{Hosts: o.AllowedHosts}.Handler(handler),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(o.Logger.With("component", "temporal-ui").Handler(), slog.LevelWarn),
	}
	go server.Serve(l) // ends with ErrServerClosed
	return func() error { return errors.Join(shutdown(server), conn.Close()) }, nil
}

// shutdown gives requests a second to finish, then it closes their connections: a browser may
// wait in a long poll.
func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close()
	}
	return nil
}

func uiConfig(l net.Listener, address string, o Options) *config.Config {
	return &config.Config{
		TemporalGRPCAddress: address,
		Host:                loopback,
		Port:                l.Addr().(*net.TCPAddr).Port,
		EnableUI:            true,
		DefaultNamespace:    o.Namespace,
		DisableNewsFetch:    true,
		NotifyOnNewVersion:  false,
		HideLogs:            true,
		Codec:               config.Codec{Endpoint: o.Codec, IncludeCredentials: o.Codec != ""},
		CORS:                config.CORS{CookieInsecure: true}, // plain HTTP, on loopback
	}
}

func uiHandler(cfg *config.ConfigProviderWithRefresh, conn *grpc.ClientConn) (http.Handler, error) {
	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	e.Use(
		middleware.Recover(),
		middleware.Gzip(),
		middleware.Secure(),
		csrf.EnsureTokenCookie(false),
		middleware.CSRFWithConfig(csrf.MiddlewareConfig(cfg, false)),
	)
	route.SetHealthRoute(e)
	uiAPI(e.Group("/api/v1"), cfg, conn)

	assets, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	local, err := fs.Sub(assets, "local")
	if err != nil {
		return nil, err
	}
	if err := route.SetUIRoutes(e, "", local, cfg); err != nil {
		return nil, err
	}
	route.SetRenderRoute(e, "/")
	return e, nil
}

// uiAPI registers the API that the page calls: Temporal's own, behind a JSON gateway.
func uiAPI(g *echo.Group, cfg *config.ConfigProviderWithRefresh, conn *grpc.ClientConn) {
	forward := []api.Middleware{headers.WithForwardHeaders([]string{"Caller-Type"})}
	g.GET("/settings", api.GetSettings(cfg))
	g.GET("/ui-extensions", api.GetUIExtensions(cfg, api.TemporalAccessCheck(conn, forward)))
	g.GET(api.WorkflowRawHistoryUrl, api.WorkflowRawHistoryHandler(workflowservice.NewWorkflowServiceClient(conn)))
	g.Match(
		[]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		"/*", api.TemporalAPIHandler(cfg, forward, conn),
	)
}
