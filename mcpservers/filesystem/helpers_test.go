package filesystem_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type args = map[string]any

// fixture is a server with the roots work and other (all tools allowed) and docs (only
// read_file and list_folder), and a folder outside the roots.
type fixture struct {
	*client.Client
	work, other, docs, outside string
}

func newFixture(t testing.TB, change ...func(*filesystem.Config)) fixture {
	t.Helper()
	base := t.TempDir()
	f := fixture{work: filepath.Join(base, "work"), other: filepath.Join(base, "other"), docs: filepath.Join(base, "docs"), outside: filepath.Join(base, "outside")}
	for _, dir := range []string{f.work, f.other, f.docs, f.outside} {
		must(t, os.Mkdir(dir, 0o755))
	}
	config := filesystem.DefaultConfig()
	config.Roots = []filesystem.RootConfig{
		{Name: "work", Path: f.work, AllowedTools: []string{"*"}},
		{Name: "other", Path: f.other, AllowedTools: []string{"*"}},
		{Name: "docs", Path: f.docs, AllowedTools: []string{"read_file", "list_folder"}},
	}
	for _, do := range change {
		do(&config)
	}
	f.Client = connect(t, config)
	return f
}

// connect returns a client that is connected to a new server.
func connect(t testing.TB, config filesystem.Config) *client.Client {
	t.Helper()
	files, err := filesystem.New(config, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { must(t, files.Close()) })
	m := server.NewMCPServer(filesystem.Name, filesystem.Version, server.WithStrictInputSchemaDefault())
	files.Register(m)
	c, err := client.NewInProcessClient(m)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.Start(context.Background()))
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	_, err = c.Initialize(context.Background(), request)
	must(t, err)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call returns the text of a result and whether it is an error.
func (f fixture) call(ctx context.Context, t testing.TB, tool string, arguments args) (string, bool) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	result, err := f.CallTool(ctx, request)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text, ok := result.Content[0].(mcp.TextContent)
	if !ok || len(result.Content) != 1 {
		t.Fatalf("%s: want one text, got %+v", tool, result.Content)
	}
	return text.Text, result.IsError
}

// callFor calls a tool with a timeout.
func (f fixture) callFor(t testing.TB, limit time.Duration, tool string, arguments args) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	return f.CallTool(ctx, request)
}

// do calls a tool that must succeed and returns the text of its result.
func (f fixture) do(t testing.TB, tool string, arguments args) string {
	t.Helper()
	text, isError := f.call(context.Background(), t, tool, arguments)
	if isError {
		t.Errorf("%s %v refused: %s", tool, arguments, text)
	}
	return text
}

// wantError calls a tool that must return this error.
func (f fixture) wantError(t testing.TB, tool string, arguments args, want string) {
	t.Helper()
	text, isError := f.call(context.Background(), t, tool, arguments)
	if !isError || text != want {
		t.Errorf("%s %v: got %q (error: %v), want %q", tool, arguments, text, isError, want)
	}
}

// result decodes the result of a tool.
func result[R any](t testing.TB, f fixture, tool string, arguments args) (r R) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.do(t, tool, arguments)), &r); err != nil {
		t.Errorf("%s: %v", tool, err)
	}
	return r
}

// put writes files by path and content. A path that ends in / is a folder, and content that
// begins with -> is the target of a link.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case isLink:
			must(t, os.Symlink(target, path))
		default:
			must(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
}

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// tree returns all paths below a folder with their content, "/" for folders and "->target" for
// links.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || rel == ".":
		case entry.IsDir():
			found[rel] = "/"
		case entry.Type() == os.ModeSymlink:
			target, _ := os.Readlink(path)
			found[rel] = "->" + target
		case entry.Type().IsRegular():
			found[rel] = content(t, path)
		default:
			found[rel] = entry.Type().String()
		}
		return err
	}))
	return found
}
