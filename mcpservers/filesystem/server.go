package filesystem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Name and Version identify the server in the MCP handshake; Instructions are for clients.
const (
	Name         = "mcp-filesystem"
	Version      = "1.0.0"
	Instructions = "Files below named roots. list_roots says which there are and which tools work in each; every other tool takes a root and a path relative to it."
)

// Server holds the open roots. Its tools can be called concurrently.
type Server struct {
	config  Config
	roots   map[string]*root
	locks   fileLocks
	results hosting.Results // of writing calls, by idempotency key
	log     *slog.Logger
}

// New checks the configuration and opens the roots. A root stays the same folder even if it is
// renamed. The caller closes the server after the last call has ended.
func New(config Config, log *slog.Logger) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Server{config: config, roots: map[string]*root{}, log: log}
	for _, configured := range config.Roots {
		root, err := openRoot(configured)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.roots[root.name] = root
	}
	return s, nil
}

// Close closes the roots. Later calls fail.
func (s *Server) Close() error {
	var errs []error
	for _, root := range s.roots {
		errs = append(errs, root.dir.Close())
	}
	return errors.Join(errs...)
}

// Register adds the 15 tools and, if a root allows read_file, the resource template. Input
// validation of m must be off, because its texts would replace the ones that clients match on
// ("root is required").
func (s *Server) Register(m *server.MCPServer) {
	for _, tool := range s.tools() {
		m.AddTool(tool.definition, s.handler(tool))
	}
	s.registerResources(m)
}

// tool is the definition of a tool and its function. run returns the result; an error becomes a
// result with isError.
type tool struct {
	definition mcp.Tool
	run        func(context.Context, call) (any, error)
}

// call is one call of a tool.
type call struct {
	*Server
	tool string
	args hosting.Arguments
}

func (s *Server) handler(t tool) server.ToolHandlerFunc {
	name, allowed := t.definition.Name, hosting.Parameters(t.definition)
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(ctx, s.config.timeout())
		defer cancel()
		result, err := s.runOnce(ctx, t, request, allowed)
		s.log.With(hosting.CallerAttrs(request)...).Info("tool", "tool", name, "ok", err == nil, "latency", time.Since(start))
		return answer(result, s.explain(err))
	}
}

// runOnce runs a call, unless a writing call with the same key has already run.
func (s *Server) runOnce(ctx context.Context, t tool, request mcp.CallToolRequest, allowed []string) (any, error) {
	args, err := hosting.ParseArguments(request, allowed...)
	if err != nil {
		return nil, err
	}
	run := func() (any, error) { return t.run(ctx, call{s, t.definition.Name, args}) }
	if *t.definition.Annotations.ReadOnlyHint {
		return run()
	}
	callKey, err := hosting.ParseCallKey(request, args)
	if err != nil {
		return nil, err
	}
	return s.results.Do(ctx, t.definition.Name, callKey, run)
}

// count returns an integer argument that must not be negative.
func (c call) count(name string, otherwise int64) (int64, error) {
	n, err := c.args.Integer(name, otherwise)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s must not be negative", name)
	}
	return n, err
}

// clampedCount returns a count with an upper limit. An absent argument and 0 give otherwise, larger
// values give the ceiling.
func (c call) clampedCount(name string, otherwise, ceiling int) (int, error) {
	n, err := c.count(name, 0)
	if n == 0 {
		n = int64(otherwise)
	}
	return int(min(n, int64(ceiling))), err
}

// explain adds the configured limit to the timeout error of a call.
func (s *Server) explain(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the call took longer than %d seconds and was ended", s.config.MaxTimeoutSeconds)
	case errors.Is(err, context.Canceled):
		return errors.New("the call was cancelled")
	}
	return err
}

// maxStructured is the size above which a result is returned as text only.
const maxStructured = 1 << 20

// answer encodes a result. Structured content must be an object, so a list is wrapped in one;
// the text is the list itself.
func answer(result any, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	structured := result
	if roots, ok := result.(roots); ok {
		result = roots.Roots
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	if text.Len() > maxStructured {
		return mcp.NewToolResultText(strings.TrimSuffix(text.String(), "\n")), nil
	}
	return mcp.NewToolResultStructured(structured, strings.TrimSuffix(text.String(), "\n")), nil
}

// location is a path that a call is allowed to use.
type location struct {
	root  *root
	given string // path as the caller wrote it
	rel   string // cleaned, links not resolved
}

// root returns the root named by an argument, if the tool is allowed in it.
func (c call) root(name string) (*root, error) {
	given, err := c.args.Required(name)
	if err != nil {
		return nil, err
	}
	root, ok := c.roots[given]
	if !ok {
		return nil, fmt.Errorf("unknown root: %s", given)
	}
	if !root.allows(c.tool) {
		return nil, fmt.Errorf("tool %s not allowed on root %s", c.tool, given)
	}
	return root, nil
}

// location checks the arguments root and path, in an order that callers rely on. otherwise
// replaces an absent path; if it is empty, an absent path is refused.
func (c call) location(rootName, pathName, otherwise string) (location, error) {
	root, err := c.root(rootName)
	if err != nil {
		return location{}, err
	}
	given, err := c.args.Text(pathName, otherwise)
	if err == nil && given == "" {
		err = fmt.Errorf("%s is required", pathName)
	}
	if err != nil {
		return location{}, err
	}
	rel, err := clean(given)
	return location{root, given, rel}, err
}

// resolvedLocation is location with all links of the path followed.
func (c call) resolvedLocation(rootName, pathName, otherwise string) (location, error) {
	at, err := c.location(rootName, pathName, otherwise)
	if err != nil {
		return at, err
	}
	at.rel, err = at.root.resolve(at.rel)
	return at, describe(err, "path not found", at.given)
}

// writableLocation is resolvedLocation for a path to write to.
func (c call) writableLocation(rootName, pathName string) (location, error) {
	at, err := c.resolvedLocation(rootName, pathName, "")
	if err == nil {
		err = at.checkReserved()
	}
	return at, err
}

// checkReserved refuses the names of temporary files. Such a file would be hidden, and could be
// deleted by anybody.
func (l location) checkReserved() error {
	for part := range strings.SplitSeq(l.rel, "/") {
		if isTemp(part) {
			return fmt.Errorf("names like %s*%s are reserved for unfinished copies: %s", tempPrefix, tempSuffix, l.given)
		}
	}
	return nil
}

// parentLocation is location with all links except the last part followed.
func (c call) parentLocation(rootName, pathName string) (location, error) {
	at, err := c.location(rootName, pathName, "")
	if err != nil {
		return at, err
	}
	at.rel, err = at.root.resolveFolder(at.rel)
	return at, describe(err, "path not found", at.given)
}

func (l location) hostPath() string { return l.root.hostPath(l.rel) }
