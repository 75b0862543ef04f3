package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway"
)

// Listen takes the configured address. Do it first: a taken port is the
// commonest trouble, and known at once.
func Listen(c *config.Config) (net.Listener, error) {
	address := net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w: stop the other process or set port in the YAML", address, err)
	}
	return l, nil
}

// URL is an address that a browser on this machine can open.
func URL(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// grace is how long open requests may take to finish.
const grace = 10 * time.Second

// Serve serves a gateway. failed delivers the error that ended it by itself, and
// is closed at the end; stop lets requests finish, and tells those that wait for an answer where to
// read it later.
func Serve(l net.Listener, g *gateway.Gateway) (failed <-chan error, stop func(context.Context) error) {
	server := gateway.NewServer(g)
	errs := make(chan error, 1)
	go func() {
		defer close(errs)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			errs <- fmt.Errorf("serve HTTP: %w", err)
		}
	}()
	return errs, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		g.Close()
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(fmt.Errorf("finish HTTP requests: %w", err), server.Close())
		}
		return nil
	}
}
