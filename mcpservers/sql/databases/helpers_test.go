package databases_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/databases"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/ncruces/go-sqlite3"
)

// shop are tables with something of everything.
const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, iban TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, price REAL, note BLOB);
CREATE INDEX by_customer ON orders (customer);
CREATE VIEW names AS SELECT name FROM customers;
CREATE TABLE log (at TEXT);
CREATE TRIGGER logged AFTER INSERT ON orders BEGIN INSERT INTO log VALUES ('x'); END;
INSERT INTO customers VALUES (1, 'Ann', 'DE1'), (2, 'Bob', 'DE2'), (3, 'Cid', NULL);
INSERT INTO orders VALUES (1, 1, 9.5, NULL), (2, 1, 20, x'00ff'), (3, 2, 1, 'text');`

// sqliteFile makes a file with tables and returns its path.
func sqliteFile(t testing.TB, tables string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sqlite3.Open("file:" + path)
	must(t, err)
	must(t, db.Exec(tables))
	must(t, db.Close())
	return path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shopConfig is a configuration with a SQLite file that can be changed.
func shopConfig(t testing.TB) databases.Config {
	config := databases.DefaultConfig()
	config.Databases = []databases.DatabaseConfig{{Name: "shop", Engine: "sqlite", Path: sqliteFile(t, shop), Write: true}}
	return config
}

// serve starts a server in this process and returns a client.
func serve(t testing.TB, config databases.Config) *caller {
	t.Helper()
	d, err := databases.New(t.Context(), config, os.Getenv, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	s := server.NewMCPServer(databases.Name, databases.Version, server.WithToolCapabilities(false))
	d.Register(s)
	c, err := client.NewInProcessClient(s)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.Start(t.Context()))
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = "2025-11-25"
	_, err = c.Initialize(t.Context(), initialize)
	must(t, err)
	return &caller{t, c}
}

type caller struct {
	testing.TB
	*client.Client
}

// result is the text of an answer, and its structured content.
type result struct {
	text    string
	refused bool
	value   map[string]any
}

// call calls a tool; key is the idempotency key, if not empty.
func (c *caller) call(tool, key string, arguments map[string]any) result {
	c.Helper()
	r, err := c.try(c.Context(), tool, key, arguments)
	if err != nil {
		c.Fatalf("%s %v: %v", tool, arguments, err)
	}
	return r
}

func (c *caller) try(ctx context.Context, tool, key string, arguments map[string]any) (result, error) {
	c.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	if key != "" {
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: key}}
	}
	answer, err := c.CallTool(ctx, request)
	if err != nil {
		return result{}, err
	}
	r := result{text: answer.Content[0].(mcp.TextContent).Text, refused: answer.IsError}
	if answer.StructuredContent != nil {
		text, err := json.Marshal(answer.StructuredContent)
		must(c, err)
		must(c, json.Unmarshal(text, &r.value))
	}
	return r, nil
}

// sql calls a tool with a statement.
func (c *caller) sql(tool, text string, params ...any) result {
	c.Helper()
	arguments := map[string]any{"sql": text}
	if len(params) > 0 {
		arguments["params"] = params
	}
	return c.call(tool, "", arguments)
}

// wants calls a tool with a statement and compares the text.
func (c *caller) wants(want, tool, text string, params ...any) {
	c.Helper()
	if got := c.sql(tool, text, params...); got.refused || got.text != want {
		c.Errorf("%s %s: %v %q, want %q", tool, text, got.refused, got.text, want)
	}
}
