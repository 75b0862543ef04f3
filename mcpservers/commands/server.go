package commands

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/mcpservers/commands/definition"
	"agent-stop-and-go/mcpservers/commands/profile"
	"agent-stop-and-go/mcpservers/commands/sandbox"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/server"
)

// Name and Version identify the server in the handshake; Instructions are for clients.
const (
	Name         = "mcp-commands"
	Version      = "1.0.0"
	Instructions = "Each tool runs one command of the machine of this server. Its description says what the command may reach."
)

// Limits of a call whose definition has none.
const (
	DefaultTime   = time.Minute
	DefaultMemory = 1 << 30
	DefaultOutput = 62 << 10 // as in go-go-mcp
)

// Options are the settings of a server.
type Options struct {
	// Load reads the definitions, again at each reload.
	Load func() (profile.Set, error)
	// More are further tools.
	More []server.ServerTool
	// ConvertDashes replaces the dashes in names of tools by underscores.
	ConvertDashes bool
	Parallel      int // commands at the same time; 0: 8
	Getenv        func(string) string
	Log           *slog.Logger
}

// Server has the definitions and runs their commands. Its tools can be called concurrently.
type Server struct {
	options Options
	box     *sandbox.Box
	results hosting.Results // by idempotency key

	mu      sync.Mutex // held while definitions are replaced
	digest  string     // of what is registered
	offered *server.MCPServer
}

// New finds out what this machine can limit. It does not read definitions.
func New(options Options) (*Server, error) {
	if options.Parallel == 0 {
		options.Parallel = 8
	}
	if options.Getenv == nil {
		options.Getenv = os.Getenv
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	box, err := sandbox.New(options.Parallel)
	if err != nil {
		return nil, err
	}
	return &Server{options: options, box: box}, nil
}

// NewMCPServer returns a server with the capabilities that Register and Watch need. It does not declare
// idempotency: keys are kept in memory, so a caller that repeats a call after a crash would run the
// command twice.
func NewMCPServer(more ...server.ServerOption) *server.MCPServer {
	return server.NewMCPServer(Name, Version, append([]server.ServerOption{
		server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithResourceCapabilities(false, true),
		server.WithInstructions(Instructions), server.WithStrictInputSchemaDefault(),
		server.WithRecovery(), server.WithResourceRecovery(),
	}, more...)...)
}

// Tool is a tool that can be called.
type Tool struct {
	*definition.Tool
	Program string // absolute
}

// Register reads the definitions and adds them to m. One error names all faults.
func (s *Server) Register(m *server.MCPServer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered = m
	return s.load()
}

// Reload reads the definitions again. If there is a fault, everything stays as it is.
func (s *Server) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load()
}

// load replaces what m offers, if it is different.
func (s *Server) load() error {
	set, err := s.options.Load()
	if err != nil {
		return err
	}
	o, err := s.offer(set)
	if err != nil {
		return err
	}
	if s.digest == o.digest {
		return nil
	}
	for _, warning := range set.Warnings {
		s.options.Log.Warn(warning)
	}
	s.offered.SetTools(o.tools...)
	s.offered.SetPrompts(o.prompts...)
	s.offered.SetResources(o.resources...)
	s.digest = o.digest
	s.options.Log.Info("definitions", "tools", len(o.tools), "prompts", len(o.prompts), "resources", len(o.resources))
	return nil
}

// offer is everything that clients see, with its handlers.
type offer struct {
	tools     []server.ServerTool
	prompts   []server.ServerPrompt
	resources []server.ServerResource
	digest    string
}

func (s *Server) offer(set profile.Set) (offer, error) {
	var o offer
	var errs []error
	names := map[string]string{}
	for _, tool := range s.options.More {
		names[tool.Tool.Name] = "a built-in server"
		o.tools = append(o.tools, tool)
	}
	for _, file := range set.Files {
		switch {
		case file.Prompt != nil:
			o.prompts = append(o.prompts, prompt(file.Prompt))
		case file.Resource != nil:
			o.resources = append(o.resources, resource(file.Resource))
		default:
			tool, err := s.prepare(file)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			shown := s.describe(tool)
			if other, ok := names[shown.Name]; ok {
				errs = append(errs, fmt.Errorf("%s: the name %s is that of %s", file.Path, shown.Name, other))
			}
			names[shown.Name] = file.Path
			o.tools = append(o.tools, server.ServerTool{Tool: shown, Handler: s.handler(tool)})
		}
	}
	o.digest = digestOf(set)
	return o, errors.Join(errs...)
}

// prepare finds the program of a tool.
func (s *Server) prepare(file definition.File) (Tool, error) {
	name := file.Tool.Shell
	if len(file.Tool.Command) > 0 {
		name = file.Tool.Command[0].Text
	}
	program, err := Find(name)
	if err != nil {
		return Tool{}, fmt.Errorf("%s: %w", file.Path, err)
	}
	return Tool{file.Tool, program}, nil
}

// Find returns the absolute path of a program: that is searched for in [sandbox.Path] only.
func Find(name string) (string, error) {
	if filepath.IsAbs(name) {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("program %s: %w", name, errors.Unwrap(err))
		}
		return name, nil
	}
	for _, folder := range strings.Split(sandbox.Path, ":") {
		path := filepath.Join(folder, name)
		if _, err := exec.LookPath(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("program %s is not in %s: install it, or write its absolute path", name, sandbox.Path)
}
