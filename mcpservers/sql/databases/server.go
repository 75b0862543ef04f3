package databases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/mysql"
	"agent-stop-and-go/mcpservers/sql/postgres"
	"agent-stop-and-go/mcpservers/sql/sqlite"
	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Name and Version identify the server in the MCP handshake.
const (
	Name    = "mcp-sql"
	Version = "1.0.0"
)

// Instructions are sent to clients in the handshake.
const Instructions = "SQL databases. Look at schema first. query reads; execute changes and may need the consent of a person; " +
	"explain shows what a statement would do. One statement per call, values in params."

// Server has the open databases.
type Server struct {
	config    Config
	log       *slog.Logger
	databases []*database
}

// database is one open database.
type database struct {
	DatabaseConfig
	engine engine.Engine
}

// New opens the databases. Servers are not connected to yet; a file has to exist.
func New(ctx context.Context, config Config, getenv func(string) string, log *slog.Logger) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Server{config: config, log: log}
	for _, d := range config.Databases {
		e, err := s.open(ctx, d, getenv)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("database %s: %w", d.Name, err), s.Close())
		}
		s.databases = append(s.databases, &database{d, e})
	}
	return s, nil
}

func (s *Server) open(ctx context.Context, d DatabaseConfig, getenv func(string) string) (engine.Engine, error) {
	timeout := time.Duration(s.config.Timeout)
	if d.Engine == EngineSQLite {
		return sqlite.Open(ctx, sqlite.Config{Path: d.Path, Write: d.Write, Create: d.Create, Keys: d.storesKeys(), Timeout: timeout})
	}
	read, write := getenv(d.ReadEnv), ""
	if read == "" {
		return nil, fmt.Errorf("environment variable %s is empty: put the connection string there", d.ReadEnv)
	}
	if d.WriteEnv != "" {
		if write = getenv(d.WriteEnv); write == "" {
			return nil, fmt.Errorf("environment variable %s is empty: put the connection string there, or leave out write_env", d.WriteEnv)
		}
	}
	if d.Engine == EnginePostgres {
		return postgres.Open(ctx, postgres.Config{
			ReadURL: read, WriteURL: write, Functions: d.Functions, Keys: d.storesKeys(), Timeout: timeout, Connections: s.config.Connections,
		})
	}
	return mysql.Open(ctx, mysql.Config{
		ReadDSN: read, WriteDSN: write, Functions: d.Functions, Keys: d.storesKeys(), Timeout: timeout, Connections: s.config.Connections,
	})
}

// Close closes the databases.
func (s *Server) Close() (err error) {
	for _, d := range s.databases {
		err = errors.Join(err, d.engine.Close())
	}
	return err
}

// RemembersKeys reports whether every database that can be changed stores idempotency keys.
func (s *Server) RemembersKeys() bool {
	return !slices.ContainsFunc(s.databases, func(d *database) bool { return d.writable() && !d.storesKeys() })
}

// tool is the definition of a tool and its function.
type tool struct {
	definition mcp.Tool
	run        func(ctx context.Context, c call) (answer, error)
}

// answer is a result: a value for structured content, and its text.
type answer struct {
	value any
	text  string
}

// Register adds the tools to s.
func (s *Server) Register(to *server.MCPServer) {
	for _, t := range s.tools() {
		to.AddTool(t.definition, s.handler(t))
	}
}

// call is one call of a tool, with a statement if the tool has one.
type call struct {
	engine.Call
	*Server
	db   *database
	args hosting.Arguments
}

func (s *Server) handler(t tool) server.ToolHandlerFunc {
	name, allowed := t.definition.Name, hosting.Parameters(t.definition)
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		result, c, err := s.run(ctx, t, request, allowed)
		attrs := []any{"tool", name, "ok", err == nil, "latency", time.Since(start)}
		if c.db != nil {
			attrs = append(attrs, "database", c.db.Name, "class", string(c.Facts.Class))
		}
		s.log.With(hosting.CallerAttrs(request)...).Info("tool", attrs...)
		if errors.Is(err, engine.ErrUnknown) {
			s.log.Error("outcome unknown", "tool", name, "err", err)
			return nil, err // an error of the protocol, after which a caller knows that it does not know
		}
		if err != nil {
			return mcp.NewToolResultError(s.explain(err).Error()), nil
		}
		return mcp.NewToolResultStructured(result.value, result.text), nil
	}
}

func (s *Server) run(ctx context.Context, t tool, request mcp.CallToolRequest, allowed []string) (answer, call, error) {
	c := call{Server: s}
	var err error
	if c.args, err = hosting.ParseArguments(request, allowed...); err != nil {
		return answer{}, c, err
	}
	if slices.Contains(allowed, "database") {
		if c.db, err = s.database(c.args); err != nil {
			return answer{}, c, err
		}
	}
	if slices.Contains(allowed, "sql") {
		if err := c.parse(ctx); err != nil {
			return answer{}, c, err
		}
	}
	if *t.definition.Annotations.DestructiveHint {
		if c.Key, err = hosting.ParseCallKey(request, c.args); err != nil {
			return answer{}, c, err
		}
	}
	result, err := t.run(ctx, c)
	return result, c, err
}

// database returns that of the argument, which may be absent if there is only one.
func (s *Server) database(args hosting.Arguments) (*database, error) {
	name, err := args.Text("database", "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range s.databases {
		if d.Name == name || name == "" && len(s.databases) == 1 {
			return d, nil
		}
		names = append(names, d.Name)
	}
	if name == "" {
		return nil, fmt.Errorf("database is required: one of %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("unknown database %q: one of %s", name, strings.Join(names, ", "))
}

// parse reads the statement and its parameters, and classifies it.
func (c *call) parse(ctx context.Context) (err error) {
	if c.Text, err = c.args.Required("sql"); err != nil {
		return err
	}
	if len(c.Text) > c.config.MaxStatement {
		return fmt.Errorf("the statement has %d bytes, at most %d are allowed", len(c.Text), c.config.MaxStatement)
	}
	if c.Params, err = parameters(c.args["params"]); err != nil {
		return err
	}
	c.Limits = engine.Limits{Rows: c.config.MaxRows, Bytes: c.config.MaxBytes, Timeout: time.Duration(c.config.Timeout)}
	c.Facts, err = c.db.engine.Classify(ctx, c.Text)
	return err
}

// parameters decodes a list of null, booleans, numbers and strings.
func parameters(raw json.RawMessage) ([]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var out []any
	if err := decoder.Decode(&out); err != nil {
		return nil, errors.New("params must be a list of null, booleans, numbers and strings")
	}
	for i, v := range out {
		switch v.(type) {
		case nil, bool, string, json.Number:
		default:
			return nil, fmt.Errorf("params[%d] must be null, a boolean, a number or a string", i)
		}
	}
	return out, nil
}

// explain adds the configured limit to the timeout error of a call.
func (s *Server) explain(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the statement took longer than %s and was ended; nothing was changed", time.Duration(s.config.Timeout))
	case errors.Is(err, context.Canceled):
		return errors.New("the call was cancelled; nothing was changed")
	}
	return err
}

// refuse is the error of a statement whose class a tool does not take.
func refuse(facts statement.Facts, why string) error {
	if facts.Reason != "" {
		return fmt.Errorf("refused: the class of the statement is %s (%s); %s", facts.Class, facts.Reason, why)
	}
	return fmt.Errorf("refused: the class of the statement is %s; %s", facts.Class, why)
}
