package hosting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"agent-stop-and-go/mcpservers/hosting/auth"

	"github.com/mark3labs/mcp-go/server"
)

// Run serves s until ctx ends, over stdio also until the end of the input. Running calls then
// have options.Grace to finish. The resources of s must stay open until Run has returned. If
// options.Token is empty and options.AuthTokenEnv names a variable, the token is read from the
// environment.
func Run(ctx context.Context, options Options, s *server.MCPServer) (err error) {
	if err := options.Validate(); err != nil {
		return err
	}
	if options.Token == "" {
		if options.Token, err = options.Settings.Token(os.Getenv); err != nil {
			return err
		}
	}
	options = options.withDefaults()
	if options.Transport == TransportStdio {
		options.Log.Info("serving on stdio", options.Details...)
		return ServeStdio(ctx, options, s)
	}
	if options.Guard == nil {
		if options.Guard, err = auth.New(ctx, options.Settings.Settings); err != nil {
			return err
		}
	}
	listener, err := listen(ctx, options.Host, options.Port)
	if err != nil {
		return err
	}
	everybody := options.Token == "" && options.Guard == nil && !onLoopback(listener)
	if everybody && !options.Open && options.Kind != auth.None {
		return errors.Join(fmt.Errorf("listen on %s: whoever reaches this address could use every tool: "+
			"use --auth keys, --auth oidc or --auth-token-env, or --auth none if the network keeps others away", listener.Addr()), listener.Close())
	}
	h := NewHTTP(options, s)
	options.Log.Info("listening", append([]any{"url", options.url(listener)}, options.Details...)...)
	if everybody {
		options.Log.Warn("no bearer token is asked for: whoever reaches this address can use every tool (see --auth-token-env)")
	}
	return h.Serve(ctx, listener)
}

func (o Options) url(listener net.Listener) string {
	path := "/mcp"
	if o.Transport == TransportSSE {
		path = "/sse"
	}
	return "http://" + listener.Addr().String() + path
}

func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: the port is taken; stop the program that has it or choose another with --port", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}

func onLoopback(listener net.Listener) bool {
	at, err := netip.ParseAddrPort(listener.Addr().String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}
