package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Target is a tool server: a URL, or a command that serves stdio.
type Target struct {
	URL     string
	Token   string // bearer token for the URL; "": none
	Command []string
	Stderr  io.Writer // of the command; nil: dropped
	Name    string    // of the client
	Version string
}

// Parse reads a URL, or the words of a command.
func Parse(words []string) (Target, error) {
	switch {
	case len(words) == 0:
		return Target{}, errors.New("a server is missing: a URL, or -- and a command")
	case strings.HasPrefix(words[0], "http://") || strings.HasPrefix(words[0], "https://"):
		if len(words) > 1 {
			return Target{}, fmt.Errorf("unexpected argument %q behind the URL", words[1])
		}
		return Target{URL: words[0]}, nil
	}
	return Target{Command: words}, nil
}

// Connect starts the client and the session. A URL that ends in /sse is that of the older transport. The
// client lives until it is closed, and not only as long as ctx.
func Connect(ctx context.Context, t Target) (*client.Client, error) {
	c, err := t.client()
	if err != nil {
		return nil, err
	}
	if err := t.begin(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (t Target) client() (*client.Client, error) {
	headers := map[string]string{}
	if t.Token != "" {
		headers["Authorization"] = "Bearer " + t.Token
	}
	switch {
	case len(t.Command) > 0:
		c, err := client.NewStdioMCPClient(t.Command[0], nil, t.Command[1:]...)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", t.Command[0], err)
		}
		if stderr, ok := client.GetStderr(c); ok {
			to := t.Stderr
			if to == nil {
				to = io.Discard
			}
			go io.Copy(to, stderr)
		}
		return c, nil
	case strings.HasSuffix(t.URL, "/sse"):
		return client.NewSSEMCPClient(t.URL, transport.WithHeaders(headers))
	}
	//lint:ignore SA1019 changes of lists come this way in the protocols with sessions
	return client.NewStreamableHttpClient(t.URL, transport.WithHTTPHeaders(headers), transport.WithContinuousListening(),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler))) // it says that it listens, or that the server has nothing to listen to
}

func (t Target) begin(ctx context.Context, c *client.Client) error {
	if err := c.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("connect to %s: %w", t, err)
	}
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	if mcp.IsModernProtocol(request.Params.ProtocolVersion) {
		request.Params.ProtocolVersion = "2025-11-25"
	}
	request.Params.ClientInfo = mcp.Implementation{Name: t.Name, Version: t.Version}
	if _, err := c.Initialize(ctx, request); err != nil {
		return fmt.Errorf("connect to %s: %w", t, err)
	}
	return nil
}

// String is for messages.
func (t Target) String() string {
	if t.URL != "" {
		return t.URL
	}
	return strings.Join(t.Command, " ")
}
