package openapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/openapi/api"
	"agent-stop-and-go/mcpservers/openapi/credential"
)

// Name and Version identify the server in the MCP handshake.
const (
	Name    = "mcp-openapi"
	Version = "1.0.0"
)

// Server calls an API.
type Server struct {
	config      Config
	title       string
	operations  []*api.Operation
	credentials *credential.Keeper
	client      *http.Client
	results     hosting.Results
	log         *slog.Logger
}

// New reads the document.
func New(ctx context.Context, config Config, getenv func(string) string, log *slog.Logger) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: time.Duration(config.Timeout), CheckRedirect: withinHost}
	document, err := api.Load(ctx, config.API, client)
	if err != nil {
		return nil, err
	}
	operations, err := document.Operations(config.Selection, config.BaseURL)
	if err != nil {
		return nil, err
	}
	if len(operations) == 0 {
		return nil, errors.New("no operation is left: look at include, exclude, read_only and x-mcp")
	}
	credentials, err := credential.New(document.Schemes(), config.Credentials, getenv, client)
	if err != nil {
		return nil, err
	}
	return &Server{config: config, title: document.Title(), operations: operations, credentials: credentials, client: client, log: log}, nil
}

// withinHost follows redirects of reading within a host, and none of a change.
func withinHost(request *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || request.URL.Scheme != first.URL.Scheme || request.URL.Host != first.URL.Host ||
		first.Method != http.MethodGet && first.Method != http.MethodHead {
		return http.ErrUseLastResponse
	}
	return nil
}

// Instructions are sent to clients in the handshake.
func (s *Server) Instructions() string {
	text := fmt.Sprintf("Operations of %s.", s.title)
	if s.discovers() {
		text += " Find one with search_operations, look at its arguments with describe_operation, and call it with call_read_operation or call_write_operation."
	}
	return text
}

// discovers reports whether there are more operations than tools.
func (s *Server) discovers() bool { return len(s.operations) > s.config.MaxTools }

// Details are for the log line at start.
func (s *Server) Details() []any {
	hosts := []string{}
	for _, o := range s.operations {
		if base := (&url.URL{Scheme: o.Base().Scheme, Host: o.Base().Host}).String(); !slices.Contains(hosts, base) {
			hosts = append(hosts, base)
		}
	}
	return []any{"api", s.title, "operations", len(s.operations), "servers", hosts, "credentials", s.credentials.Schemes()}
}
